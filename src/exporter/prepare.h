// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "capture/trace/record.h"
#include "exporter/backend.h"
#include "graph/graph.h"

namespace leapp::exporter {

/// A node with the graph that is going to be exported.
struct PreparedNode {
  const capture::NodeRecord* record = nullptr;
  Backend backend;
  graph::Graph graph;                    ///< empty when the model is the user's, or when there is none
  std::vector<std::size_t> inputs;       ///< of record->inputs: those of the model, in its order
  std::vector<std::string> input_names;  ///< of `inputs`, as the model and the YAML call them
  std::vector<std::string> output_names;
  std::set<std::size_t> random_outputs;  ///< outputs that depend on a random operator
};

/// State that is kept by its memory is flat in what some calls show of it, and as the program has it in others: in all
/// samples it is as its port says.
void shape_state(capture::NodeRecord& node);

/// Builds the graph, brings it into its final form and says in the log what was left out.
Result<PreparedNode> prepare(const capture::NodeRecord& node, Backend backend, Logger& log);

/// REQUIRES: there is one of this name.
const PreparedNode& named(const std::vector<PreparedNode>& nodes, const std::string& name);

}  // namespace leapp::exporter
