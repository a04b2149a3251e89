// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Views, and writing through them.
#include <algorithm>
#include <numeric>
#include <string>

#include "graph/history/move.h"

namespace leapp::graph {
namespace {

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

Integers swapped(std::size_t rank, std::optional<std::size_t> first, std::optional<std::size_t> second) {
  Integers order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (first && second) std::swap(order[*first], order[*second]);
  return order;
}

// movedim: those that are named go where they are told, the others keep their order.
std::optional<Integers> moved_axes(const Move& move, std::size_t rank) {
  const Integers from = move.integers("source");
  const Integers to = move.integers("destination");
  Integers order(rank, -1);
  std::vector<bool> used(rank, false);
  if (from.size() != to.size()) return std::nullopt;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto source = axis_of(from[i], rank);
    const auto target = axis_of(to[i], rank);
    if (!source || !target) return std::nullopt;
    order[*target] = static_cast<std::int64_t>(*source);
    used[*source] = true;
  }
  std::size_t next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (next < rank && used[next]) ++next;
    axis = static_cast<std::int64_t>(next++);
  }
  return order;
}

// The order of the axes after an operator that does nothing but change it.
std::optional<Integers> order_of(const Move& move, const std::string& op, std::size_t rank) {
  const auto axis = [&](const char* name) { return axis_of(move.integer(name), rank); };
  if (op == "aten::permute") {
    Integers order = move.integers("dims");
    for (std::int64_t& dim : order) dim = dim < 0 ? dim + std::ssize(order) : dim;
    return order;
  }
  if (op == "aten::transpose" || op == "aten::swapdims") return swapped(rank, axis("dim0"), axis("dim1"));
  if (op == "aten::swapaxes") return swapped(rank, axis("axis0"), axis("axis1"));
  if (op == "aten::t" || op == "aten::mT") return swapped(rank, axis_of(-2, rank), axis_of(-1, rank));
  if (op == "aten::numpy_T") {
    Integers order = swapped(rank, std::nullopt, std::nullopt);
    std::reverse(order.begin(), order.end());
    return order;
  }
  if (op == "aten::movedim" || op == "aten::moveaxis") return moved_axes(move, rank);
  return std::nullopt;
}

std::optional<Strided> view_of(const Move& move, const Value* self) {
  const std::string& op = move.node.op();
  if (op.starts_with("aten::as_strided")) {
    return Strided{move.integers("size"), move.integers("stride"), move.integer("storage_offset")};
  }
  const Strided whole = row_major(self->shape());
  if (op == "aten::narrow") {
    const auto axis = axis_of(move.integer("dim"), self->shape().size());
    if (!axis || !move.is_integer("start")) return std::nullopt;
    std::int64_t start = move.integer("start");
    if (start < 0) start += self->shape()[*axis];
    return apply(whole, {.kind = ViewStep::Kind::kSlice,
                         .dim = static_cast<std::int64_t>(*axis),
                         .start = start,
                         .end = start + move.integer("length")});
  }
  if (op == "aten::expand" || op == "aten::expand_as" || op == "aten::broadcast_to")
    return apply(whole, {.kind = ViewStep::Kind::kExpand, .list = move.shape()});
  if (const auto order = order_of(move, op, self->shape().size())) {
    return apply(whole, {.kind = ViewStep::Kind::kPermute, .list = *order});
  }
  const auto step = narrowing_step(move, op, self->shape());
  return step ? apply(whole, *step) : std::nullopt;
}

}  // namespace

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

// One of the pieces that a value is cut into, along an axis.
bool read_piece(Move& move) {
  const Value* self = move.tensor("self");
  if (self == nullptr) return false;
  const auto axis = axis_of(move.integer("dim"), self->shape().size());
  if (!axis) return false;
  const bool single = move.node.op() == "aten::unbind";
  std::int64_t start = 0;
  for (std::size_t i = 0; i < move.made.result_index(); ++i) {
    start += single ? 1 : move.node.result(i)->shape()[*axis];
  }
  const std::int64_t length = single ? 1 : move.shape()[*axis];
  const auto view = apply(
      row_major(self->shape()),
      {.kind = ViewStep::Kind::kSlice, .dim = static_cast<std::int64_t>(*axis), .start = start, .end = start + length});
  const Elements& from = move.elements(self);
  const auto places = view ? places_of(*view, std::ssize(from)) : std::nullopt;
  if (!places) return false;
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

}  // namespace leapp::graph
