// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "onnx_proto/contents.h"
#include "onnx_proto/external_data.h"
#include "onnx_proto/limits.h"
#include "onnx_proto/merge.h"
#include "onnx_proto/reader.h"

/// Any bytes end in an error, or in a model that can be put beside itself and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leapp::onnx;
  const auto bytes = std::as_bytes(std::span(data, size));
  const bool walked = external_data_files(bytes).ok();
  (void)check_limits(bytes, {.tensor_bytes = 1 << 20});
  const auto model = read_model(bytes);
  if (!model.ok()) return 0;
  (void)count_operators(model.value());
  Merger merger;
  for (const char* prefix : {"a/", "b/"}) {
    const Renaming renaming{.prefix = prefix, .values = {{"x", "c/x"}}, .functions = model.value().functions};
    if (!merger.add(model.value(), renaming, {"x"}).ok()) return 0;
  }
  const std::string merged = std::move(merger).take("fuzz").text();
  const auto again = read_model(std::as_bytes(std::span(merged)));
  if (!again.ok()) std::abort();
  if (again.value().graph.nodes.size() != 2 * model.value().graph.nodes.size()) std::abort();
  if (again.value().functions.size() != 2 * model.value().functions.size()) std::abort();
  if (walked && !external_data_files(std::as_bytes(std::span(merged))).ok()) std::abort();
  return 0;
}
