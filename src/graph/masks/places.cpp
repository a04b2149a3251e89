// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/masks/places.h"

#include <algorithm>
#include <set>

#include "graph/masks/sources.h"

namespace leapp::graph::masks {
namespace {

class Reader {
 public:
  Reader(Rewriter& writer, Value* self, std::optional<std::int64_t> length)
      : writer_(writer), self_(self), length_(length) {}

  Status add(Value* index) {
    if (index == nullptr) {
      ++dim_;
      return {};
    }
    const MaskedRows* of = writer_.rows(index);
    if (!is_mask(index)) {
      IndexPlace place{.dim = dim_++, .shape = index->shape()};
      of != nullptr ? void(place.rows = *of) : void(place.value = index);
      places_.all.push_back(std::move(place));
      return of != nullptr ? use(*of->space) : Status();
    }
    if (of != nullptr) return add_mask_of_rows(index, *of);
    if (index->kind() == ValueKind::kConstant) return unimplemented("a fixed mask stands beside rows");
    if (index->shape().empty() || element_count(index->shape()) == 0)
      return unimplemented("there is nothing to choose from");
    RowSpace& space = writer_.space_of(index, index->shape(), length_);
    for (std::size_t column = 0; column < index->shape().size(); ++column) {
      places_.all.push_back({.dim = dim_++,
                             .rows = {.space = &space, .dense = writer_.column(space, column), .column = column},
                             .shape = {space.length}});
    }
    return use(space);
  }

  Result<MaskPlaces> finish() {
    for (const IndexPlace& place : places_.all) places_.rank = std::max(places_.rank, std::ssize(place.shape));
    for (const IndexPlace& place : places_.all) {
      if (place.value != nullptr) continue;
      const std::int64_t here = place.rows.axis + places_.rank - std::ssize(place.shape);
      if (places_.row_dim >= 0 && places_.row_dim != here) return unimplemented("it combines every row with every row");
      places_.row_dim = here;
    }
    for (IndexPlace& place : places_.all) {
      const auto& column = place.rows.column;
      place.in_range =
          place.value == nullptr && column && place.rows.space->frame[*column] <= size_at(self_, place.dim);
    }
    const auto& all = places_.all;
    const bool together = all.back().dim - all.front().dim == std::ssize(all) - 1;
    places_.start = together ? all.front().dim : 0;
    places_.result_rank = rank_of(self_) - std::ssize(all) + places_.rank;
    return std::move(places_);
  }

 private:
  Status add_mask_of_rows(Value* index, const MaskedRows& of) {
    const MaskedRows* from = writer_.rows(self_);
    const bool own = from != nullptr && from->space == of.space && from->axis == dim_ && rank_of(index) == 1;
    if (!own) return unimplemented("it chooses single elements of rows");
    RowSpace& space = writer_.space_within(index, length_);
    places_.all.push_back({.dim = dim_++,
                           .rows = {.space = &space, .dense = writer_.rank(*of.space), .rank_in = of.space},
                           .shape = {space.length}});
    return use(space);
  }

  Status use(RowSpace& space) {
    if (places_.space != nullptr && places_.space != &space)
      return unimplemented("it combines rows that different masks chose");
    places_.space = &space;
    return {};
  }

  Rewriter& writer_;
  Value* self_;
  std::optional<std::int64_t> length_;
  std::int64_t dim_ = 0;
  MaskPlaces places_;
};

}  // namespace

bool MaskPlaces::names(std::int64_t dim) const {
  return std::any_of(all.begin(), all.end(), [&](const IndexPlace& place) { return place.dim == dim; });
}

std::int64_t MaskPlaces::result_dim(std::int64_t dim) const {
  const auto before = std::count_if(all.begin(), all.end(), [&](const IndexPlace& place) { return place.dim < dim; });
  const std::int64_t rest = dim - before;
  return rest < start ? rest : rest + rank;
}

Result<MaskPlaces> places_of(Rewriter& writer, Value* self, const std::vector<Value*>& indices,
                             std::optional<std::int64_t> length) {
  Reader reader(writer, self, length);
  for (Value* index : indices) LEAPP_RETURN_IF_ERROR(reader.add(index));
  return reader.finish();
}

Result<std::vector<Value*>> dense_indices(Rewriter& writer, const MaskPlaces& places, const Value* dense_self) {
  std::vector<Value*> indices(at(places.all.back().dim + 1), nullptr);
  for (const IndexPlace& place : places.all) {
    Value*& index = indices[at(place.dim)];
    if (place.value != nullptr) {
      index = place.value;
      if (places.space == nullptr) continue;
      const std::int64_t dim = places.row_dim - (places.rank - std::ssize(place.shape));
      LEAPP_ASSIGN_OR_RETURN(index, writer.beside(place.value, dim, *places.space));
      continue;
    }
    const std::int64_t size = size_at(dense_self, place.dim);
    if (size == 0) return unimplemented("there is nothing to choose from");
    index = place.in_range ? place.rows.dense : writer.filled(place.rows, 0);
  }
  return indices;
}

void look_into_own_row(Rewriter& writer, IndexPlace& own) {
  const RowSpace& space = *own.rows.space;
  own.rows.dense =
      writer.reshape(writer.own_row(space), with_rows(Shape(own.shape.size(), 1), own.rows.axis, space.count));
  own.in_range = true;
}

bool covers_frame(const MaskPlaces& places, const Value* self) {
  if (places.space == nullptr || places.all.size() != places.space->frame.size() || places.rank != 1) return false;
  for (std::size_t i = 0; i < places.all.size(); ++i) {
    const IndexPlace& place = places.all[i];
    if (place.value != nullptr || place.rows.column != i || place.shape.size() != 1) return false;
    if (place.dim != places.all[0].dim + static_cast<std::int64_t>(i)) return false;
    if (size_at(self, place.dim) != places.space->frame[i]) return false;
  }
  return true;
}

}  // namespace leapp::graph::masks
