// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporter/validate/numbers/difference.h"
#include "graph/graph.h"

namespace leapp::exporter {

/// Dense tensors in memory; absent: not known, and not compared.
using Values = std::vector<std::optional<graph::Constant>>;

class RoundingJudge;

/// Which sample of which node is looked at: how messages begin.
struct ComparedSample {
  std::string node;
  std::vector<std::string> outputs;  ///< names; an empty one is not compared
  std::size_t number = 0;
  std::optional<Tolerance> tolerance = {};  ///< the user's: decides alone. Absent: by dtype and size
  RoundingJudge* judge = nullptr;           ///< without a tolerance: who tells what rounding can do; may be nobody
};

/// In which way an output is not what it should be.
enum class ProblemKind : std::uint8_t { kCount, kType, kNan, kInfinity, kMismatch };

/// "count", "type", "nan", "infinity", "mismatch": the words of reports and findings.
[[nodiscard]] constexpr std::string_view problem_kind_name(ProblemKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"count", "type", "nan", "infinity", "mismatch"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// One output of one sample that is not what it should be.
struct OutputProblem {
  ProblemKind kind = ProblemKind::kMismatch;
  std::string output;  ///< empty: the number of outputs
  std::size_t sample = 0;
  std::string brief;  ///< "3 of 12 elements (25 %) differ, |diff| max 0.5"
  std::string text;   ///< node, output, sample and all the numbers there are
  graph::TensorType found;
  graph::TensorType expected;
  Difference difference;    ///< kNan, kInfinity, kMismatch
  Percentiles percentiles;  ///< kMismatch

  /// The output is not one to compare numbers with.
  [[nodiscard]] bool is_other_signature() const { return kind == ProblemKind::kCount || kind == ProblemKind::kType; }
};

struct Comparison {
  std::vector<OutputProblem> problems;  ///< none: they agree
  std::vector<std::string> warnings;    ///< what is equal and still worth a look
  std::vector<std::string> notes;       ///< what differs by rounding only, or by a decision that hangs on it
  std::vector<double> max;              ///< |difference| of each output; not a number: not compared
};

/// Compares what an exported model gave with what the program gave: number of outputs, dtypes, shapes, NaN and
/// infinity, then |found - expected| <= atol + rtol * |expected|; without a tolerance, whether the difference is more
/// than rounding. Knows nothing of what ran the model.
[[nodiscard]] Comparison compare(const Values& found, const Values& expected, const ComparedSample& sample);

/// "3 of 12 elements (25 %)"
[[nodiscard]] std::string share_text(std::uint64_t part, std::uint64_t whole);

}  // namespace leapp::exporter
