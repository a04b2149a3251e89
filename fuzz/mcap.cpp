// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/recording/step_log_reader.h"

/// Any bytes end in an error, or in steps of which every port has as many bytes as its type says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using leapp::runtime::RecordedStep;
  using leapp::runtime::StepLogReader;
  auto recording = StepLogReader::open({reinterpret_cast<const char*>(data), size});
  if (!recording.ok()) return 0;
  const auto check = [](const auto& ports, const auto& values) {
    if (ports.size() != values.size()) std::abort();
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (values[i].size() != ports[i].codec.bytes()) std::abort();
    }
  };
  for (RecordedStep step;;) {
    const auto there = recording.value().next(step);
    if (!there.ok() || !there.value()) return 0;
    check(recording.value().inputs(), step.inputs);
    check(recording.value().outputs(), step.outputs);
    check(recording.value().states(), step.states);
    if (!step.starts.empty()) check(recording.value().states(), step.starts);
  }
}
