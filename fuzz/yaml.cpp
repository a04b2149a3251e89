// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bundle/writer.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/reader.h"

/// Any text ends in an error, or in a spec that can be checked, written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leapp::bundle;
  const auto spec = parse_bundle({reinterpret_cast<const char*>(data), size});
  if (!spec.ok()) return 0;
  const WiringReport report = resolve_wiring(spec.value());
  if (report.problems.empty() && report.wiring.order.size() != spec.value().models.size()) std::abort();
  if (!parse_bundle(yaml_text(spec.value())).ok()) std::abort();
  return 0;
}
