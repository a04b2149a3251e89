// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "capture/branches/branch_conditions.h"
#include "capture/branches/decision_tree.h"

namespace leapp::capture {

/// What decided at each guard of a path, as the one value that stands for it (value_numbers.h), and the answers.
struct PathAnswers {
  std::vector<ValuePtr> conditions;
  std::vector<BranchCondition> guards;

  /// What `condition` was on this path; nothing: it was not asked.
  [[nodiscard]] std::optional<bool> answer(const ValuePtr& condition) const;
};

/// One of several values, by what decides.
struct PathChoice {
  ValuePtr value;  ///< nothing is to be decided
  ValuePtr condition;
  LocationId location = 0;
  std::shared_ptr<const PathChoice> yes;
  std::shared_ptr<const PathChoice> no;

  [[nodiscard]] bool is_value() const { return value != nullptr; }
};
using ChoicePtr = std::shared_ptr<const PathChoice>;

/// A guard of a path.
struct PathGuard {
  std::size_t path = 0;
  std::size_t guard = 0;
};

/// Between the values of the paths. A guard on which the value does not depend, as far as paths show, is left out: also
/// where one of its sides was not seen with all answers of the guards after it. `unproven`: those of them that
/// no two paths differ in alone, while other guards decide: another choice would explain the paths as well.
[[nodiscard]] ChoicePtr choose(const DecisionTree& tree, const std::vector<ValuePtr>& values,
                               const std::vector<PathAnswers>& answers, std::vector<PathGuard>* unproven = nullptr);

/// Whether `condition` decides anything in `choice`; with `path`, on the way of that path.
[[nodiscard]] bool decides(const PathChoice& choice, const ValuePtr& condition, const PathAnswers* path = nullptr);

[[nodiscard]] ValuePtr emit(const PathChoice& choice, TraceBuilder& builder);

}  // namespace leapp::capture
