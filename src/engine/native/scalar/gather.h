// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing at places that data names. Each place is checked before it is used: a step with one that is out
// of range fails.
#pragma once

#include <cstdint>

#include "engine/native/lowering.h"
#include "engine/native/plan.h"
#include "engine/native/scalar/copy.h"

namespace leapp::native {

inline constexpr const char* kOutOfRange = "an index is out of range";

/// Indices of type int32 or int64, negative ones from the back.
struct Indices {
  const void* data = nullptr;
  std::int64_t count = 0;
  bool wide = true;
};

/// y[outer, i, inner] = x[outer, indices[i], inner]; `inner` in bytes.
struct GatherArgs {
  const void* x = nullptr;
  Indices indices;
  void* y = nullptr;
  std::int64_t outer = 1;
  std::int64_t extent = 0;
  std::int64_t inner = 0;
};
[[nodiscard]] bool gather(const GatherArgs& args) noexcept;
inline constexpr Kernel kGather = kernel_of<&gather>("gather", kOutOfRange);

/// GatherND and the copying half of ScatterND: rows of `depth` indices name slices of `slice` bytes.
struct GatherNdArgs {
  const void* x = nullptr;
  Indices indices;  ///< count rows, each `depth` long
  void* y = nullptr;
  std::int32_t depth = 1;
  std::int64_t extents[kMaxRank] = {};
  std::int64_t slice = 0;
  std::int64_t batch = 1;        ///< so many times, with these strides
  std::int64_t batch_bytes = 0;  ///< of x
};
[[nodiscard]] bool gather_nd(const GatherNdArgs& args) noexcept;
inline constexpr Kernel kGatherNd = kernel_of<&gather_nd>("gather nd", kOutOfRange);

/// y[i...] = x[i..., indices[i...] at `axis`, ...i]
struct GatherElementsArgs {
  const void* x = nullptr;
  Indices indices;
  void* y = nullptr;
  std::int32_t rank = 0;
  std::int32_t axis = 0;
  std::int32_t width = 4;
  std::int64_t shape[kMaxRank] = {};    ///< of the indices
  std::int64_t strides[kMaxRank] = {};  ///< of x, elements
  std::int64_t extent = 0;
};
[[nodiscard]] bool gather_elements(const GatherElementsArgs& args) noexcept;
inline constexpr Kernel kGatherElements = kernel_of<&gather_elements>("gather elements", kOutOfRange);

enum class ScatterReduction : std::int32_t { kNone, kAdd, kMul, kMax, kMin };

/// y[..., indices[i...], ...] = updates[i...]; y holds the input already.
struct ScatterElementsArgs {
  void* y = nullptr;
  Indices indices;
  const void* updates = nullptr;
  std::int32_t rank = 0;
  std::int32_t axis = 0;
  ScatterReduction reduction = ScatterReduction::kNone;
  std::int64_t shape[kMaxRank] = {};
  std::int64_t strides[kMaxRank] = {};
  std::int64_t extent = 0;
};
/// y[indices[i, :], ...] = updates[i, ...]; slices of `slice` elements.
struct ScatterNdArgs {
  void* y = nullptr;
  Indices indices;
  const void* updates = nullptr;
  std::int32_t depth = 1;
  ScatterReduction reduction = ScatterReduction::kNone;
  std::int64_t extents[kMaxRank] = {};
  std::int64_t slice = 0;
};
/// Null: no such reduction of elements of that type.
[[nodiscard]] const Kernel* scatter_elements_kernel(DType dtype, ScatterReduction reduction);
[[nodiscard]] const Kernel* scatter_nd_kernel(DType dtype, ScatterReduction reduction);

/// Index number `i`, moved into [0, extent); false when it is not there.
[[nodiscard]] inline bool place_of(const Indices& indices, std::int64_t i, std::int64_t extent,
                                   std::int64_t& place) noexcept {
  place = indices.wide ? static_cast<const std::int64_t*>(indices.data)[i]
                       : static_cast<const std::int32_t*>(indices.data)[i];
  if (place < -extent || place >= extent) return false;
  if (place < 0) place += extent;
  return true;
}

/// The indices of a node's input: int32 as they are, int64. Refuses other types.
[[nodiscard]] Indices indices_of(Lowering& b, ValueId id);
/// x at `indices` along an axis.
ValueId gathered(Lowering& b, ValueId x, ValueId indices, std::int64_t axis);

}  // namespace leapp::native
