// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The bundle as a robot would run it, state and all, over the passes that were kept.
#pragma once

#include "exporter/validate/checks.h"
#include "exporter/validate/recorded_passes.h"

namespace leapp::exporter {

/// Runs the recorded passes, in order and from the exported state, and compares every output and every state with what
/// the program had. Where the program itself set a state between two passes (a reset), the pipeline's is set too.
/// "skipped", with the reason, when there is nothing that could be run.
[[nodiscard]] PipelineCheck check_bundle(const BundleReplay& replay);

}  // namespace leapp::exporter
