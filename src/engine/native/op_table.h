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
using LowerFunction = void (*)(Lowering& b);

struct LowerEntry {
  std::string_view name;  ///< of the default domain
  LowerFunction handler = nullptr;
  std::int32_t detail = 0;  ///< for handlers that serve many operators: which of them
  bool fold = true;         ///< may run when loading if its inputs are known
};

using LowerEntries = std::span<const LowerEntry>;

/// The rows of each family: ops/<family>.cpp.
[[nodiscard]] LowerEntries elementwise_ops();
[[nodiscard]] LowerEntries casting_ops();
[[nodiscard]] LowerEntries matrix_ops();
[[nodiscard]] LowerEntries shape_ops();
[[nodiscard]] LowerEntries layout_ops();
[[nodiscard]] LowerEntries indexing_ops();
[[nodiscard]] LowerEntries scatter_ops();
[[nodiscard]] LowerEntries reduction_ops();
[[nodiscard]] LowerEntries ordering_ops();
[[nodiscard]] LowerEntries normalisation_ops();
[[nodiscard]] LowerEntries convolution_ops();
[[nodiscard]] LowerEntries pooling_ops();
[[nodiscard]] LowerEntries sampling_ops();
[[nodiscard]] LowerEntries recurrent_ops();
[[nodiscard]] LowerEntries control_ops();

/// The row of an operator of the default domain, or nullptr. Any thread.
[[nodiscard]] const LowerEntry* find_lowering(std::string_view name);

}  // namespace leapp::native
