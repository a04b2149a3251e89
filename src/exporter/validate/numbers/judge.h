// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a difference is rounding: asked when the user gave no tolerance and a model is not plainly equal.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "exporter/validate/numbers/rounding.h"

namespace leapp::exporter {

/// What outputs are in all runs of a graph, or of several.
struct RoundingRuns {
  std::vector<Runs> outputs;  ///< those that are not known are absent
  std::vector<CloseDecision> decisions;
};

/// Runs what is compared when it is asked, not before.
class RoundingJudge {
 public:
  RoundingJudge() = default;
  RoundingJudge(const RoundingJudge&) = delete;
  RoundingJudge& operator=(const RoundingJudge&) = delete;
  virtual ~RoundingJudge() = default;

  /// All runs decide as the program did.
  virtual const RoundingRuns& alike() = 0;
  /// Each run decides for itself.
  virtual const RoundingRuns& free() = 0;
};

using RoundingDeadline = std::chrono::steady_clock::time_point;

/// The outputs of a whole graph; none when it takes too long.
[[nodiscard]] RoundingRuns run_rounding(const graph::Graph& graph, const std::vector<Runs>& inputs,
                                        const Evaluators& evaluators, RoundingOptions options,
                                        RoundingDeadline deadline);

/// Of one node in one sample.
class SampleJudge final : public RoundingJudge {
 public:
  SampleJudge(const graph::Graph& graph, const Values& inputs, Evaluators evaluators, RoundingDeadline deadline);
  const RoundingRuns& alike() override { return run(alike_, {.decide_alike = true}); }
  const RoundingRuns& free() override { return run(free_, {.decide_alike = false}); }

 private:
  const RoundingRuns& run(std::optional<RoundingRuns>& runs, RoundingOptions options);

  const graph::Graph& graph_;
  std::vector<Runs> inputs_;
  Evaluators evaluators_;
  RoundingDeadline deadline_;
  std::optional<RoundingRuns> alike_;
  std::optional<RoundingRuns> free_;
};

/// What a judge says of one output.
struct RoundingVerdict {
  enum class Kind {
    kRounding,   ///< the difference is rounding
    kDecision,   ///< it is that of a decision which hangs on the last digit
    kDifferent,  ///< neither
    kUnknown     ///< nobody can tell
  };
  Kind kind = Kind::kUnknown;
  Difference difference;  ///< by what is beyond rounding; kUnknown: beyond the usual tolerance of the type
  std::string words;      ///< what rounding can do there, and where decisions are close; may be empty
};

/// REQUIRES: both have the same type and are no NaN.
[[nodiscard]] RoundingVerdict judge_output(const graph::Constant& found, const graph::Constant& expected,
                                           RoundingJudge* judge, std::size_t output);

}  // namespace leapp::exporter
