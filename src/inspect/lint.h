// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "inspect/findings.h"
#include "inspect/opened_bundle.h"

namespace leapp::inspect {

/// What a bundle says that is legal and still looks wrong: names that occur in several nodes, element names that do not
/// match along an edge, a kind that is used twice, inputs without a kind, ports that are not float32, gains that are
/// all zero, no frequency. REQUIRES: the wiring has no problems.
[[nodiscard]] std::vector<CheckFinding> lint(const OpenedBundle& opened);

/// What one consumer needs. The one that is known is "isaac-ros": one ONNX model in one file, float32 ports whose names
/// are unique, no axis without element names; notes say which ports hardware serves and which need a topic.
/// REQUIRES: the wiring has no problems.
[[nodiscard]] std::vector<CheckFinding> check_for_isaac_ros(const OpenedBundle& opened);

/// Whether the port is a gain: of kind "kp" or "kd", or called that.
[[nodiscard]] bool is_gain(const bundle::Port& port);

}  // namespace leapp::inspect
