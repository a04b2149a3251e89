// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// x[ids], x[mask], and rows that are looked up in a table.
#include <algorithm>

#include "graph/masks/handlers.h"
#include "graph/masks/places.h"
#include "graph/masks/sources.h"

namespace leapp::graph::masks {
namespace {

/// How many rows a mask chose: the size of the dimension that stands for it.
std::int64_t recorded_length(const Rewriter& writer, const std::vector<Value*>& indices, const Value* result) {
  std::int64_t dim = 0;
  for (const Value* index : indices) {
    if (is_mask(index)) return size_at(result, std::min(dim, rank_of(result) - 1));
    const MaskedRows* of = index != nullptr ? writer.rows(index) : nullptr;
    if (of != nullptr) return of->space->length;
    ++dim;
  }
  return 0;
}

/// x, with the dimensions of the frame as one.
MaskedRows rows_of_frame(Rewriter& writer, Value* self, const MaskPlaces& places) {
  const std::int64_t first = places.all[0].dim;
  Shape shape(self->shape().begin(), self->shape().begin() + first);
  shape.push_back(places.space->count);
  shape.insert(shape.end(), self->shape().begin() + first + std::ssize(places.all), self->shape().end());
  return {.space = places.space, .axis = first, .dense = writer.reshape(self, shape)};
}

Status read_ordinary(Rewriter& writer, Value* self, const MaskPlaces& places) {
  if (covers_frame(places, self)) {
    writer.bind(0, rows_of_frame(writer, self, places));
    return {};
  }
  LEAPP_ASSIGN_OR_RETURN(std::vector<Value*> indices, dense_indices(writer, places, self));
  const std::int64_t axis = places.result_axis();
  const TensorType type = {self->dtype(), with_rows(writer.node().result()->shape(), axis, places.space->count)};
  Value* made = writer.emit("aten::index", "Tensor", {{"self", self}, {"indices", std::move(indices)}}, type);
  writer.bind(0, {.space = places.space, .axis = axis, .dense = made});
  return {};
}

/// What rows are at positions that do not say which row.
Status read_beside_rows(Rewriter& writer, const MaskedRows& from, const MaskPlaces& places) {
  if (places.space != nullptr) return unimplemented("it combines every row with every row");
  LEAPP_ASSIGN_OR_RETURN(std::vector<Value*> indices, dense_indices(writer, places, from.dense));
  const std::int64_t axis = places.result_dim(from.axis);
  const TensorType type = {from.dense->dtype(), with_rows(writer.node().result()->shape(), axis, from.space->count)};
  Value* made = writer.emit("aten::index", "Tensor", {{"self", from.dense}, {"indices", std::move(indices)}}, type);
  writer.bind(0, {.space = from.space, .axis = axis, .dense = made});
  return {};
}

/// MaskedRows that other rows name.
MaskedRows rows_in_order(Rewriter& writer, const MaskedRows& from, const MaskedRows& order) {
  const TensorType type = {from.dense->dtype(), with_rows(from.dense->shape(), from.axis, order.space->count)};
  Value* made =
      writer.emit("aten::index_select", "", {{"self", from.dense}, {"dim", from.axis}, {"index", order.dense}}, type);
  MaskedRows taken = {.space = order.space, .axis = from.axis, .dense = made};
  return taken;
}

Status read_among_rows(Rewriter& writer, const MaskedRows& from, MaskPlaces places) {
  const auto own = std::find_if(places.all.begin(), places.all.end(),
                                [&](const IndexPlace& place) { return place.dim == from.axis; });
  if (own->value != nullptr) {
    // rows[arange(len(rows)), i]: each row looks into itself.
    if (places.space != nullptr && places.space != from.space) return unimplemented("it picks rows by their number");
    LEAPP_ASSIGN_OR_RETURN(Value * counted, writer.all_beside(own->value, 0, *from.space));
    const bool counts =
        rank_of(own->value) == 1 && counted->producer() != nullptr && counted->producer()->op() == "aten::sub";
    if (!counts || from.space->length < 2) return unimplemented("it picks rows by their number");
    own->value = nullptr;
    own->rows = {.space = from.space, .dense = counted, .rank_in = from.space};
    places.space = from.space;
    places.row_dim = places.rank - 1;
  }
  if (own->rows.row_of == from.space && places.all.size() == 1 && places.rank == 1) {
    writer.bind(0, rows_in_order(writer, from, own->rows));
    return {};
  }
  if (own->rows.rank_in != from.space) return unimplemented("it picks rows by their number");
  if (places.all.size() == 1 && places.rank == 1) {
    MaskedRows kept = from;
    kept.space = places.space;
    writer.bind(0, kept);
    return {};
  }
  look_into_own_row(writer, *own);
  LEAPP_ASSIGN_OR_RETURN(std::vector<Value*> indices, dense_indices(writer, places, from.dense));
  const std::int64_t axis = places.result_axis();
  const TensorType type = {from.dense->dtype(), with_rows(writer.node().result()->shape(), axis, from.space->count)};
  Value* made = writer.emit("aten::index", "Tensor", {{"self", from.dense}, {"indices", std::move(indices)}}, type);
  writer.bind(0, {.space = places.space, .axis = axis, .dense = made});
  return {};
}

Status gather(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  Value* index = tensor(node, "index");
  const MaskedRows* from = writer.rows(self);
  const MaskedRows* where = writer.rows(index);
  if (where == nullptr) return unimplemented("it picks rows by their number");
  const std::int64_t dim = wrapped(integer(node, "dim", 0), rank_of(self));
  const bool within = from != nullptr && from->space == where->space && from->axis == where->axis && dim != from->axis;
  const bool table = from == nullptr && dim == where->axis;
  if (!within && !table) return unimplemented("it picks rows by their number");
  std::vector<Argument> arguments = writer.dense_arguments();
  set(arguments, "index", writer.filled(*where, 0));
  Value* made = writer.again(std::move(arguments), where->axis, where->space->count)[0];
  writer.bind(0, {.space = where->space, .axis = where->axis, .dense = made});
  return {};
}

}  // namespace

Status read_rows(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  std::vector<Value*> indices = tensors(node, "indices");
  if (node.op() == "aten::index_select") {
    indices.assign(at(wrapped(integer(node, "dim", 0), rank_of(self))), nullptr);
    indices.push_back(tensor(node, "index"));
  }
  const std::int64_t length = recorded_length(writer, indices, node.result());
  LEAPP_ASSIGN_OR_RETURN(MaskPlaces places, places_of(writer, self, indices, length));
  const MaskedRows* from = writer.rows(self);
  if (from == nullptr) return read_ordinary(writer, self, places);
  return places.names(from->axis) ? read_among_rows(writer, *from, std::move(places))
                                  : read_beside_rows(writer, *from, places);
}

Status look_up(Rewriter& writer) {
  const Node& node = writer.node();
  if (node.op() == "aten::gather") return gather(writer);
  const std::string_view name = node.op() == "aten::embedding" ? "indices" : "self";
  const MaskedRows* where = writer.rows(tensor(node, name));
  if (where == nullptr) return unimplemented("it picks rows by their number");
  if (const Value* weight = tensor(node, "weight"); weight != nullptr && writer.rows(weight) != nullptr)
    return unimplemented("its table is rows");
  std::vector<Argument> arguments = writer.dense_arguments();
  set(arguments, name, writer.filled(*where, 0));
  Value* made = writer.again(std::move(arguments), where->axis, where->space->count)[0];
  writer.bind(0, {.space = where->space, .axis = where->axis, .dense = made});
  return {};
}

}  // namespace leapp::graph::masks
