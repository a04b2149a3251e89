// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "leapp/bundle/reader.h"

/// Any bytes end in an error, or in tensors that lie in them without holes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto tensors = leapp::bundle::parse_safetensors(file);
  if (!tensors.ok() || tensors.value().empty()) return 0;
  const std::byte* next = tensors.value().front().bytes.data();
  for (const auto& tensor : tensors.value()) {
    if (tensor.bytes.data() != next) std::abort();
    next += tensor.bytes.size();
  }
  if (next != file.data() + file.size()) std::abort();
  return 0;
}
