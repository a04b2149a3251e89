// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <string>
#include <vector>

namespace leapp::exporter {

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-5;
};

/// Which sample of which node is looked at: how messages begin.
struct ComparedSample {
  std::string node;
  std::vector<std::string> outputs;  ///< names; an empty one is not compared
  std::size_t number = 0;
  Tolerance tolerance;
};

struct Comparison {
  std::string problem;                ///< empty: they agree
  std::vector<std::string> warnings;  ///< what is equal and still worth a look
};

/// Compares what an exported model gave with what the program gave: number of outputs, dtypes, shapes, NaN and
/// infinity, then |found - expected| <= atol + rtol * |expected|. Knows nothing of what ran the model.
[[nodiscard]] Comparison compare(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected,
                                 const ComparedSample& sample);

}  // namespace leapp::exporter
