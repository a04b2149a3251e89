// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that only move elements, one small function each: out of what stands where, into what stands where.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "graph/history/origins.h"
#include "graph/passes/strided.h"

namespace leapp::graph {
namespace {

using Integers = std::vector<std::int64_t>;

/// A node's arguments and the elements of its operands.
class Move {
 public:
  Move(const Node& node, const OriginsOf& of, Elements& result) : node(node), result(result), of_(of) {}

  [[nodiscard]] const Value* tensor(std::string_view name) const {
    const Attribute* found = node.find(name);
    const auto* value = found == nullptr ? nullptr : std::get_if<Value*>(found);
    return value == nullptr ? nullptr : *value;
  }
  [[nodiscard]] const Elements& elements(const Value* value) const { return of_.at(value); }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const {
    const Attribute* found = node.find(name);
    const auto* number = found == nullptr ? nullptr : std::get_if<std::int64_t>(found);
    return number == nullptr ? otherwise : *number;
  }
  [[nodiscard]] Integers integers(std::string_view name) const {
    const Attribute* found = node.find(name);
    if (found == nullptr) return {};
    if (const auto* list = std::get_if<Integers>(found)) return *list;
    const auto* number = std::get_if<std::int64_t>(found);
    return number == nullptr ? Integers() : Integers{*number};
  }
  [[nodiscard]] const Shape& shape() const { return node.result()->shape(); }
  [[nodiscard]] bool same_dtype(const Value* value) const { return value->dtype() == node.result()->dtype(); }

  const Node& node;
  Elements& result;

 private:
  const OriginsOf& of_;
};

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

std::optional<std::size_t> axis_of(std::int64_t dim, std::size_t rank) {
  if (dim < 0) dim += static_cast<std::int64_t>(rank);
  return dim < 0 || at(dim) >= rank ? std::nullopt : std::optional(at(dim));
}

// The places of a view's elements, in its order. Nothing when one of them is not in a storage of `size` elements.
std::optional<Integers> places_of(const Strided& view, std::int64_t size) {
  Integers places;
  Integers index(view.size.size(), 0);
  for (std::int64_t left = element_count(view.size); left > 0; --left) {
    const std::int64_t place = std::inner_product(index.begin(), index.end(), view.stride.begin(), view.offset);
    if (place < 0 || place >= size) return std::nullopt;
    places.push_back(place);
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < view.size[i]) break;
      index[i] = 0;
    }
  }
  return places;
}

// ---- views and their scatters ----

ViewStep slice_step(const Move& move, const Shape& shape, std::size_t axis) {
  const auto clamped = [&](std::int64_t index) {
    return std::clamp(index < 0 ? index + shape[axis] : index, std::int64_t{0}, shape[axis]);
  };
  const std::int64_t start = clamped(move.integer("start", 0));
  const std::int64_t end = std::max(start, clamped(move.integer("end", shape[axis])));
  return {.kind = ViewStep::Kind::kSlice,
          .dim = static_cast<std::int64_t>(axis),
          .start = start,
          .end = end,
          .step = move.integer("step", 1)};
}

std::optional<ViewStep> narrowing_step(const Move& move, const std::string& op, const Shape& shape) {
  if (op.starts_with("aten::diagonal")) {
    const auto first = axis_of(move.integer("dim1", 0), shape.size());
    const auto second = axis_of(move.integer("dim2", 1), shape.size());
    if (!first || !second) return std::nullopt;
    return ViewStep{.kind = ViewStep::Kind::kDiagonal,
                    .dim = static_cast<std::int64_t>(*first),
                    .dim2 = static_cast<std::int64_t>(*second),
                    .start = move.integer("offset")};
  }
  const auto axis = axis_of(move.integer("dim"), shape.size());
  if (!axis) return std::nullopt;
  if (op.starts_with("aten::slice")) return slice_step(move, shape, *axis);
  std::int64_t index = move.integer("index");
  if (index < 0) index += shape[*axis];
  return ViewStep{.kind = ViewStep::Kind::kSelect, .dim = static_cast<std::int64_t>(*axis), .start = index};
}

