// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "graph/text.h"

/// Any text ends in an error, or in a graph that is printed and parsed again to the same text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = leapp::graph::parse({reinterpret_cast<const char*>(data), size});
  if (!graph.ok()) return 0;
  const std::string text = leapp::graph::print(graph.value());
  const auto again = leapp::graph::parse(text);
  if (!again.ok() || leapp::graph::print(again.value()) != text) std::abort();
  return 0;
}
