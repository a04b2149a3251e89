// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "capture/trace/record.h"
#include "exporter/prepare.h"
#include "exporter/validate/report/findings.h"

namespace leapp::exporter {

/// What capture saw in all the nodes that could make an export differ from its program: calls that were not alike,
/// values that left the graph, state and edges that were not announced, operators between nodes, random ones.
[[nodiscard]] std::vector<Suspect> find_suspects(const std::vector<PreparedNode>& nodes,
                                                 const capture::CaptureResult& recording);

}  // namespace leapp::exporter
