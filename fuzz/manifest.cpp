// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/manifest.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Any bytes end in an error, or in a manifest whose only text they are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = leapp::bundle::parse_manifest(text);
  if (!manifest.ok()) return 0;
  if (manifest_text(manifest.value()) != text || !text.starts_with(signed_text(manifest.value()))) std::abort();
  return 0;
}
