// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "capture/recorder/geometry.h"
#include "capture/trace/trace.h"

namespace leapp::capture {

/// What was done to a memory: who made it, what was written to it and what nodes took as their input, since the first
/// of the calls that are open began.
class MemoryUse {
 public:
  [[nodiscard]] const std::vector<Geometry>& writes() const { return writes_; }
  [[nodiscard]] const std::vector<Geometry>& inputs() const { return inputs_; }
  void note_write(const Geometry& place) { writes_.push_back(place); }
  void note_input(const Geometry& place) { inputs_.push_back(place); }
  /// Whether an input of a node lies there, or partly so.
  [[nodiscard]] bool has_input_at(const Geometry& place) const;
  /// Whether a node has written to anything that was read with `cell`. REQUIRES: it was read from this memory, which
  /// has `bytes`.
  [[nodiscard]] bool changed(const ConstantCell& cell, std::int64_t bytes) const;

  /// The memory was allocated while a node was open: what it held before is nobody's state.
  void note_birth() { born_in_node_ = born_in_call_ = undefined_ = true; }
  /// What lies there is content, wherever it came from.
  void note_content() { undefined_ = false; }
  [[nodiscard]] bool born_in_node() const { return born_in_node_; }
  [[nodiscard]] bool born_in_call() const { return born_in_call_; }
  /// What no value covers was never written: it may be anything.
  [[nodiscard]] bool undefined() const { return undefined_ && born_in_call_; }

  /// Whether a node that is about to write is the first to do so, in memory that it has not made.
  [[nodiscard]] bool is_first_write() const { return !written_ && !born_in_node_; }
  void note_node_writes() { written_ = true; }
  /// A node has written to it that had not made it.
  [[nodiscard]] bool kept() const { return kept_; }
  void note_kept() { kept_ = true; }

  /// No call is open any more, or the first one opens.
  void begin();
  /// Another memory turns out to be the same, or both to be parts of one.
  void absorb(const MemoryUse& other);
  /// The range begins `bytes` earlier.
  void shift(std::int64_t bytes);

 private:
  std::vector<Geometry> writes_;
  std::vector<Geometry> inputs_;
  bool written_ = false;
  bool born_in_node_ = false;
  bool born_in_call_ = false;
  bool undefined_ = false;
  bool kept_ = false;
};

}  // namespace leapp::capture
