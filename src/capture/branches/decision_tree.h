// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "capture/branches/branch_conditions.h"

namespace leapp::capture {

/// Which path a call takes: at each fork one guard decides, until one path is left.
class DecisionTree {
 public:
  /// False: no guard tells `path` from one that is there already; then the tree is as it was.
  bool add(std::size_t path, const std::vector<BranchCondition>& guards);

  /// `leaf(path)`, `fork(path, guard, yes, no)`: the guard of that number, of that path, decides between the two.
  template <typename T, typename Leaf, typename Fork>
  T fold(const Leaf& leaf, const Fork& fork) const {
    return fold_at<T>(*root_, leaf, fork);
  }

  /// Whether the guard of that number decides which way `path` goes.
  [[nodiscard]] bool forks(std::size_t path, std::size_t guard) const;

  /// `fork(path, guard, other)` for every fork: `other` is the path that made it one.
  template <typename Fork>
  void visit(const Fork& fork) const {
    if (root_) visit_at(*root_, fork);
  }

 private:
  struct Tree {
    std::size_t path = 0;   // a leaf's; of a fork: one of those beyond it
    std::size_t guard = 0;  // of a fork
    std::size_t other = 0;  // likewise
    std::unique_ptr<Tree> yes;
    std::unique_ptr<Tree> no;
    [[nodiscard]] bool is_leaf() const { return !yes; }
  };

  bool add_at(std::unique_ptr<Tree>& place, std::size_t path, const std::vector<BranchCondition>& guards);

  template <typename T, typename Leaf, typename Fork>
  static T fold_at(const Tree& tree, const Leaf& leaf, const Fork& fork) {
    if (tree.is_leaf()) return leaf(tree.path);
    const T yes = fold_at<T>(*tree.yes, leaf, fork);
    const T no = fold_at<T>(*tree.no, leaf, fork);
    return fork(tree.path, tree.guard, yes, no);
  }

  template <typename Fork>
  static void visit_at(const Tree& tree, const Fork& fork) {
    if (tree.is_leaf()) return;
    fork(tree.path, tree.guard, tree.other);
    visit_at(*tree.yes, fork);
    visit_at(*tree.no, fork);
  }

  std::unique_ptr<Tree> root_;
  std::vector<std::vector<BranchCondition>> guards_;  // by path
};

}  // namespace leapp::capture
