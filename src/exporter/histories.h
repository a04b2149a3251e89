// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/log.h"
#include "exporter/prepare.h"
#include "leapp/bundle/spec.h"

namespace leapp::exporter {

/// Finds the states that are histories of what the caller gives, or that the program says are, and writes it to their
/// ports (bundle/history.h). Fails when what the program says cannot be. REQUIRES: `spec` describes `nodes`.
Status add_histories(const std::vector<PreparedNode>& nodes, const capture::CaptureResult::Resets& declared,
                     bundle::BundleSpec& spec, Logger& log);

}  // namespace leapp::exporter
