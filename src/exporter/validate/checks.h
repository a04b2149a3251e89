// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What validation found out, as plain data: what findings, report and console are made from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "exporter/validate/numbers/compare.h"
#include "exporter/validate/numbers/difference.h"
#include "exporter/validate/numbers/trend.h"
#include "graph/graph.h"
#include "leapp/base/finding.h"
#include "leapp/engine/options.h"

namespace leapp::exporter {

/// Where the exported model and the captured graph part.
struct Bisection {
  enum class Outcome {
    kFirst,   ///< an operator of the captured graph
    kSame,    ///< nowhere: the model does what was captured, and the program did something else
    kHidden,  ///< only where nobody looks: with every value visible the engine computes the same
    kUnknown  ///< see `note`
  };
  Outcome outcome = Outcome::kUnknown;
  std::string op;                  ///< kFirst: "aten::relu"
  graph::SourceLocation location;  ///< kFirst
  std::size_t position = 0;        ///< kFirst: of the operator, from 1; else how many were compared
  std::size_t operators = 0;       ///< of the graph
  std::string difference;          ///< kFirst: the numbers
  std::string note;                ///< what could not be done, and why
};

/// One node's model against the samples.
struct NodeCheck {
  std::string node;
  std::string backend;  ///< as in the YAML; empty: none
  CheckStatus status = CheckStatus::kSkipped;
  std::string reason;       ///< of those that errored or were skipped
  std::size_t samples = 0;  ///< that were run
  std::size_t known_samples = 0;
  std::size_t agreeing = 0;
  std::vector<std::string> outputs;  ///< names
  std::vector<double> max;           ///< of each output over all samples; not a number: not compared
  std::vector<OutputProblem> problems;
  std::vector<std::string> notes;  ///< differences that are rounding, or a decision that hangs on it
  std::optional<Bisection> bisection;
  double milliseconds = 0;
  bool given = false;       ///< the model is the user's
  std::string export_with;  ///< empty: given
  std::vector<std::string> random_outputs;
  std::vector<std::string> engines;  ///< that ran it, where there may be several: "ONNX Runtime", "LEAPP's own engine"
  std::string only_on;               ///< the one of them on which it differs, when it does not on the first
  engine::Prefer differing_engine = engine::Prefer::kAuto;  ///< on which the problems were found
};

/// One output, or one state, of the whole pipeline over the passes.
struct Drift {
  std::string output;       ///< "node/port"
  bool state = false;       ///< goes into the next pass
  std::vector<double> max;  ///< |difference| by pass
  std::size_t worst_pass = 0;
  Trend trend = Trend::kNone;
  std::optional<OutputProblem> problem;  ///< of the first pass that is beyond tolerance
};

/// The whole bundle through the runtime.
struct PipelineCheck {
  std::optional<CheckStatus> status;  ///< nothing: not asked for
  std::string reason;                 ///< of one that errored or was skipped
  std::size_t passes = 0;
  std::vector<Drift> outputs;
  std::vector<std::string> notes;
  double milliseconds = 0;
};

}  // namespace leapp::exporter
