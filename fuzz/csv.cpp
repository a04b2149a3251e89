// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/io/csv.h"

/// Any bytes end in an error, or in as many elements as there are steps.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const leapp::cli::ArrayType kFloats{"a", leapp::DType::kFloat32, {1, 3}};
  static const leapp::cli::ArrayType kIntegers{"b", leapp::DType::kInt16, {}};
  const auto find = [](const std::string& name) -> leapp::Result<const leapp::cli::ArrayType*> {
    if (name == "a") return &kFloats;
    if (name == "b") return &kIntegers;
    if (name == "c") return nullptr;
    return leapp::not_found("no " + name);
  };
  const auto found = leapp::cli::parse_csv({reinterpret_cast<const char*>(data), size}, find);
  if (!found.ok()) return 0;
  for (const leapp::cli::Series& series : found.value()) {
    if (series.bytes.size() != series.steps * series.type->bytes()) std::abort();
  }
  return 0;
}
