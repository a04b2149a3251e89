// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the elements of a value come from, when all that operators did was to move them: slice, roll, cat, write into a
// part of another value. That is how a history is told from other state.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace leapp::graph {

/// One element of an input, of a constant, or of what an operator computed.
struct Element {
  const Value* value = nullptr;  ///< null: a number that an operator put there (padding)
  std::int64_t index = 0;        ///< in row-major order
  bool operator==(const Element&) const = default;
};

/// In row-major order.
using Elements = std::vector<Element>;

/// Looks at one graph, which must outlive it and not change. Not thread-safe.
class Origins {
 public:
  /// Values with more elements are taken as computed: following them would take too much memory.
  static constexpr std::int64_t kMost = std::int64_t{1} << 21;

  explicit Origins(const Graph& graph);

  /// REQUIRES: `value` has at most kMost elements.
  /// For each element of `value` the one it is a copy of. What moves by an index that is not constant is computed.
  const Elements& of(const Value* value);

 private:
  std::vector<const Value*> moved_above(const Value* value) const;
  void evaluate(const Value* value);
  const Elements& own(const Value* value);

  std::unordered_map<const Node*, std::size_t> position_;
  std::unordered_map<const Value*, Elements> known_;
};

/// True when `node` may be one that moves elements; it still depends on its arguments (moved).
[[nodiscard]] bool may_move(const Node& node);

/// The elements of `made`, a result of an operator, in terms of its operands' (`of` gives those). False: the operator
/// does not only move them.
using OriginsOf = std::unordered_map<const Value*, Elements>;
[[nodiscard]] bool moved(const Value& made, const OriginsOf& of, Elements& result);

}  // namespace leapp::graph
