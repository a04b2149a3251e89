// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "graph/passes/strided.h"

namespace leapp::graph {

/// One dimension of a geometry that names more than one element.
struct StridedDim {
  std::int64_t size = 1;
  std::int64_t stride = 0;
};

/// The dimensions of `view` that matter, largest stride first, with those joined that are one run of memory.
[[nodiscard]] std::vector<StridedDim> joined_by_stride(const Strided& view);

/// The steps that narrow a row-major value of shape `base` down to the elements `target` names, in the order they have
/// in `base`. One alternative for each way to treat a dimension of which one index is left: select it away or keep it
/// with extent 1. Empty when the elements do not lie along the dimensions and diagonals of `base`.
/// REQUIRES: target has no stride 0 with an extent above 1, and elements.
[[nodiscard]] std::vector<std::vector<ViewStep>> narrow(const Shape& base, const Strided& target);

/// The steps that put the dimensions of `from` into the order and shape of `to`, which names the same elements.
[[nodiscard]] std::optional<std::vector<ViewStep>> rearrange(const Strided& from, const Strided& to);

}  // namespace leapp::graph
