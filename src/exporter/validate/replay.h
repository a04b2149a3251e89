// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <unordered_map>

#include "exporter/validate/numbers/compare.h"
#include "graph/graph.h"
#include "graph/passes/fold_constants.h"

namespace leapp::exporter {

/// Runs a captured graph one operator at a time and lets go of what no later operator needs. Values that cannot be
/// computed again (random ones, and what depends on them) are absent.
class GraphReplay {
 public:
  /// `inputs` in the order of the graph's. The graph must outlive this.
  GraphReplay(const graph::Graph& graph, const Values& inputs, graph::Evaluator evaluate);

  [[nodiscard]] bool done() const { return next_ == graph_.nodes().end(); }
  /// The operator that step() will run. REQUIRES: !done().
  [[nodiscard]] const graph::Node& next() const { return **next_; }
  /// Its results. REQUIRES: !done().
  Values step();

  /// The results of next() if another evaluator ran it; nothing where it cannot. REQUIRES: !done().
  [[nodiscard]] std::optional<std::vector<graph::Constant>> results_with(const graph::Evaluator& evaluate) const {
    return run(next(), evaluate);
  }
  /// From now on this result of the operator that ran last is something else.
  void put(const graph::Value* result, graph::Constant content) {
    if (uses_left_.contains(result)) values_.insert_or_assign(result, std::move(content));
  }
  /// Forgets it: what depends on it is absent.
  void forget(const graph::Value* result) { values_.erase(result); }

  /// What an output of the graph is. REQUIRES: done(), or the value was never computed by an operator.
  [[nodiscard]] std::optional<graph::Constant> output(std::size_t index) const;

 private:
  [[nodiscard]] std::optional<graph::Constant> value(const graph::Value* value) const;
  [[nodiscard]] std::optional<std::vector<graph::Constant>> run(const graph::Node& node,
                                                                const graph::Evaluator& evaluate) const;
  void release(const graph::Node& node);

  const graph::Graph& graph_;
  graph::Evaluator evaluate_;
  std::list<std::unique_ptr<graph::Node>>::const_iterator next_;
  std::unordered_map<const graph::Value*, graph::Constant> values_;
  std::unordered_map<const graph::Value*, std::size_t> uses_left_;
};

}  // namespace leapp::exporter
