// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Non-maximum suppression: positions of the boxes that stay, best first. Densely: all boxes, best first, and a mask.
#include <limits>

#include "graph/masks/handlers.h"

namespace leapp::graph::masks {
namespace {

/// bool[count]: which boxes stay, in the order in which they are given.
Value* nms_keep_mask(Rewriter& writer, Value* boxes, Value* scores, std::int64_t count) {
  std::vector<Argument> arguments = writer.node().arguments();
  set(arguments, "dets", boxes);
  set(arguments, "scores", scores);
  Value* kept = writer.again(std::move(arguments), -1, 0)[0];
  const std::int64_t length = size_at(kept, 0);
  Dims numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  // Beside a column, so that what has no fixed length needs no other shape.
  Value* equal = writer.binary("aten::eq", kept, writer.integers(numbers, {count, 1}), {DType::kBool, {count, length}});
  return writer.emit("aten::any", "dim", {{"self", equal}, {"dim", std::int64_t{1}}, {"keepdim", false}},
                     {DType::kBool, {count}});
}

Value* in_order(Rewriter& writer, Value* value, Value* order) {
  return writer.emit("aten::index_select", "", {{"self", value}, {"dim", std::int64_t{0}}, {"index", order}},
                     value->type());
}

}  // namespace

Status suppress(Rewriter& writer) {
  const Node& node = writer.node();
  Value* boxes = tensor(node, "dets");
  Value* scores = tensor(node, "scores");
  const MaskedRows* of = writer.rows(boxes);
  const MaskedRows* rated = writer.rows(scores);
  if ((of != nullptr) != (rated != nullptr)) return unimplemented("its boxes or its scores are rows, the others not");
  if (of != nullptr && (of->space != rated->space || of->axis != 0 || rated->axis != 0))
    return unimplemented("its boxes and its scores are different rows");
  const std::int64_t count = of != nullptr ? of->space->count : size_at(boxes, 0);
  if (count == 0) return unimplemented("there is nothing to choose from");
  // A box of no size suppresses nothing, and what is worth least comes last.
  if (of != nullptr) boxes = writer.filled(*of, 0);
  if (rated != nullptr) scores = writer.filled(*rated, -std::numeric_limits<double>::infinity());
  Value* order = writer.emit("aten::argsort", "stable",
                             {{"self", scores}, {"stable", true}, {"dim", std::int64_t{0}}, {"descending", true}},
                             {DType::kInt64, {count}});
  Value* mask = in_order(writer, nms_keep_mask(writer, boxes, scores, count), order);
  if (of != nullptr) {
    Value* present = in_order(writer, of->space->mask, order);
    mask = writer.binary("aten::logical_and", mask, present, {DType::kBool, {count}});
  }
  RowSpace& space = writer.space_of(mask, {count}, size_at(node.result(), 0));
  if (of != nullptr) writer.join_groups(space, *of->space);
  writer.bind(0, {.space = &space, .dense = order, .row_of = of != nullptr ? of->space : nullptr});
  return {};
}

/// functional.pad(rows, (0, 0, 0, 10 - len(rows))): the first ten, and as many zeros as are missing. A program that
/// adds the same number of rows each time has a result without a fixed shape, and none that could be exported.
Status pad(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  const MaskedRows* from = writer.rows(self);
  const Dims* amounts = list(node, "pad");
  if (from == nullptr || amounts == nullptr) return unimplemented("how much it adds depends on rows");
  const Attribute* mode = node.find("mode");
  const auto* name = mode != nullptr ? std::get_if<std::string>(mode) : nullptr;
  if (name != nullptr && *name != "constant") return unimplemented("it repeats rows at its edges");
  const auto pair = at(2 * (rank_of(self) - 1 - from->axis));
  for (std::size_t i = 0; i < amounts->size(); ++i) {
    if (i != pair + 1 && (*amounts)[i] != 0) return unimplemented("it adds more than rows behind the others");
  }
  const RowSpace& space = *from->space;
  const std::int64_t total = size_at(node.result(), from->axis);
  // For each of the rows there are to be: where the one with that number stands.
  Dims numbers;
  for (std::int64_t i = 0; i < total; ++i) numbers.push_back(i);
  const Shape table = {total, space.count};
  Value* match =
      writer.binary("aten::eq", writer.integers(numbers, {total, 1}), writer.rank(space), {DType::kBool, table});
  match = writer.binary("aten::logical_and", match, space.mask, {DType::kBool, table});
  Value* place = writer.emit(
      "aten::argmax", "", {{"self", writer.cast(match, DType::kInt64)}, {"dim", std::int64_t{1}}, {"keepdim", false}},
      {DType::kInt64, {total}});
  Value* there = writer.emit("aten::any", "dim", {{"self", match}, {"dim", std::int64_t{1}}, {"keepdim", false}},
                             {DType::kBool, {total}});
  const TensorType type = node.result()->type();
  Value* taken =
      writer.emit("aten::index_select", "", {{"self", from->dense}, {"dim", from->axis}, {"index", place}}, type);
  const Attribute* value = node.find("value");
  double filler = 0;
  if (value != nullptr && std::holds_alternative<double>(*value)) filler = std::get<double>(*value);
  if (value != nullptr && std::holds_alternative<std::int64_t>(*value))
    filler = static_cast<double>(std::get<std::int64_t>(*value));
  Value* beside = writer.reshape(there, with_rows(Shape(at(rank_of(self)), 1), from->axis, total));
  writer.replace(0, writer.where(beside, taken, writer.number(filler, type.dtype), type));
  return {};
}

}  // namespace leapp::graph::masks
