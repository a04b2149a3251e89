// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// FrameRows along an axis: joined, turned round, at a constant index.
#include <algorithm>
#include <cstring>
#include <string>

#include "graph/history/move.h"

namespace leapp::graph {
namespace {

// hstack and its kin say the axis by their name.
std::int64_t joined_axis(const Move& move) {
  const std::string& op = move.node.op();
  if (op == "aten::hstack") return move.shape().size() == 1 ? 0 : 1;
  if (op == "aten::vstack" || op == "aten::row_stack") return 0;
  if (op == "aten::column_stack") return 1;
  return op == "aten::dstack" ? 2 : move.integer("dim");
}

}  // namespace

void take_rows(const Elements& from, std::pair<FrameRows, FrameRows> shapes,
               const std::function<std::int64_t(std::int64_t)>& source, Elements& result) {
  const auto& [old, made] = shapes;
  for (std::int64_t o = 0; o < made.outer; ++o) {
    for (std::int64_t p = 0; p < made.extent; ++p) {
      const std::int64_t row = source(p);
      for (std::int64_t i = 0; i < made.inner; ++i) {
        result.push_back(row < 0 ? Element{} : from[at((o * old.extent + row) * old.inner + i)]);
      }
    }
  }
}

bool join(Move& move) {
  const Attribute* found = move.node.find("tensors");
  const auto* tensors = found == nullptr ? nullptr : std::get_if<std::vector<Value*>>(found);
  const auto axis = axis_of(joined_axis(move), move.shape().size());
  if (tensors == nullptr || !axis) return false;
  const FrameRows made(move.shape(), *axis);
  const std::int64_t width = made.extent * made.inner;
  move.result.resize(at(made.outer * width));
  std::int64_t start = 0;
  for (const Value* part : *tensors) {
    if (part == nullptr || !move.same_dtype(part) || made.outer == 0) return false;
    const Elements& from = move.elements(part);
    const std::int64_t length = std::ssize(from) / made.outer;
    if (start + length > width) return false;
    for (std::int64_t o = 0; o < made.outer; ++o) {
      std::copy_n(from.begin() + o * length, length, move.result.begin() + o * width + start);
    }
    start += length;
  }
  return start == width;
}

bool roll(Move& move) {
  const Value* self = move.tensor("self");
  Integers shifts = move.integers("shifts");
  Integers dims = move.integers("dims");
  if (self == nullptr) return false;
  Shape shape = self->shape();
  if (dims.empty() && shifts.size() == 1) {
    dims = {0};
    shape = {element_count(shape)};
  }
  if (dims.size() != shifts.size()) return false;
  move.result = move.elements(self);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto axis = axis_of(dims[i], shape.size());
    if (!axis || shape[*axis] == 0) return false;
    const FrameRows rows(shape, *axis);
    const Elements before = std::exchange(move.result, {});
    const auto source = [&](std::int64_t p) { return ((p - shifts[i]) % rows.extent + rows.extent) % rows.extent; };
    take_rows(before, {rows, rows}, source, move.result);
  }
  return true;
}

bool flip(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr) return false;
  move.result = move.elements(self);
  for (const std::int64_t dim : move.integers("dims")) {
    const auto axis = axis_of(dim, self->shape().size());
    if (!axis) return false;
    const FrameRows rows(self->shape(), *axis);
    const Elements before = std::exchange(move.result, {});
    take_rows(
        before, {rows, rows}, [&](std::int64_t p) { return rows.extent - 1 - p; }, move.result);
  }
  return true;
}

bool pad(Move& move) {
  const Value* self = move.tensor("self");
  const Integers sizes = move.integers("pad");
  const Attribute* mode = move.node.find("mode");
  const auto* kind = mode == nullptr ? nullptr : std::get_if<std::string>(mode);
  if (kind != nullptr && *kind != "constant") return false;
  if (self == nullptr || sizes.size() % 2 != 0 || sizes.size() / 2 > self->shape().size()) return false;
  Shape shape = self->shape();
  move.result = move.elements(self);
  for (std::size_t i = 0; i < sizes.size() / 2; ++i) {
    const std::size_t axis = shape.size() - 1 - i;
    const FrameRows old(shape, axis);
    shape[axis] += sizes[2 * i] + sizes[2 * i + 1];
    if (shape[axis] < 0) return false;
    const Elements before = std::exchange(move.result, {});
    const auto source = [&](std::int64_t p) {
      const std::int64_t row = p - sizes[2 * i];
      return row < old.extent ? row : -1;
    };
    take_rows(before, {old, FrameRows(shape, axis)}, source, move.result);
  }
  return shape == move.shape();
}