std::optional<Strided> view_of(const Move& move, const Value* self) {
  const std::string& op = move.node.op();
  if (op.starts_with("aten::as_strided")) {
    return Strided{move.integers("size"), move.integers("stride"), move.integer("storage_offset")};
  }
  const Strided whole = row_major(self->shape());
  if (op == "aten::expand") return apply(whole, {.kind = ViewStep::Kind::kExpand, .list = move.shape()});
  if (op == "aten::permute" || op == "aten::transpose" || op == "aten::t") {
    Integers order(self->shape().size());
    std::iota(order.begin(), order.end(), 0);
    if (op == "aten::permute") {
      order = move.integers("dims");
      for (std::int64_t& dim : order) dim = dim < 0 ? dim + std::ssize(order) : dim;
    } else if (order.size() > 1) {
      const auto first = axis_of(move.integer("dim0", 0), order.size());
      const auto second = axis_of(move.integer("dim1", 1), order.size());
      if (!first || !second) return std::nullopt;
      std::swap(order[*first], order[*second]);
    }
    return apply(whole, {.kind = ViewStep::Kind::kPermute, .list = order});
  }
  const auto step = narrowing_step(move, op, self->shape());
  return step ? apply(whole, *step) : std::nullopt;
}

bool read_view(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr) return false;
  const auto view = view_of(move, self);
  const Elements& from = move.elements(self);
  const auto places = view ? places_of(*view, std::ssize(from)) : std::nullopt;
  if (!places || std::ssize(*places) != element_count(move.shape())) return false;
  for (const std::int64_t place : *places) move.result.push_back(from[at(place)]);
  return true;
}

bool write_view(Move& move) {
  const Value* self = move.tensor("self");
  const Value* source = move.tensor("src");
  if (self == nullptr || source == nullptr || !move.same_dtype(source)) return false;
  const auto view = view_of(move, self);
  move.result = move.elements(self);
  const Elements& from = move.elements(source);
  const auto places = view ? places_of(*view, std::ssize(move.result)) : std::nullopt;
  if (!places || places->size() != from.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) move.result[at((*places)[i])] = from[i];
  return true;
}

// ---- whole values ----

bool keep_order(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr || !move.same_dtype(self)) return false;
  move.result = move.elements(self);
  return std::ssize(move.result) == element_count(move.shape());
}

// The elements of `value`, broadcast to `shape`.
std::optional<Elements> broadcast(const Move& move, const Value* value, const Shape& shape) {
  const auto view = apply(row_major(value->shape()), {.kind = ViewStep::Kind::kExpand, .list = shape});
  const Elements& from = move.elements(value);
  const auto places = view ? places_of(*view, std::ssize(from)) : std::nullopt;
  if (!places) return std::nullopt;
  Elements result;
  for (const std::int64_t place : *places) result.push_back(from[at(place)]);
  return result;
}

bool copy(Move& move) {
  const Value* source = move.tensor("src");
  if (source == nullptr || !move.same_dtype(source)) return false;
  auto found = broadcast(move, source, move.shape());
  if (!found || std::ssize(*found) != element_count(move.shape())) return false;
  move.result = std::move(*found);
  return true;
}

bool repeat(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr) return false;
  Shape shape = self->shape();
  const Shape& wanted = move.shape();
  if (wanted.size() < shape.size() || element_count(shape) == 0) return false;
  shape.insert(shape.begin(), wanted.size() - shape.size(), 1);
  const Elements& from = move.elements(self);
  for (std::int64_t flat = 0; flat < element_count(wanted); ++flat) {
    std::int64_t rest = flat;
    std::int64_t place = 0;
    std::int64_t width = 1;
    for (std::size_t i = wanted.size(); i-- > 0;) {
      place += rest % wanted[i] % shape[i] * width;
      rest /= wanted[i];
      width *= shape[i];
    }
    move.result.push_back(from[at(place)]);
  }
  return true;
}

// ---- along one axis ----

/// A shape cut at an axis: `outer` blocks of `extent` rows of `inner` elements.
struct Rows {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;

  Rows(const Shape& shape, std::size_t axis) : extent(shape[axis]) {
    for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  }
};

// Row p of the result is row `source(p)` of `from`; below zero: a number.
void take_rows(const Elements& from, std::pair<Rows, Rows> shapes,
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
  const auto axis = axis_of(move.integer("dim"), move.shape().size());
  if (tensors == nullptr || !axis) return false;
  const Rows made(move.shape(), *axis);
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
    const Rows rows(shape, *axis);
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
    const Rows rows(self->shape(), *axis);
    const Elements before = std::exchange(move.result, {});
    take_rows(
        before, {rows, rows}, [&](std::int64_t p) { return rows.extent - 1 - p; }, move.result);
  }
  return true;
}

