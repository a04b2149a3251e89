// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// x[ids] = v, x[mask] = v and their kin: what is written stays where the mask is true, what was there elsewhere.
#include <algorithm>
#include <set>

#include "graph/masks/handlers.h"
#include "graph/masks/places.h"
#include "graph/masks/sources.h"

namespace leapp::graph::masks {
namespace {

struct Write {
  Value* self = nullptr;
  std::vector<Value*> indices;
  Value* values = nullptr;
  bool adds = false;
};

/// `values` densely, to be broadcast to the elements that the places name, of which dimension `axis` counts rows.
Result<Value*> dense_values(Rewriter& writer, const Write& write, std::int64_t rank, std::int64_t axis,
                            RowSpace& space) {
  const MaskedRows* of = writer.rows(write.values);
  const std::int64_t dim = axis - (rank - rank_of(of != nullptr ? of->dense : write.values));
  if (of == nullptr) return writer.beside(write.values, dim, space);
  if (of->space != &space) return unimplemented("it writes rows to places that another mask chose");
  if (of->axis != dim) return unimplemented("rows stand in different dimensions");
  return of->dense;
}

/// A chosen element gets `fresh`, or the sum; others stay.
Value* chosen(Rewriter& writer, Value* condition, Value* fresh, Value* old, bool adds) {
  const TensorType type = old->type();
  fresh = writer.cast(fresh, type.dtype);
  return writer.where(condition, adds ? writer.binary("aten::add", old, fresh, type) : fresh, old, type);
}

/// One dimension that counts rows, as the dimensions of the frame.
Value* unfold_frame(Rewriter& writer, Value* value, std::int64_t dim, const Shape& frame) {
  if (dim < 0) return value;
  Shape shape(value->shape().begin(), value->shape().begin() + dim);
  for (const std::int64_t size : frame) shape.push_back(size_at(value, dim) == 1 ? 1 : size);
  shape.insert(shape.end(), value->shape().begin() + dim + 1, value->shape().end());
  return writer.reshape(value, shape);
}

Status write_frame(Rewriter& writer, const Write& write, const MaskPlaces& places) {
  RowSpace& space = *places.space;
  const std::int64_t axis = places.result_axis();
  LEAPP_ASSIGN_OR_RETURN(Value * values, dense_values(writer, write, places.result_rank, axis, space));
  const std::int64_t dim = axis - (places.result_rank - rank_of(values));
  values = unfold_frame(writer, values, dim, space.frame);
  const std::int64_t after = rank_of(write.self) - places.all.back().dim - 1;
  Shape beside = space.frame;
  beside.insert(beside.end(), at(after), 1);
  writer.replace(0, chosen(writer, writer.reshape(space.mask, beside), values, write.self, write.adds), space);
  return {};
}

bool all_rows_apart(const MaskPlaces& places) {
  std::set<std::size_t> columns;
  for (const IndexPlace& place : places.all) {
    if (!place.in_range) continue;
    if (!place.rows.column) return true;  // a row's own place
    columns.insert(*place.rows.column);
  }
  return columns.size() == places.space->frame.size();
}

/// Every row writes: those that do not count to one place more than there is. Of several that write to one place the
/// last counts, as in torch, which promises nothing.
Result<Value*> write_with_room(Rewriter& writer, const Write& write, const MaskPlaces& places, Value* self) {
  const auto to = std::find_if(places.all.begin(), places.all.end(),
                               [](const IndexPlace& place) { return place.value == nullptr; });
  const std::int64_t size = size_at(self, to->dim);
  const std::int64_t axis = places.result_axis();
  LEAPP_ASSIGN_OR_RETURN(Value * values, dense_values(writer, write, places.result_rank, axis, *places.space));
  LEAPP_ASSIGN_OR_RETURN(std::vector<Value*> indices, dense_indices(writer, places, self));
  Value* place = writer.cast(to->rows.dense, DType::kInt64);
  const TensorType type = place->type();
  const auto number = [&](std::int64_t value) { return writer.number(static_cast<double>(value), DType::kInt64); };
  Value* from_end = writer.binary("aten::lt", place, number(0), {DType::kBool, type.shape});
  place = writer.where(from_end, writer.binary("aten::add", place, number(size), type), place, type);
  Value* counts = writer.mask_beside(*places.space, std::ssize(type.shape), to->rows.axis);
  indices[at(to->dim)] = writer.where(counts, place, number(size), type);
  const TensorType longer = {self->dtype(), with_rows(self->shape(), to->dim, size + 1)};
  const auto piece = [&](Value* of, std::int64_t end, const TensorType& made) {
    return writer.emit(
        "aten::slice", "Tensor",
        {{"self", of}, {"dim", to->dim}, {"start", std::int64_t{0}}, {"end", end}, {"step", std::int64_t{1}}}, made);
  };
  Value* spare = piece(self, 1, {self->dtype(), with_rows(self->shape(), to->dim, 1)});
  Value* room = writer.emit("aten::cat", "", {{"tensors", std::vector<Value*>{self, spare}}, {"dim", to->dim}}, longer);
  Value* made = writer.emit("aten::index_put", "",
                            {{"self", room},
                             {"indices", std::move(indices)},
                             {"values", writer.cast(values, self->dtype())},
                             {"accumulate", false}},
                            longer);
  return piece(made, size, self->type());
}

/// Every row writes: those that do not count write what is there already.
Result<Value*> write_everywhere(Rewriter& writer, const Write& write, const MaskPlaces& places, Value* self) {
  RowSpace& space = *places.space;
  if (!write.adds && !all_rows_apart(places)) return write_with_room(writer, write, places, self);
  const std::int64_t axis = places.result_axis();
  LEAPP_ASSIGN_OR_RETURN(Value * values, dense_values(writer, write, places.result_rank, axis, space));
  LEAPP_ASSIGN_OR_RETURN(std::vector<Value*> indices, dense_indices(writer, places, self));
  Shape shape;
  for (std::int64_t dim = 0; dim < rank_of(self); ++dim) {
    if (!places.names(dim)) shape.push_back(size_at(self, dim));
  }
  Shape inner(at(places.rank), 1);
  for (const Value* index : indices) {
    for (std::int64_t i = 0; index != nullptr && i < rank_of(index); ++i) {
      std::int64_t& size = inner[at(places.rank - rank_of(index) + i)];
      size = std::max(size, size_at(index, i));
    }
  }
  shape.insert(shape.begin() + places.start, inner.begin(), inner.end());
  const TensorType type = {self->dtype(), shape};
  Value* old = write.adds ? writer.number(0, type.dtype)
                          : writer.emit("aten::index", "Tensor", {{"self", self}, {"indices", indices}}, type);
  Value* condition = writer.mask_beside(space, places.result_rank, axis);
  Value* fresh = writer.where(condition, values, old, type);
  return writer.emit("aten::index_put", "",
                     {{"self", self}, {"indices", indices}, {"values", fresh}, {"accumulate", write.adds}},
                     self->type());
}

/// MaskedRows are written to at positions that do not say which row.
Status write_beside_rows(Rewriter& writer, const Write& write, const MaskedRows& to, const MaskPlaces& places) {
  if (places.space != nullptr) return unimplemented("it combines every row with every row");
  LEAPP_ASSIGN_OR_RETURN(Value * values,
                         dense_values(writer, write, places.result_rank, places.result_dim(to.axis), *to.space));
  LEAPP_ASSIGN_OR_RETURN(std::vector<Value*> indices, dense_indices(writer, places, to.dense));
  Value* made = writer.emit("aten::index_put", "",
                            {{"self", to.dense}, {"indices", indices}, {"values", values}, {"accumulate", write.adds}},
                            to.dense->type());
  writer.bind(0, {.space = to.space, .axis = to.axis, .dense = made});
  return {};
}

/// rows[ids_among_rows] = v
Status write_among_rows(Rewriter& writer, const Write& write, const MaskedRows& to, MaskPlaces places) {
  const auto own =
      std::find_if(places.all.begin(), places.all.end(), [&](const IndexPlace& place) { return place.dim == to.axis; });
  if (own->value != nullptr || own->rows.rank_in != to.space) return unimplemented("it picks rows by their number");
  if (places.all.size() == 1 && places.rank == 1) {
    LEAPP_ASSIGN_OR_RETURN(Value * values, dense_values(writer, write, rank_of(to.dense), to.axis, *places.space));
    Value* condition = writer.mask_beside(*places.space, rank_of(to.dense), to.axis);
    writer.bind(0,
                {.space = to.space, .axis = to.axis, .dense = chosen(writer, condition, values, to.dense, write.adds)});
    return {};
  }
  look_into_own_row(writer, *own);
  LEAPP_ASSIGN_OR_RETURN(Value * made, write_everywhere(writer, write, places, to.dense));
  writer.bind(0, {.space = to.space, .axis = to.axis, .dense = made});
  return {};
}

/// rows[rows < 0] = 0: one value for all elements that a mask of rows chooses.
bool fills_by_mask(const Rewriter& writer, const Write& write) {
  const MaskedRows* to = writer.rows(write.self);
  if (to == nullptr || write.indices.size() != 1 || !is_mask(write.indices[0])) return false;
  const MaskedRows* by = writer.rows(write.indices[0]);
  return by != nullptr && by->space == to->space && by->axis == to->axis && writer.rows(write.values) == nullptr &&
         element_count(write.values->shape()) == 1;
}

Status fill_by_mask(Rewriter& writer, const Write& write) {
  const MaskedRows& to = *writer.rows(write.self);
  Value* mask = writer.truth(writer.rows(write.indices[0])->dense);
  Shape beside = mask->shape();
  beside.insert(beside.end(), at(rank_of(to.dense) - rank_of(mask)), 1);
  Value* value = writer.reshape(write.values, {});
  Value* made = chosen(writer, writer.reshape(mask, beside), value, to.dense, write.adds);
  writer.bind(0, {.space = to.space, .axis = to.axis, .dense = made});
  return {};
}

/// How many rows a mask among the indices chose; nothing: one value may be for all of them.
std::optional<std::int64_t> recorded_length(const Rewriter& writer, const Write& write) {
  if (const MaskedRows* of = writer.rows(write.values)) return of->space->length;
  std::int64_t after = 0;
  std::int64_t dim = 0;
  for (const Value* index : write.indices) {
    const std::int64_t covered = is_mask(index) ? rank_of(index) : 1;
    dim += covered;
    if (is_mask(index)) after = rank_of(write.self) - dim;
  }
  const std::int64_t from_front = rank_of(write.values) - 1 - after;
  const bool told = from_front >= 0 && size_at(write.values, from_front) != 1;
  return told ? std::optional(size_at(write.values, from_front)) : std::nullopt;
}

Status put(Rewriter& writer, const Write& write) {
  if (fills_by_mask(writer, write)) return fill_by_mask(writer, write);
  LEAPP_ASSIGN_OR_RETURN(MaskPlaces places,
                         places_of(writer, write.self, write.indices, recorded_length(writer, write)));
  if (const MaskedRows* to = writer.rows(write.self)) {
    return places.names(to->axis) ? write_among_rows(writer, write, *to, std::move(places))
                                  : write_beside_rows(writer, write, *to, places);
  }
  if (places.space == nullptr) return unimplemented("it writes rows to places that are fixed");
  if (covers_frame(places, write.self)) return write_frame(writer, write, places);
  LEAPP_ASSIGN_OR_RETURN(Value * made, write_everywhere(writer, write, places, write.self));
  writer.replace(0, made, *places.space);
  return {};
}

Status scatter(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  const MaskedRows* where = writer.rows(tensor(node, "index"));
  Value* source = tensor(node, "src");
  const bool adds = node.op() == "aten::scatter_add";
  if (where == nullptr || writer.rows(self) != nullptr || node.find("reduce") != nullptr)
    return unimplemented("it writes rows to places that are fixed");
  const std::int64_t dim = wrapped(integer(node, "dim", 0), rank_of(self));
  const RowSpace& space = *where->space;
  const bool whole = space.frame.size() == 1 && where->column == std::size_t{0} && dim == where->axis &&
                     where->dense->shape() == self->shape();
  if (!whole) return unimplemented("two rows may write to one place");
  Value* values = nullptr;
  if (source != nullptr) {
    const MaskedRows* of = writer.rows(source);
    const bool beside = of != nullptr && of->space == &space && of->axis == dim && of->dense->shape() == self->shape();
    if (!beside) return unimplemented("it writes rows to places that another mask chose");
    values = of->dense;
  } else {
    const Attribute* number = node.find("value");
    const auto* real = number != nullptr ? std::get_if<double>(number) : nullptr;
    if (number == nullptr || (real == nullptr && !std::holds_alternative<std::int64_t>(*number)))
      return unimplemented("it writes what is no number");
    values =
        writer.number(real != nullptr ? *real : static_cast<double>(std::get<std::int64_t>(*number)), self->dtype());
  }
  writer.replace(0, chosen(writer, writer.mask_beside(space, rank_of(self), dim), values, self, adds), space);
  return {};
}

Status scatter_by_mask(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  Value* mask = tensor(node, "mask");
  const MaskedRows* of = writer.rows(tensor(node, "source"));
  if (of == nullptr || writer.rows(self) != nullptr || writer.rows(mask) != nullptr)
    return unimplemented("it writes rows to places that are fixed");
  const bool same = writer.is_space_of(*of->space, mask, self->shape()) && rank_of(of->dense) == 1;
  if (!same) return unimplemented("it writes rows to places that another mask chose");
  Value* values = writer.reshape(of->dense, self->shape());
  writer.replace(0, chosen(writer, writer.reshape(of->space->mask, self->shape()), values, self, false), *of->space);
  return {};
}

/// The value to fill with, where it is a number.
Value* fill_value(Rewriter& writer, DType dtype) {
  const Attribute* given = writer.node().find("value");
  if (const auto* value = std::get_if<Value*>(given)) return *value;
  if (const auto* number = std::get_if<double>(given)) return writer.number(*number, dtype);
  if (const auto* number = std::get_if<std::int64_t>(given)) return writer.number(static_cast<double>(*number), dtype);
  return nullptr;
}

}  // namespace

Status write_rows(Rewriter& writer) {
  const Node& node = writer.node();
  const std::string& op = node.op();
  if (op == "aten::scatter" || op == "aten::scatter_add") return scatter(writer);
  if (op == "aten::masked_scatter") return scatter_by_mask(writer);
  Write write;
  write.self = tensor(node, "self");
  if (op == "aten::index_put") {
    write.indices = tensors(node, "indices");
    write.values = tensor(node, "values");
    write.adds = flag(node, "accumulate");
    return put(writer, write);
  }
  write.indices.assign(at(wrapped(integer(node, "dim", 0), rank_of(write.self))), nullptr);
  write.indices.push_back(tensor(node, "index"));
  write.adds = op == "aten::index_add";
  const Attribute* alpha = node.find("alpha");
  const bool scaled =
      alpha != nullptr && !(std::holds_alternative<std::int64_t>(*alpha) && std::get<std::int64_t>(*alpha) == 1);
  if (scaled) return unimplemented("it scales what it adds");
  write.values = op == "aten::index_fill" ? fill_value(writer, write.self->dtype()) : tensor(node, "source");
  if (write.values == nullptr) return unimplemented("it writes what is no number");
  return put(writer, write);
}

}  // namespace leapp::graph::masks
