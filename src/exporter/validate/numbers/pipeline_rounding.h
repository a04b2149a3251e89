// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What rounding alone can do to a pipeline over its passes: state carries it from one to the next.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exporter/validate/numbers/judge.h"
#include "exporter/validate/recorded_passes.h"

namespace leapp::exporter {

/// Runs the recorded passes in all ways of RoundingReplay, as far as it is asked.
class PipelineRounding {
 public:
  /// Both must outlive this.
  PipelineRounding(const BundleReplay& replay, const RecordedPasses& passes);

  /// An output, "node/port", and the decisions up to there. REQUIRES: no earlier pass was asked for later.
  RoundingRuns at(const std::string& output, std::size_t pass, RoundingOptions options);

 private:
  struct Course {
    std::size_t passes = 0;  // that were run
    std::map<std::string, Runs> outputs = {};
    std::vector<CloseDecision> decisions = {};
  };

  void run_pass(Course& course, RoundingOptions options);
  [[nodiscard]] std::vector<Runs> inputs_of(std::size_t node, const Course& course,
                                            const std::map<std::string, Runs>& before) const;

  const BundleReplay& replay_;
  const RecordedPasses& passes_;
  std::map<std::string, std::string> sources_;   // of inputs that get something in the same pass
  std::map<std::string, std::string> feedback_;  // of those that get what the pass before left
  Course alike_;
  Course free_;
  RoundingDeadline deadline_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

/// Of one output in one pass.
class PassJudge final : public RoundingJudge {
 public:
  PassJudge(PipelineRounding& rounding, std::string output, std::size_t pass)
      : rounding_(rounding), output_(std::move(output)), pass_(pass) {}
  const RoundingRuns& alike() override { return alike_ = rounding_.at(output_, pass_, {.decide_alike = true}); }
  const RoundingRuns& free() override { return free_ = rounding_.at(output_, pass_, {.decide_alike = false}); }

 private:
  PipelineRounding& rounding_;
  std::string output_;
  std::size_t pass_;
  RoundingRuns alike_;
  RoundingRuns free_;
};

}  // namespace leapp::exporter