bool pad(Move& move) {
  const Value* self = move.tensor("self");
  const Integers sizes = move.integers("pad");
  if (self == nullptr || sizes.size() % 2 != 0 || sizes.size() / 2 > self->shape().size()) return false;
  Shape shape = self->shape();
  move.result = move.elements(self);
  for (std::size_t i = 0; i < sizes.size() / 2; ++i) {
    const std::size_t axis = shape.size() - 1 - i;
    const Rows old(shape, axis);
    shape[axis] += sizes[2 * i] + sizes[2 * i + 1];
    if (shape[axis] < 0) return false;
    const Elements before = std::exchange(move.result, {});
    const auto source = [&](std::int64_t p) {
      const std::int64_t row = p - sizes[2 * i];
      return row < old.extent ? row : -1;
    };
    take_rows(before, {old, Rows(shape, axis)}, source, move.result);
  }
  return shape == move.shape();
}

// ---- constant indices ----

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

bool take_indexed(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr) return false;
  std::optional<IndexedRows> index;
  if (move.node.op() == "aten::index_select") {
    const auto axis = axis_of(move.integer("dim"), self->shape().size());
    auto rows = axis ? row_index(move.tensor("index"), self->shape()[*axis]) : std::nullopt;
    if (rows) index = IndexedRows{*axis, std::move(*rows)};
  } else {
    index = only_index(move, self->shape());
  }
  if (!index) return false;
  const Rows old(self->shape(), index->axis);
  Rows made = old;
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
  std::optional<IndexedRows> index;
  if (whole_copy) {
    const auto axis = axis_of(move.integer("dim"), self->shape().size());
    auto rows = axis ? row_index(move.tensor("index"), self->shape()[*axis]) : std::nullopt;
    if (rows) index = IndexedRows{*axis, std::move(*rows)};
  } else {
    index = only_index(move, self->shape());
  }
  if (!index) return false;
  Shape written = self->shape();
  written[index->axis] = std::ssize(index->rows);
  if (index->single) written.erase(written.begin() + static_cast<std::ptrdiff_t>(index->axis));
  const auto values = broadcast(move, source, written);
  if (!values) return false;
  const Rows rows(self->shape(), index->axis);
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

using MoveFunction = bool (*)(Move&);

const std::map<std::string_view, MoveFunction>& table() {
  static const std::map<std::string_view, MoveFunction> kTable{
      {"aten::_to_copy", keep_order},
      {"aten::_unsafe_view", keep_order},
      {"aten::alias", keep_order},
      {"aten::as_strided", read_view},
      {"aten::as_strided_scatter", write_view},
      {"aten::cat", join},
      {"aten::clone", keep_order},
      {"aten::concat", join},
      {"aten::constant_pad_nd", pad},
      {"aten::contiguous", keep_order},
      {"aten::copy", copy},
      {"aten::detach", keep_order},
      {"aten::diagonal", read_view},
      {"aten::diagonal_scatter", write_view},
      {"aten::expand", read_view},
      {"aten::flatten", keep_order},
      {"aten::flip", flip},
      {"aten::index", take_indexed},
      {"aten::index_copy", put_indexed},
      {"aten::index_put", put_indexed},
      {"aten::index_select", take_indexed},
      {"aten::lift_fresh_copy", keep_order},
      {"aten::permute", read_view},
      {"aten::repeat", repeat},
      {"aten::reshape", keep_order},
      {"aten::roll", roll},
      {"aten::select", read_view},
      {"aten::select_scatter", write_view},
      {"aten::slice", read_view},
      {"aten::slice_scatter", write_view},
      {"aten::squeeze", keep_order},
      {"aten::stack", join},
      {"aten::t", read_view},
      {"aten::tile", repeat},
      {"aten::to", keep_order},
      {"aten::transpose", read_view},
      {"aten::unsqueeze", keep_order},
      {"aten::view", keep_order},
      {"aten::where", choose},
  };
  return kTable;
}

}  // namespace

bool may_move(const Node& node) { return table().contains(node.op()); }

bool moved(const Node& node, const OriginsOf& of, Elements& result) {
  const auto found = table().find(node.op());
  if (found == table().end()) return false;
  Move move(node, of, result);
  return found->second(move) && std::ssize(result) == element_count(node.result()->shape());
}

}  // namespace leapp::graph
