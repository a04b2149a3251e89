// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins the numbers with what capture knows: one finding a problem.
#pragma once

#include <vector>

#include "exporter/validate/report/report.h"

namespace leapp::exporter {

/// What capture saw, by how well it would explain a difference.
enum class Weight {
  kDiffers,   ///< was not the same in every call: fails its node when its samples differ, or cannot tell
  kExplains,  ///< worth knowing, and a likely cause when the node's samples differ
  kSuspect,   ///< harmless in most programs: only said when nothing better explains a difference
  kNote,      ///< worth knowing, but no cause
};

struct Suspect {
  Weight weight = Weight::kNote;
  Finding finding;
};

/// Sorted: those that fail first, then in the order of the nodes. Marks nodes of `validation` that fail because of what
/// capture saw, or because the whole pipeline differs, as failed.
[[nodiscard]] std::vector<Finding> join_findings(Validation& validation, const std::vector<Suspect>& suspects);

}  // namespace leapp::exporter
