// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Moving elements about: one kernel that walks two tensors with strides is transpose, slice, expand, tile, concat,
// split and pad.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/native/lowering.h"
#include "engine/native/plan.h"

namespace leapp::native {

inline constexpr int kMaxRank = 8;

/// to[i...] = from[i...] for all i below `shape`; strides and offsets in bytes. Elements are `width` bytes.
struct StridedCopy {
  const void* from = nullptr;
  void* to = nullptr;
  std::int32_t rank = 0;
  std::int32_t width = 4;
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  std::int64_t shape[kMaxRank] = {};
  std::int64_t from_stride[kMaxRank] = {};
  std::int64_t to_stride[kMaxRank] = {};
};
void strided_copy(const StridedCopy& args) noexcept;
inline constexpr Kernel kStridedCopy = kernel_of<&strided_copy>("copy");

/// `bytes` bytes one after the other; a memcpy.
struct DenseCopy {
  const void* from = nullptr;
  void* to = nullptr;
  std::int64_t bytes = 0;
};
void dense_copy(const DenseCopy& args) noexcept;
inline constexpr Kernel kDenseCopy = kernel_of<&dense_copy>("copy dense");

/// Every element becomes `pattern`.
struct Fill {
  void* to = nullptr;
  std::int64_t count = 0;
  std::int32_t width = 4;
  alignas(8) unsigned char pattern[16] = {};
};
void fill(const Fill& args) noexcept;
inline constexpr Kernel kFill = kernel_of<&fill>("fill");

/// Strides of a dense tensor, in elements.
[[nodiscard]] std::vector<std::int64_t> dense_strides(const Shape& shape);

/// A copy as it is asked for: elements, of tensors with these strides.
struct CopyRequest {
  ValueId from = kNoValue;
  ValueId to = kNoValue;
  Shape shape;
  std::vector<std::int64_t> from_stride;
  std::vector<std::int64_t> to_stride;
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
};
/// Adds the call, with as few axes as it takes. `whole`: it writes all of `to`. Nothing for an empty tensor.
void add_copy(Lowering& b, const CopyRequest& request, bool whole = true);
/// All of `from` to `to`, which has as many bytes.
void copy_bytes(Lowering& b, ValueId from, ValueId to);
/// `from` broadcast to `shape`; itself when it has that shape.
[[nodiscard]] ValueId expanded(Lowering& b, ValueId from, const Shape& shape);

}  // namespace leapp::native
