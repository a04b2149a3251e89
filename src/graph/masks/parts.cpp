// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Pieces along a dimension: taken, put back, joined.
#include <algorithm>
#include <limits>

#include "graph/masks/handlers.h"

namespace leapp::graph::masks {
namespace {

std::int64_t dim_of(const Node& node, std::int64_t rank, std::int64_t otherwise = 0) {
  return wrapped(integer(node, node.find("axis") != nullptr ? "axis" : "dim", otherwise), rank);
}

bool drops_dim(const Node& node) { return node.op() == "aten::select" || node.op() == "aten::unbind"; }

/// Which of the columns a piece of all of them is, if it is just one.
std::optional<std::size_t> column_of(const Node& node, const MaskedRows& from, std::size_t result) {
  if (!from.positions) return from.column;
  const std::string& op = node.op();
  const Value* piece = node.result(result);
  if (!drops_dim(node) && size_at(piece, 1 - from.axis) != 1) return std::nullopt;
  const auto columns = static_cast<std::int64_t>(from.space->frame.size());
  if (op == "aten::unbind" || op == "aten::split" || op == "aten::chunk") return result;
  if (op == "aten::select") return at(wrapped(integer(node, "index", 0), columns));
  if (op == "aten::slice") return at(wrapped(integer(node, "start", 0), columns));
  if (op == "aten::narrow") return at(wrapped(integer(node, "start", 0), columns));
  return std::nullopt;
}

/// x[:], x[0:]: all rows, however many there are.
bool takes_all(const Node& node) {
  return node.op() == "aten::slice" && integer(node, "start", 0) == 0 && integer(node, "step", 1) == 1 &&
         integer(node, "end", std::numeric_limits<std::int64_t>::max()) == std::numeric_limits<std::int64_t>::max();
}

/// x[:10], x[2:]: rows by their number, of which there may be fewer.
Status rows_between(Rewriter& writer, const MaskedRows& from) {
  const Node& node = writer.node();
  const std::int64_t start = integer(node, "start", 0);
  const std::int64_t end = integer(node, "end", std::numeric_limits<std::int64_t>::max());
  const bool plain = node.op() == "aten::slice" && integer(node, "step", 1) == 1 && start >= 0 && end >= 0;
  if (!plain) return unimplemented("it takes some of the rows by their number");
  RowSpace& space = *from.space;
  const TensorType type = {DType::kBool, {space.count}};
  Value* rank = writer.rank(space);
  Value* within = space.mask;
  const auto limit = [&](const char* op, std::int64_t number) {
    Value* side = writer.binary(op, rank, writer.number(static_cast<double>(number), DType::kInt64), type);
    within = writer.binary("aten::logical_and", within, side, type);
  };
  if (end < space.count) limit("aten::lt", end);
  if (start > 0) limit("aten::ge", start);
  MaskedRows kept = from;
  kept.space = &writer.narrowed(space, within, size_at(node.result(), from.axis));
  writer.bind(0, kept);
  return {};
}

/// x[0], x[-1]: the one row of that number. Where there is none the program would have failed.
Status row_at(Rewriter& writer, const MaskedRows& from) {
  const Node& node = writer.node();
  const RowSpace& space = *from.space;
  const std::int64_t index = integer(node, "index", 0);
  Value* wanted = writer.number(static_cast<double>(index), DType::kInt64);
  if (index < 0) {
    wanted = writer.binary("aten::add", writer.how_many(space, DType::kInt64), wanted, {DType::kInt64, {}});
  }
  const TensorType truths = {DType::kBool, {space.count}};
  const TensorType numbers = {DType::kInt64, {space.count}};
  Value* own = writer.binary("aten::logical_and", space.mask,
                             writer.binary("aten::eq", writer.rank(space), wanted, truths), truths);
  Value* chosen = writer.binary("aten::mul", writer.cast(own, DType::kInt64), writer.own_row(space), numbers);
  Value* place = writer.reshape(writer.sum(chosen, {0}, false, DType::kInt64), {1});
  Value* row = writer.emit("aten::index_select", "", {{"self", from.dense}, {"dim", from.axis}, {"index", place}},
                           {from.dense->dtype(), with_rows(from.dense->shape(), from.axis, 1)});
  writer.replace(0, writer.reshape(row, node.result()->shape()), space);
  return {};
}

}  // namespace

Status part(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  const MaskedRows* from = self != nullptr ? writer.rows(self) : nullptr;
  if (from == nullptr) return unimplemented("where it cuts depends on rows");
  const std::int64_t dim = dim_of(node, rank_of(self));
  if (dim == from->axis) {
    if (node.op() == "aten::select") return row_at(writer, *from);
    if (!takes_all(node)) return rows_between(writer, *from);
    writer.bind(0, *from);
    return {};
  }
  const std::int64_t axis = drops_dim(node) && dim < from->axis ? from->axis - 1 : from->axis;
  const std::vector<Value*> made = writer.again(writer.dense_arguments(), axis, from->space->count);
  for (std::size_t i = 0; i < made.size(); ++i) {
    writer.bind(i, {.space = from->space,
                    .axis = axis,
                    .dense = made[i],
                    .column = column_of(node, *from, i),
                    .rank_in = from->rank_in,
                    .row_of = from->row_of});
  }
  return {};
}

Status put_part(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  Value* source = tensor(node, "src");
  RowSpace& space = writer.space();
  const std::int64_t dim = dim_of(node, rank_of(self));
  const bool drops = node.op() == "aten::select_scatter";
  const auto outer = [&](std::int64_t axis) { return drops && dim <= axis ? axis + 1 : axis; };
  const MaskedRows* whole = writer.rows(self);
  const MaskedRows* piece = writer.rows(source);
  const std::int64_t axis = whole != nullptr ? whole->axis : outer(piece->axis);
  if (axis == dim) return unimplemented("it writes to some of the rows by their number");
  const std::int64_t inner = drops && dim < axis ? axis - 1 : axis;
  if (piece != nullptr && piece->axis != inner) return unimplemented("rows stand in different dimensions");
  std::vector<Argument> arguments = writer.dense_arguments();
  if (whole == nullptr) {
    LEAPP_ASSIGN_OR_RETURN(Value * all, writer.all_beside(self, axis, space));
    set(arguments, "self", all);
  }
  if (piece == nullptr) {
    LEAPP_ASSIGN_OR_RETURN(Value * all, writer.all_beside(source, inner, space));
    set(arguments, "src", all);
  }
  Value* made = writer.again(std::move(arguments), axis, space.count)[0];
  writer.bind(0, {.space = &space, .axis = axis, .dense = made});
  return {};
}

Status join(Rewriter& writer) {
  const Node& node = writer.node();
  RowSpace& space = writer.space();
  const std::vector<Value*> pieces = tensors(node, "tensors");
  const bool stacks = node.op() == "aten::stack";
  const std::int64_t dim = wrapped(integer(node, "dim", 0), rank_of(node.result()));
  std::int64_t inner = -1;
  for (const Value* piece : pieces) {
    const MaskedRows* of = writer.rows(piece);
    if (of == nullptr) continue;
    if (inner >= 0 && of->axis != inner) return unimplemented("rows stand in different dimensions");
    inner = of->axis;
  }
  if (!stacks && dim == inner) return unimplemented("it puts rows behind each other");
  std::vector<Value*> dense;
  for (Value* piece : pieces) {
    const MaskedRows* of = writer.rows(piece);
    if (of == nullptr && rank_of(piece) <= inner) return unimplemented("rows stand in different dimensions");
    LEAPP_ASSIGN_OR_RETURN(Value * all,
                           of != nullptr ? Result<Value*>(of->dense) : writer.all_beside(piece, inner, space));
    dense.push_back(all);
  }
  std::vector<Argument> arguments = node.arguments();
  set(arguments, "tensors", dense);
  const std::int64_t axis = stacks && dim <= inner ? inner + 1 : inner;
  Value* made = writer.again(std::move(arguments), axis, space.count)[0];
  writer.bind(0, {.space = &space, .axis = axis, .dense = made});
  return {};
}

}  // namespace leapp::graph::masks
