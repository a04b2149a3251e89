// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/path_choice.h"

#include <algorithm>
#include <utility>

namespace leapp::capture {
namespace {

/// The value that `choice` gives on a path; null: it asks what was not asked there.
ValuePtr value_on(const PathChoice& choice, const PathAnswers& path) {
  const PathChoice* at = &choice;
  while (!at->is_value()) {
    const std::optional<bool> answer = path.answer(at->condition);
    if (!answer) return nullptr;
    at = (*answer ? at->yes : at->no).get();
  }
  return at->value;
}

/// Whether nothing but `fork` was answered differently, of what both were asked.
bool differ_alone(const PathAnswers& a, const PathAnswers& b, const ValuePtr& fork) {
  for (std::size_t i = 0; i < a.conditions.size(); ++i) {
    if (a.guards[i].either || a.conditions[i] == fork) continue;
    // Mostly they come to the same guards in the same order.
    const bool aligned = i < b.conditions.size() && b.conditions[i] == a.conditions[i] && !b.guards[i].either;
    const std::optional<bool> other = aligned ? b.guards[i].taken : b.answer(a.conditions[i]);
    if (other && *other != a.guards[i].taken) return false;
  }
  return true;
}

/// Whether the value changes where `fork` alone does; nothing: it never was alone.
std::optional<bool> changed_alone(const ValuePtr& fork, const std::vector<std::size_t>& yes,
                                  const std::vector<std::size_t>& no, const std::vector<ValuePtr>& values,
                                  const std::vector<PathAnswers>& answers) {
  std::optional<bool> changed;
  for (const std::size_t a : yes) {
    for (const std::size_t b : no) {
      const bool known = changed == true || (changed == false && values[a] == values[b]);
      if (!known && differ_alone(answers[a], answers[b], fork)) changed = values[a] != values[b];
    }
  }
  return changed;
}

std::pair<std::vector<std::size_t>, std::vector<std::size_t>> paths_by_answer(const ValuePtr& condition,
                                                                              const std::vector<PathAnswers>& answers) {
  std::pair<std::vector<std::size_t>, std::vector<std::size_t>> found;
  for (std::size_t path = 0; path < answers.size(); ++path) {
    const std::optional<bool> answer = answers[path].answer(condition);
    if (answer) (*answer ? found.first : found.second).push_back(path);
  }
  return found;
}

/// A choice, and the paths it is between.
struct Branch {
  ChoicePtr choice;
  std::vector<std::size_t> paths;
};

}  // namespace

std::optional<bool> PathAnswers::answer(const ValuePtr& condition) const {
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i] == condition && !guards[i].either) return guards[i].taken;
  }
  return std::nullopt;
}

ChoicePtr choose(const DecisionTree& tree, const std::vector<ValuePtr>& values, const std::vector<PathAnswers>& answers,
                 std::vector<PathGuard>* unproven) {
  const auto proven = [&](const ValuePtr& fork, const Branch& yes, const Branch& no) {
    const std::optional<bool> here = changed_alone(fork, yes.paths, no.paths, values, answers);
    if (here) return !*here;
    const auto [asked, denied] = paths_by_answer(fork, answers);
    return changed_alone(fork, asked, denied, values, answers) == false;
  };
  const auto holds = [&](const PathChoice& choice, const std::vector<std::size_t>& paths) {
    for (const std::size_t path : paths) {
      if (value_on(choice, answers[path]) != values[path]) return false;
    }
    return true;
  };
  const auto leaf = [&](std::size_t path) {
    auto made = std::make_shared<PathChoice>();
    made->value = values[path];
    return Branch{std::move(made), {path}};
  };
  const auto fork = [&](std::size_t path, std::size_t guard, const Branch& yes, const Branch& no) {
    Branch both{nullptr, yes.paths};
    both.paths.insert(both.paths.end(), no.paths.begin(), no.paths.end());
    if (holds(*yes.choice, no.paths)) {
      both.choice = yes.choice;
    } else if (holds(*no.choice, yes.paths)) {
      both.choice = no.choice;
    } else {
      both.choice = std::make_shared<PathChoice>(PathChoice{.value = nullptr,
                                                            .condition = answers[path].conditions[guard],
                                                            .location = answers[path].guards[guard].location(),
                                                            .yes = yes.choice,
                                                            .no = no.choice});
      return both;
    }
    const ValuePtr& condition = answers[path].conditions[guard];
    if (unproven && !proven(condition, yes, no)) unproven->push_back({path, guard});
    return both;
  };
  ChoicePtr choice = tree.fold<Branch>(leaf, fork).choice;
  if (unproven && choice->is_value()) unproven->clear();  // the same on all ways
  return choice;
}

bool decides(const PathChoice& choice, const ValuePtr& condition, const PathAnswers* path) {
  if (choice.is_value()) return false;
  if (choice.condition == condition) return true;
  const std::optional<bool> answer = path ? path->answer(choice.condition) : std::nullopt;
  return (answer != false && decides(*choice.yes, condition, path)) ||
         (answer != true && decides(*choice.no, condition, path));
}

ValuePtr emit(const PathChoice& choice, TraceBuilder& builder) {
  if (choice.is_value()) return choice.value;
  const ValuePtr yes = emit(*choice.yes, builder);
  const ValuePtr no = emit(*choice.no, builder);
  builder.set_current(nullptr, choice.location);
  return builder.where(choice.condition, yes, no);
}

}  // namespace leapp::capture
