// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "inspect/opened_bundle.h"
#include "inspect/spec_json.h"
#include "leapp/runtime/options.h"

namespace leapp::inspect {

/// A bundle on LEAPP's own engine beside ONNX Runtime.
struct EngineComparison {
  bool compared = false;
  std::string why_not;        ///< one of them cannot run it, or is not there
  std::size_t operators = 0;  ///< so many that they were not compared; 0: that was not the reason
  std::size_t steps = 0;      ///< that agree
  double largest = 0;         ///< |difference| over all of these
  std::string port;           ///< where they differ first; empty: nowhere
  std::string difference;     ///< what each gives there
};

/// Steps both with the same made-up inputs, from the exported state, and compares outputs and state.
[[nodiscard]] EngineComparison compare_engines(const OpenedBundle& opened, const runtime::LoadOptions& options);

[[nodiscard]] std::string comparison_text(const EngineComparison& comparison);
[[nodiscard]] Json comparison_json(const EngineComparison& comparison);

}  // namespace leapp::inspect
