// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What rounding alone can do to the values of a graph. The graph is run as the program ran it and, beside that, in
// float64: once for what the values would be without rounding, and some times with every rounding that happened
// replaced by a random one of its size. How far these lie apart is what another order of the same sums can do.
//
// All runs decide as the program did: whole numbers, truths and steps (floor, round) are taken from the first one, so
// that a decision which hangs on the last digit does not make everything behind it look inexact. Where a run would have
// decided otherwise, that is noted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exporter/validate/numbers/compare.h"
#include "exporter/validate/replay.h"
#include "graph/graph.h"
#include "graph/passes/fold_constants.h"

namespace leapp::exporter {

/// How operators are computed: as the program did, and in float64. Without the second there is nothing to tell.
struct Evaluators {
  graph::Evaluator plain;
  graph::Evaluator wide = {};
};

/// An operator that decides by a value which rounding moves across its limit.
struct CloseDecision {
  std::string op;
  graph::SourceLocation location;
  std::uint64_t elements = 0;  ///< that rounding decides
  std::uint64_t of = 0;
};

/// One tensor in all runs.
struct Runs {
  std::optional<graph::Constant> plain = {};  ///< absent: not known
  std::vector<graph::Constant> wide = {};     ///< the exact one first; empty: all are as `plain`
};

struct RoundingOptions {
  bool decide_alike = true;  ///< false: each run decides for itself
};

/// Runs a graph in all these ways, one operator at a time.
class RoundingReplay {
 public:
  /// `inputs` in the order of the graph's, which must outlive this.
  RoundingReplay(const graph::Graph& graph, const std::vector<Runs>& inputs, Evaluators evaluators,
                 RoundingOptions options = {});

  [[nodiscard]] bool done() const { return plain_.done(); }
  /// The operator that step() will run. REQUIRES: !done().
  [[nodiscard]] const graph::Node& next() const { return plain_.next(); }
  /// Its results. REQUIRES: !done().
  std::vector<Runs> step();
  /// REQUIRES: done(), or the value was never computed by an operator.
  [[nodiscard]] Runs output(std::size_t index) const;
  [[nodiscard]] const std::vector<CloseDecision>& decisions() const { return decisions_; }

 private:
  void note(const graph::Node& node, std::uint64_t elements, std::uint64_t of);

  Evaluators evaluators_;
  RoundingOptions options_;
  GraphReplay plain_;
  std::vector<GraphReplay> wide_;
  std::vector<CloseDecision> decisions_;
  std::uint64_t steps_ = 0;
};

/// How far a tensor may be off by rounding alone.
struct RoundingLimits {
  std::vector<double> slack;  ///< of each element, two for a complex one; empty: not known
  double norm = 0;            ///< of the root of the sum of the squares of all differences
  double typical = 0;         ///< of the root of their mean, without a margin
};
[[nodiscard]] RoundingLimits rounding_limits(const Runs& runs);

}  // namespace leapp::exporter
