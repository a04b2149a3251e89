// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/history/find.h"
#include "graph/history/origins.h"

namespace leapp::graph {

/// An element of a pipeline: of an input that comes from outside of the step, or of what a stage computed.
struct PipelineElement {
  std::size_t stage = 0;
  const Value* value = nullptr;  ///< null with `output`: a model that nobody can look into gave it
  std::int64_t index = 0;
  std::int64_t output = -1;
  bool constant = false;
};
using PipelineElements = std::vector<PipelineElement>;

/// What something depends on, within one step.
struct Dependence {
  std::set<StagePort> inputs;  ///< of the caller, and state
  bool weighted = false;       ///< it has met parameters, or a product with constants
};

/// Origins and dependences over all stages: an input that another stage feeds is that stage's output.
class PipelineOrigins {
 public:
  explicit PipelineOrigins(const Stages& stages);

  /// Of an output, in row-major order. REQUIRES: it has at most Origins::kMost elements.
  const PipelineElements& of(StagePort output);
  Dependence dependence(const PipelineElement& element);
  /// The input that the element is of; nothing when it was computed.
  [[nodiscard]] std::optional<StagePort> input_of(const PipelineElement& element) const;
  Origins& origins(std::size_t stage) { return *origins_[stage]; }

 private:
  using Facts = std::unordered_map<const Value*, Dependence>;
  void add(std::size_t stage, const Element& element, PipelineElements& result);
  Dependence of_input(StagePort input);
  Dependence of_output(StagePort output);
  const Dependence& of_value(std::size_t stage, const Value* value);
  Dependence of_node(std::size_t stage, const Node& node, const Facts& known);
  Dependence of_leaf(std::size_t stage, const Value* value);

  const Stages& stages_;
  std::vector<std::unique_ptr<Origins>> origins_;
  std::vector<std::unordered_map<const Value*, std::size_t>> inputs_;  ///< of a stage's graph
  std::map<StagePort, PipelineElements> outputs_;
  std::vector<Facts> facts_;
};

}  // namespace leapp::graph
