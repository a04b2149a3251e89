// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/tensor_view.h"
#include "runtime/pipeline/buffers.h"
#include "runtime/pipeline/plan.h"

namespace leapp::runtime {

/// What a caller holds of a pipeline: the inputs' and outputs' names, types and memory. It outlives the bundle that it
/// was made for: one that is swapped in later (fresh.h) works on the same.
struct PortTable {
  struct End {
    std::string name;  ///< "node/port"
    DType dtype = DType::kFloat32;
    std::vector<std::int64_t> shape;
    std::byte* data = nullptr;

    [[nodiscard]] TensorView view() const { return {data, dtype, shape}; }
  };

  static std::shared_ptr<const PortTable> make(const PipelinePlan& plan, const Buffers& buffers);

  /// The one of that name. Null when there is none.
  [[nodiscard]] static const End* find(const std::vector<End>& ends, std::string_view name);
  /// The one of that name, or of name + "_in": state that a model calls X is written X_in in some files.
  [[nodiscard]] const End* find_input(std::string_view name) const;

  std::vector<End> inputs;
  std::vector<End> outputs;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::shared_ptr<void> memory;  ///< that of the buffers, which the ends point into
};

}  // namespace leapp::runtime
