// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/decision_tree.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace leapp::capture {
namespace {

/// The first guard before `end` at which the two went different ways; nothing: there is none that both came to.
std::optional<std::size_t> fork_of(const std::vector<BranchCondition>& a, const std::vector<BranchCondition>& b,
                                   std::size_t end) {
  const std::size_t common = std::min({a.size(), b.size(), end});
  for (std::size_t i = 0; i < common; ++i) {
    if (!same_question(a[i], b[i])) return std::nullopt;
    if (a[i].either || b[i].either || a[i].taken == b[i].taken) continue;
    return i;
  }
  return std::nullopt;
}

}  // namespace

bool DecisionTree::add(std::size_t path, const std::vector<BranchCondition>& guards) {
  if (guards_.size() <= path) guards_.resize(path + 1);
  guards_[path] = guards;
  return add_at(root_, path, guards);
}

bool DecisionTree::forks(std::size_t path, std::size_t guard) const {
  for (const Tree* at = root_.get(); !at->is_leaf();) {
    if (at->guard == guard) return true;
    at = (guards_[path][at->guard].taken ? at->yes : at->no).get();
  }
  return false;
}

bool DecisionTree::add_at(std::unique_ptr<Tree>& place, std::size_t path, const std::vector<BranchCondition>& guards) {
  if (!place) {
    place = std::make_unique<Tree>();
    place->path = path;
    return true;
  }
  const std::vector<BranchCondition>& known = guards_[place->path];
  const std::size_t end = place->is_leaf() ? std::max(known.size(), guards.size()) : place->guard;
  if (const auto fork = fork_of(known, guards, end)) {
    auto made = std::make_unique<Tree>();
    made->path = place->path;
    made->guard = *fork;
    made->other = path;
    auto leaf = std::make_unique<Tree>();
    leaf->path = path;
    made->yes = std::move(guards[*fork].taken ? leaf : place);
    made->no = std::move(guards[*fork].taken ? place : leaf);
    place = std::move(made);
    return true;
  }
  if (place->is_leaf() || guards.size() <= place->guard) return false;
  const BranchCondition& decides = guards[place->guard];
  for (std::size_t i = 0; i <= place->guard; ++i) {
    if (!same_question(known[i], guards[i])) return false;
  }
  if (decides.either) return false;
  return add_at(decides.taken ? place->yes : place->no, path, guards);
}

}  // namespace leapp::capture
