// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// How frames stand in a history.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace leapp::graph {

/// Along one axis, from `start` to `stop`: groups of `frames` frames of `size` places each. In every step a frame moves
/// by one, and a new one takes the free place at the end (or at the beginning). No axis: the state is one frame.
struct FrameLayout {
  std::optional<std::size_t> axis;
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::int64_t frames = 1;
  std::int64_t size = 1;
  bool newest_first = false;
  bool operator==(const FrameLayout&) const = default;
};

/// Of each element of a state's next value: the place in the state it is a copy of, or one of these.
inline constexpr std::int64_t kNew = -1;    ///< it is not taken from the state
inline constexpr std::int64_t kOther = -2;  ///< what it is does not matter: it belongs to no history

/// The parts of a state of `shape` that are shifted, and those that are replaced as a whole. Empty: none.
[[nodiscard]] std::vector<FrameLayout> find_frames(const Shape& shape, const std::vector<std::int64_t>& next);

/// The places of the newest frame of a part, in row-major order.
[[nodiscard]] std::vector<std::int64_t> newest_frame(const Shape& shape, const FrameLayout& layout);

}  // namespace leapp::graph
