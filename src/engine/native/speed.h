// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a plan is faster than ONNX Runtime, told from the plan alone: the same model gets the same answer wherever
// and whenever it is loaded.
#pragma once

#include <cstddef>
#include <string>

#include "engine/native/plan.h"

namespace leapp::native {

/// One thread, nanoseconds.
struct Speed {
  double saved = 0;     ///< ONNX Runtime's own work around each node of the model, which there is none of here
  double lost = 0;      ///< by kernels that are slower than ONNX Runtime's, less what faster ones gain
  double work = 0;      ///< what products of matrices take in either
  std::string slowest;  ///< the node that loses most: "ConvTranspose \"deconv\""; empty: none does
  double most = 0;      ///< what that one loses

  /// As fast, to what can be measured, will do: a step that allocates nothing is worth more than that.
  [[nodiscard]] bool wins() const { return lost <= saved + 0.05 * work; }
};

/// `nodes`: how many the model has. bench/operators.py measures what the numbers behind it are made from.
[[nodiscard]] Speed compare_speed(const Plan& plan, std::size_t nodes);

}  // namespace leapp::native
