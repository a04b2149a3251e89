// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Which kernels of a plan can be written as source: one row each, by family, with the C++ text that they need.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "codegen/emitter.h"

namespace leapp::codegen {

struct KernelEntry {
  std::string_view kernel;  ///< native::Kernel::name
  void (*emit)(Emitter& e, const native::KernelCall& call) = nullptr;
  bool fails = false;  ///< there is data for which it has no result
};

/// A piece of the generated file, written once if something needs it.
struct Snippet {
  std::string_view name;
  std::string_view needs;  ///< names of others, separated by spaces
  std::string_view text;
};

struct Family {
  std::span<const KernelEntry> kernels;
  std::span<const Snippet> snippets;
};

/// kernels/<family>.cpp.
[[nodiscard]] Family numbers_family();
[[nodiscard]] Family function_family();
[[nodiscard]] Family elementwise_family();
[[nodiscard]] Family scalar_family();
[[nodiscard]] Family matrix_family();
[[nodiscard]] Family convolution_family();
[[nodiscard]] Family recurrent_family();
[[nodiscard]] Family row_family();
[[nodiscard]] Family reduction_family();
[[nodiscard]] Family copy_family();
[[nodiscard]] Family gather_family();
[[nodiscard]] Family ordering_family();
[[nodiscard]] Family sampling_family();
[[nodiscard]] Family control_family();

/// The row of a kernel, or nullptr. Any thread.
[[nodiscard]] const KernelEntry* find_kernel(std::string_view name);
/// REQUIRES: there is one of that name.
[[nodiscard]] const Snippet& find_snippet(std::string_view name);
/// What the snippets and the steps call things: no other name of the file may be one of them.
[[nodiscard]] const std::set<std::string>& helper_names();

}  // namespace leapp::codegen
