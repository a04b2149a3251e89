// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/batch/batch_places.h"

#include <algorithm>
#include <set>

namespace leapp::runtime {

BatchPlaces places_of(const RowValue& value) {
  BatchPlaces places;
  if (!value.axis) return places;
  const RowPlace now{*value.axis, value.inner};
  places.free = {now};
  if (std::find(value.shape.begin(), value.shape.end(), 0) != value.shape.end()) return places;
  const std::int64_t before = before_rows(value.shape, now.axis, now.inner);
  for (const RowPlace& place : places_before(value.shape, before)) {
    if (place.axis != now.axis) places.free.push_back(place);
  }
  // From a place between two entries rows can go to any other: a reshape, a transpose and a reshape.
  std::set<std::int64_t> seen{before};
  std::int64_t elsewhere = 1;
  for (std::size_t axis = 0; axis <= value.shape.size(); ++axis) {
    if (axis > 0) elsewhere *= value.shape[axis - 1];
    if (!seen.insert(elsewhere).second) continue;
    for (const RowPlace& place : places_before(value.shape, elsewhere)) places.copied.push_back(place);
  }
  return places;
}

Ways::Ways(const std::vector<RowValue>& inputs, std::size_t most) : most_(most) {
  for (const RowValue& input : inputs) places_.push_back(places_of(input));
}

std::size_t Ways::inputs_with_rows() const {
  return static_cast<std::size_t>(
      std::count_if(places_.begin(), places_.end(), [](const BatchPlaces& one) { return !one.free.empty(); }));
}

std::vector<std::vector<RowPlace>> Ways::with_copies(std::size_t count) {
  found_.clear();
  std::vector<RowPlace> way(places_.size());
  extend(0, count, way);
  return found_;
}

void Ways::extend(std::size_t input, std::size_t copies, std::vector<RowPlace>& way) {
  if (found_.size() >= most_) return;
  if (input == places_.size()) {
    if (copies == 0) found_.push_back(way);
    return;
  }
  if (places_[input].free.empty()) extend(input + 1, copies, way);
  for (const RowPlace& place : places_[input].free) {
    way[input] = place;
    extend(input + 1, copies, way);
  }
  if (copies == 0) return;
  for (const RowPlace& place : places_[input].copied) {
    way[input] = place;
    extend(input + 1, copies - 1, way);
  }
}

}  // namespace leapp::runtime
