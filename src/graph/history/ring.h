// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Histories whose update is no shift.
#pragma once

#include <optional>
#include <vector>

#include "graph/history/dependence.h"
#include "graph/history/find.h"

namespace leapp::graph {

/// A circular buffer: the next value is the state with one row, at an index that is computed, replaced by an input of
/// the caller's as it is. When all rows are equal it does not matter which one is next.
[[nodiscard]] std::optional<FoundPart> find_ring(const Stages& stages, PipelineOrigins& origins, StagePort state);

/// The ways in which a tensor like `frame` may stand in one like `state` more than once, or once.
[[nodiscard]] std::vector<FrameLayout> frames_like(const TensorType& state, const TensorType& frame);

}  // namespace leapp::graph
