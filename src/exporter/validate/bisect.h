// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Where does an exported model begin to differ? The captured graph is run again operator by operator beside the model
// as written, whose values on the way are made visible; the first that differs names the operator and the user's line.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exporter/validate/checks.h"
#include "exporter/validate/numbers/compare.h"
#include "exporter/validate/numbers/rounding.h"
#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::exporter {

/// The values that a model as written computes on its way from one sample's inputs to its outputs.
class Intermediates {
 public:
  Intermediates() = default;
  Intermediates(const Intermediates&) = delete;
  Intermediates& operator=(const Intermediates&) = delete;
  virtual ~Intermediates() = default;

  /// Whether the model has this value of the graph.
  [[nodiscard]] virtual bool has(const graph::Value& value) const = 0;
  /// Runs the model as far as needed. REQUIRES: it has all of them.
  virtual Result<Values> compute(const std::vector<const graph::Value*>& values) = 0;
};

struct BisectLimits {
  std::chrono::milliseconds time{60'000};
  std::size_t bytes = std::size_t{256} << 20U;  ///< of the model's values that are held at a time
};

struct BisectRequest {
  const graph::Graph* graph = nullptr;
  Values inputs;                            ///< of the sample, in the graph's order
  Values recorded;                          ///< what the program gave for the graph's outputs
  std::optional<Tolerance> tolerance = {};  ///< absent: what rounding can do
  bool nan_is_wrong = false;                ///< also when both sides have it: who makes it is looked for
  BisectLimits limits = {};
  std::function<void(const std::string&)> progress = {};  ///< a line now and then; may be empty
};

[[nodiscard]] Bisection bisect(const BisectRequest& request, Intermediates& model, const Evaluators& evaluators);

}  // namespace leapp::exporter
