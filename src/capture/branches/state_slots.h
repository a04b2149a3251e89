// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// State that several paths of a node share.
//
// Each path knows by itself what it reads without having been told (leaks.h). Here the leaks of all paths become one
// row of slots: memory that one path writes and another only reads, an attribute that one path sets and another leaves
// alone. A slot knows its operands in every path and what every path leaves in it; a path that does not touch it leaves
// what it found.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/trace/evaluate.h"
#include "capture/trace/record.h"

namespace leapp::capture {

struct StateSlot {
  Leak leak;                       ///< its operands in all paths; what calls read and left
  bool own = false;                ///< the node itself leaves it; else another one does
  std::vector<ValuePtr> next;      ///< own: by path. Null: what was found there
  bool unknown_beginning = false;  ///< it was set before anybody read it
};

/// Where a slot is read as a whole.
[[nodiscard]] inline Geometry whole_of(const StateSlot& slot) {
  return slot.leak.memory ? slot.leak.place : Geometry();
}

/// A path that cannot be put together with others, and why.
struct UnmergeablePath {
  std::size_t path = 0;
  std::string reason;
};

struct StateSlots {
  std::vector<StateSlot> slots;
  std::optional<UnmergeablePath> odd;  ///< then there are no slots
};

class PhasePaths;

/// `paths`: of one node, in the order of their first calls.
StateSlots find_slots(const std::vector<NodeRecord*>& paths, ConstantEvaluator& evaluator);
/// The same for paths that come in turn.
StateSlots find_slots_in_turn(const std::vector<NodeRecord*>& paths, ConstantEvaluator& evaluator,
                              const PhasePaths& phases);

/// A path that reads what a node left in an earlier call, where no slot stands for it.
std::optional<UnmergeablePath> find_unexplained(const std::vector<NodeRecord*>& paths,
                                                const std::vector<StateSlot>& slots);

/// What an operand stands for, for all operands of all slots. Equal texts: the same part of the same state.
std::map<Use, std::string> operands_of(const std::vector<StateSlot>& slots);

}  // namespace leapp::capture
