// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/geometry.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace leapp::capture {

std::int64_t Geometry::element_count() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Geometry::end_byte() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return byte_offset;
    last += (sizes[i] - 1) * strides[i];
  }
  return byte_offset + (last + 1) * item_size();
}

std::vector<std::int64_t> Geometry::order() const {
  std::vector<std::int64_t> dims(sizes.size());
  std::iota(dims.begin(), dims.end(), 0);
  // A dimension of one element has no meaningful stride and may stand anywhere.
  const auto key = [&](std::int64_t dim) {
    return sizes[dim] == 1 ? std::numeric_limits<std::int64_t>::max() : strides[dim];
  };
  std::stable_sort(dims.begin(), dims.end(), [&](std::int64_t a, std::int64_t b) { return key(a) > key(b); });
  return dims;
}

bool Geometry::row_major() const {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

bool Geometry::covers(std::int64_t range_bytes) const {
  const std::int64_t count = element_count();
  if (byte_offset != 0 || count * item_size() != range_bytes) return false;
  if (count > 0 && row_major()) return true;
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) dims.emplace_back(strides[i], sizes[i]);
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

namespace {

std::int64_t offset_of(const at::Tensor& tensor, std::uintptr_t range_begin) {
  const auto base = reinterpret_cast<std::uintptr_t>(tensor.storage().data());
  return static_cast<std::int64_t>(base - range_begin) +
         tensor.storage_offset() * static_cast<std::int64_t>(tensor.itemsize());
}

}  // namespace

Geometry geometry_of(const at::Tensor& tensor, std::uintptr_t range_begin) {
  return {.sizes = c10::DimVector(tensor.sizes()),
          .strides = c10::DimVector(tensor.strides()),
          .byte_offset = offset_of(tensor, range_begin),
          .dtype = tensor.scalar_type(),
          .conjugated = tensor.is_conj(),
          .negated = tensor.is_neg()};
}

bool lies_at(const at::Tensor& tensor, std::uintptr_t range_begin, const Geometry& place) {
  return offset_of(tensor, range_begin) == place.byte_offset && tensor.scalar_type() == place.dtype &&
         tensor.sizes() == c10::IntArrayRef(place.sizes) && tensor.strides() == c10::IntArrayRef(place.strides) &&
         tensor.is_conj() == place.conjugated && tensor.is_neg() == place.negated;
}

}  // namespace leapp::capture
