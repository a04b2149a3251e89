// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Which ONNX operators the native engine runs: one row each, by family.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/native/lowering.h"

namespace leapp::native {

/// Works out the results of the current node of `b`, adds the calls that make them and binds them.
using Handler = void (*)(Lowering& b);

struct OpEntry {
  std::string_view name;  ///< of the default domain
  Handler handler = nullptr;
  std::int32_t detail = 0;  ///< for handlers that serve many operators: which of them
  bool fold = true;         ///< may run when loading if its inputs are known
};

using OpEntries = std::span<const OpEntry>;

/// The rows of each family: ops/<family>.cpp.
[[nodiscard]] OpEntries elementwise_ops();
[[nodiscard]] OpEntries casting_ops();
[[nodiscard]] OpEntries matrix_ops();
[[nodiscard]] OpEntries shape_ops();
[[nodiscard]] OpEntries layout_ops();
[[nodiscard]] OpEntries indexing_ops();
[[nodiscard]] OpEntries scatter_ops();
[[nodiscard]] OpEntries reduction_ops();
[[nodiscard]] OpEntries ordering_ops();
[[nodiscard]] OpEntries normalisation_ops();
[[nodiscard]] OpEntries convolution_ops();
[[nodiscard]] OpEntries pooling_ops();
[[nodiscard]] OpEntries sampling_ops();
[[nodiscard]] OpEntries recurrent_ops();
[[nodiscard]] OpEntries control_ops();

/// The row of an operator of the default domain, or nullptr. Any thread.
[[nodiscard]] const OpEntry* find_op(std::string_view name);

}  // namespace leapp::native
