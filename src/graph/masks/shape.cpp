// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Other shapes and orders of the same elements.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "graph/masks/handlers.h"

namespace leapp::graph::masks {
namespace {

std::int64_t product(const Shape& shape, std::int64_t from, std::int64_t to) {
  return std::accumulate(shape.begin() + from, shape.begin() + to, std::int64_t{1}, std::multiplies<>());
}

/// Where dimension `axis` of `before` is in `after`, which has the same elements in the same order.
std::optional<std::int64_t> axis_after(const Shape& before, std::int64_t axis, const Shape& after) {
  const auto fits = [&](std::int64_t to) {
    return after[at(to)] == before[at(axis)] && product(after, 0, to) == product(before, 0, axis) &&
           product(after, to + 1, std::ssize(after)) == product(before, axis + 1, std::ssize(before));
  };
  // Of several that fit, all of size one, the place it had is the likely one.
  if (axis < std::ssize(after) && fits(axis)) return axis;
  for (std::int64_t to = 0; to < std::ssize(after); ++to) {
    if (fits(to)) return to;
  }
  return std::nullopt;
}

std::int64_t axis_after_squeeze(const Shape& before, std::int64_t axis, const std::vector<bool>& gone) {
  std::int64_t to = axis;
  for (std::int64_t dim = 0; dim < axis; ++dim) {
    if (gone[at(dim)] && before[at(dim)] == 1) --to;
  }
  return to;
}

std::optional<std::int64_t> squeezed_axis(const Node& node, const Value* self, std::int64_t axis) {
  std::vector<bool> gone(self->shape().size(), false);
  const std::int64_t rank = rank_of(self);
  if (const Dims* dims = list(node, "dim")) {
    for (const std::int64_t dim : *dims) gone[at(wrapped(dim, rank))] = true;
  } else if (node.find("dim") != nullptr) {
    gone[at(wrapped(integer(node, "dim", 0), rank))] = true;
  } else {
    gone.assign(gone.size(), true);
  }
  if (gone[at(axis)] && size_at(self, axis) == 1) return std::nullopt;
  return axis_after_squeeze(self->shape(), axis, gone);
}

/// Of the operators that are a reshape of `self`.
std::optional<std::int64_t> reshaped_axis(const Node& node, const Value* self, std::int64_t axis) {
  const std::string& op = node.op();
  if (op == "aten::squeeze") return squeezed_axis(node, self, axis);
  if (op == "aten::unsqueeze") {
    const std::int64_t dim = wrapped(integer(node, "dim", 0), rank_of(self) + 1);
    return dim <= axis ? axis + 1 : axis;
  }
  return axis_after(self->shape(), axis, node.result()->shape());
}

std::optional<Dims> order_of(const Node& node, std::int64_t rank) {
  const std::string& op = node.op();
  Dims order(at(rank));
  std::iota(order.begin(), order.end(), 0);
  if (op == "aten::permute") {
    const Dims* dims = list(node, "dims");
    if (dims == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < dims->size(); ++i) order[i] = wrapped((*dims)[i], rank);
    return order;
  }
  if (op == "aten::numpy_T" || (op == "aten::t" && rank == 2)) {
    std::reverse(order.begin(), order.end());
    return order;
  }
  if (op == "aten::t") return order;
  if (op == "aten::mT") {
    std::swap(order[at(rank - 1)], order[at(rank - 2)]);
    return order;
  }
  const bool swaps = op == "aten::transpose" || op == "aten::swapaxes" || op == "aten::swapdims";
  if (!swaps || (node.overload() != "int" && op == "aten::transpose")) return std::nullopt;
  const bool axes = op == "aten::swapaxes";
  const std::int64_t first = wrapped(integer(node, axes ? "axis0" : "dim0", 0), rank);
  const std::int64_t second = wrapped(integer(node, axes ? "axis1" : "dim1", 0), rank);
  std::swap(order[at(first)], order[at(second)]);
  return order;
}

MaskedRows moved(const MaskedRows& from, std::int64_t axis, Value* dense) {
  MaskedRows to = from;
  to.axis = axis;
  to.dense = dense;
  to.positions = false;
  return to;
}

Status reorder(Rewriter& writer, const MaskedRows& from, const Dims& order) {
  const auto to = std::find(order.begin(), order.end(), from.axis) - order.begin();
  Value* made = writer.again(writer.dense_arguments(), to, from.space->count)[0];
  MaskedRows result = moved(from, to, made);
  result.positions = from.positions;
  writer.bind(0, result);
  return {};
}

Status spread(Rewriter& writer, const MaskedRows* from) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  RowSpace& space = writer.space();
  const std::int64_t more = rank_of(node.result()) - rank_of(self);
  if (from == nullptr) {  // expand_as rows
    Value* like = tensor(node, "other");
    const std::int64_t axis = writer.rows(like)->axis;
    LEAPP_ASSIGN_OR_RETURN(Value * beside, writer.beside(self, axis - more, space));
    writer.bind(0, {.space = &space,
                    .axis = axis,
                    .dense = writer.expand(beside, with_rows(node.result()->shape(), axis, space.count))});
    return {};
  }
  const std::int64_t axis = from->axis + more;
  if (size_at(node.result(), axis) != space.length) return unimplemented("it spreads one row over several");
  writer.bind(0, moved(*from, axis, writer.expand(from->dense, with_rows(node.result()->shape(), axis, space.count))));
  return {};
}

Status repeat(Rewriter& writer, const MaskedRows& from) {
  const Node& node = writer.node();
  const Dims* repeats = list(node, "repeats");
  const std::int64_t axis = from.axis + rank_of(node.result()) - rank_of(tensor(node, "self"));
  if (repeats == nullptr || (*repeats)[at(axis)] != 1) return unimplemented("it repeats the rows");
  Value* made = writer.again(writer.dense_arguments(), axis, from.space->count)[0];
  writer.bind(0, moved(from, axis, made));
  return {};
}

/// v[0] of a v that has one row: what x[ids] = v writes then.
bool drops_one_row(const Node& node, const Value* self, const MaskedRows& from) {
  const Shape& before = self->shape();
  const Shape& after = node.result()->shape();
  if (node.op() != "aten::reshape" || from.space->length != 1 || after.size() >= before.size()) return false;
  const auto rest = before.end() - std::ssize(after);
  return from.axis < rest - before.begin() && std::equal(rest, before.end(), after.begin());
}

}  // namespace

Status rearrange(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  const MaskedRows* from = self != nullptr ? writer.rows(self) : nullptr;
  if (node.op() == "aten::expand" || node.op() == "aten::expand_as") return spread(writer, from);
  if (from == nullptr) return unimplemented("it takes its shape from rows");
  if (node.op() == "aten::repeat") return repeat(writer, *from);
  if (const auto order = order_of(node, rank_of(self))) return reorder(writer, *from, *order);
  const auto axis = reshaped_axis(node, self, from->axis);
  if (!axis && drops_one_row(node, self, *from)) {
    Shape shape = node.result()->shape();
    shape.insert(shape.begin(), from->space->count);
    writer.bind(0, {.space = from->space, .dense = writer.reshape(from->dense, shape), .dropped = true});
    return {};
  }
  if (!axis) return unimplemented("its shape mixes rows with other dimensions");
  Shape shape = with_rows(node.result()->shape(), *axis, from->space->count);
  MaskedRows result = moved(*from, *axis, writer.reshape(from->dense, shape));
  writer.bind(0, result);
  return {};
}

}  // namespace leapp::graph::masks