namespace {

// The numbers of a constant of integers or truths; nothing for any other value.
std::optional<Integers> constant_integers(const Value* value) {
  if (value == nullptr || value->kind() != ValueKind::kConstant) return std::nullopt;
  const auto bytes = value->constant().bytes();
  const std::size_t width = dtype_size(value->dtype());
  const bool wide = value->dtype() == DType::kInt64 || value->dtype() == DType::kInt32;
  if (!wide && value->dtype() != DType::kBool && value->dtype() != DType::kUInt8) return std::nullopt;
  Integers numbers;
  for (std::size_t i = 0; i + width <= bytes.size(); i += width) {
    std::int64_t number = 0;
    std::memcpy(&number, bytes.data() + i, width);
    numbers.push_back(value->dtype() == DType::kInt32 ? static_cast<std::int32_t>(number) : number);
  }
  return numbers;
}

// For rows chosen by a constant one-dimensional index.
std::optional<Integers> row_index(const Value* index, std::int64_t extent) {
  auto rows = constant_integers(index);
  if (!rows || index->dtype() == DType::kBool || index->shape().size() > 1) return std::nullopt;
  for (std::int64_t& row : *rows) {
    if (row < 0) row += extent;
    if (row < 0 || row >= extent) return std::nullopt;
  }
  return rows;
}

/// The one axis that an `indices` list has an index for, and the rows it names.
struct IndexedRows {
  std::size_t axis = 0;
  Integers rows;
  bool single = false;  ///< the index has no dimensions and takes its axis away
};

std::optional<IndexedRows> only_index(const Move& move, const Shape& shape) {
  const Attribute* found = move.node.find("indices");
  const auto* indices = found == nullptr ? nullptr : std::get_if<std::vector<Value*>>(found);
  if (indices == nullptr || indices->size() > shape.size()) return std::nullopt;
  std::optional<IndexedRows> result;
  for (std::size_t i = 0; i < indices->size(); ++i) {
    if ((*indices)[i] == nullptr) continue;
    auto rows = row_index((*indices)[i], shape[i]);
    if (!rows || result) return std::nullopt;
    result = IndexedRows{i, std::move(*rows), (*indices)[i]->shape().empty()};
  }
  return result;
}

/// `along`: those of `index`, along `dim`; else the only index there is.
std::optional<IndexedRows> indexed_rows(const Move& move, const Shape& shape, bool along) {
  if (!along) return only_index(move, shape);
  const auto axis = axis_of(move.integer("dim"), shape.size());
  auto rows = axis ? row_index(move.tensor("index"), shape[*axis]) : std::nullopt;
  return rows ? std::optional(IndexedRows{*axis, std::move(*rows)}) : std::nullopt;
}

}  // namespace

bool take_indexed(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr) return false;
  const auto index = indexed_rows(move, self->shape(), move.node.op() == "aten::index_select");
  if (!index) return false;
  const FrameRows old(self->shape(), index->axis);
  FrameRows made = old;
  made.extent = std::ssize(index->rows);
  take_rows(
      move.elements(self), {old, made}, [&](std::int64_t p) { return index->rows[at(p)]; }, move.result);
  return std::ssize(move.result) == element_count(move.shape());
}

bool put_indexed(Move& move) {
  const bool whole_copy = move.node.op() == "aten::index_copy";
  const Value* self = move.tensor("self");
  const Value* source = move.tensor(whole_copy ? "source" : "values");
  const Attribute* accumulate = move.node.find("accumulate");
  const bool adds = accumulate != nullptr && std::get_if<bool>(accumulate) != nullptr && std::get<bool>(*accumulate);
  if (self == nullptr || source == nullptr || adds || !move.same_dtype(source)) return false;
  const auto index = indexed_rows(move, self->shape(), whole_copy);
  if (!index) return false;
  Shape written = self->shape();
  written[index->axis] = std::ssize(index->rows);
  if (index->single) written.erase(written.begin() + static_cast<std::ptrdiff_t>(index->axis));
  const auto values = broadcast(move, source, written);
  if (!values) return false;
  const FrameRows rows(self->shape(), index->axis);
  move.result = move.elements(self);
  std::size_t next = 0;
  for (std::int64_t o = 0; o < rows.outer; ++o) {
    for (const std::int64_t row : index->rows) {
      for (std::int64_t i = 0; i < rows.inner; ++i) {
        move.result[at((o * rows.extent + row) * rows.inner + i)] = (*values)[next++];
      }
    }
  }
  return true;
}

bool choose(Move& move) {
  const Value* condition = move.tensor("condition");
  const Value* yes = move.tensor("self");
  const Value* no = move.tensor("other");
  const auto truths = constant_integers(condition);
  if (!truths || yes == nullptr || no == nullptr || !move.same_dtype(yes) || !move.same_dtype(no)) return false;
  const auto first = broadcast(move, yes, move.shape());
  const auto second = broadcast(move, no, move.shape());
  const auto view = apply(row_major(condition->shape()), {.kind = ViewStep::Kind::kExpand, .list = move.shape()});
  const auto places = view ? places_of(*view, std::ssize(*truths)) : std::nullopt;
  if (!first || !second || !places) return false;
  for (std::size_t i = 0; i < places->size(); ++i) {
    move.result.push_back((*truths)[at((*places)[i])] != 0 ? (*first)[i] : (*second)[i]);
  }
  return true;
}
}  // namespace leapp::graph
