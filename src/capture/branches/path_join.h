// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The traces of several paths become one.
//
// What paths compute alike is computed once (value_numbers.h). An output, or the next value of a state, is chosen
// between what the paths give, by the values that decided which way a call went (path_choice.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capture/branches/decision_tree.h"
#include "capture/branches/path_choice.h"
#include "capture/branches/state_slots.h"
#include "capture/trace/trace_builder.h"
#include "capture/trace/value_numbers.h"

namespace leapp::capture {

/// Where operators stand that join what programs computed: after all of theirs.
inline constexpr std::uint64_t kAfterPaths = std::uint64_t{1} << 48U;

class PathJoin {
 public:
  /// A guard that a choice was made without, although with it the paths are explained as well; and what was chosen.
  using Unproven = std::pair<PathGuard, std::string>;

  /// `node` is the record that they are joined in. REQUIRES: `tree` decides between all of `paths`; the operators of
  /// `builder` are numbered from kAfterPaths on. All outlive this.
  PathJoin(NodeRecord& node, const std::vector<NodeRecord*>& paths, const DecisionTree& tree,
           const std::vector<StateSlot>& slots, TraceBuilder& builder);

  /// Gives the node's outputs what the paths give.
  void join_outputs();
  /// The state with what the paths leave in it. REQUIRES: the slot is the node's own, and the outputs are joined.
  [[nodiscard]] Leak join_state(StateSlot slot);

  [[nodiscard]] const NodeRecord& node() const { return node_; }
  [[nodiscard]] const std::vector<NodeRecord*>& paths() const { return paths_; }
  [[nodiscard]] const DecisionTree& tree() const { return tree_; }
  [[nodiscard]] const std::map<Use, std::string>& states() const { return states_; }
  [[nodiscard]] const std::vector<PathAnswers>& answers() const { return answers_; }  ///< by path
  [[nodiscard]] const std::vector<ChoicePtr>& choices() const { return choices_; }
  [[nodiscard]] const std::vector<Unproven>& unproven() const { return unproven_; }

 private:
  ValuePtr stands_for(const ValuePtr& value);
  ValuePtr shaped(const ValuePtr& value, const Leak& leak);
  const PathChoice& choose_between(const std::vector<ValuePtr>& values, const std::string& what);
  Leak join(Leak leak, const PathChoice& choice, const ValuePtr& found);

  NodeRecord& node_;
  const std::vector<NodeRecord*>& paths_;
  const DecisionTree& tree_;
  TraceBuilder& builder_;
  std::map<Use, std::string> states_;
  ValueNumbers numbers_;
  std::vector<PathAnswers> answers_;
  std::vector<ChoicePtr> choices_;
  std::vector<Unproven> unproven_;
  std::map<std::pair<ValuePtr, c10::DimVector>, ValuePtr> shaped_;
};

}  // namespace leapp::capture
