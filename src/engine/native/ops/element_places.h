// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/native/lowering.h"
#include "engine/native/scalar/copy.h"
#include "engine/native/scalar/gather.h"

namespace leapp::native {

/// Where each index leads along the axis that the node names: what GatherElements and ScatterElements have in common.
/// Refuses indices that do not go with `x`.
template <typename Args>
void set_element_places(Lowering& b, ValueId x, ValueId indices, Args& args) {
  const std::int64_t axis = normal_axis(b.attr_int("axis", 0), b.rank(x));
  if (b.rank(indices) != b.rank(x) || b.rank(x) > kMaxRank) refuse("indices of another rank");
  args.indices = indices_of(b, indices);
  args.rank = static_cast<std::int32_t>(b.rank(x));
  args.axis = static_cast<std::int32_t>(axis);
  args.extent = b.shape(x)[static_cast<std::size_t>(axis)];
  const auto strides = dense_strides(b.shape(x));
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (static_cast<std::int64_t>(i) != axis && b.shape(indices)[i] > b.shape(x)[i]) {
      refuse("more indices than elements");
    }
    args.shape[i] = b.shape(indices)[i];
    args.strides[i] = strides[i];
  }
}

}  // namespace leapp::native
