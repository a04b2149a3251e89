// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"

/// Whether what a bundle says makes a pipeline. All functions may be called from any thread.
namespace leapp::bundle {

/// A port by its place in BundleSpec::models.
struct PortIndex {
  std::size_t node = 0;
  std::size_t port = 0;

  auto operator<=>(const PortIndex&) const = default;
};

/// An output joined to an input.
struct Edge {
  PortIndex from;  ///< an output
  PortIndex to;    ///< an input
  bool feedback = false;

  bool operator==(const Edge&) const = default;
};

/// The wiring with every name looked up. Lists are in the file's order.
struct Wiring {
  std::vector<Edge> edges;
  std::vector<PortIndex> inputs;   ///< what the caller gives
  std::vector<PortIndex> outputs;  ///< what the caller gets: those listed, then others that are no state (see below)
  std::vector<std::size_t> order;  ///< nodes, producers first; among those that could run, the file's first
};

/// What check_wiring found: the wiring, and each problem with its place.
struct WiringReport {
  Wiring wiring;                 ///< of no use unless there are no problems
  std::vector<Status> problems;  ///< each names its place in the file; the thousandth is followed by how many more
};

/// An output that only the next step reads may be one that the program announced (an action that is fed back to another
/// node) or the next value of state. Unless it says so itself (a key `leapp_state: true` or `false`), one that feeds an
/// input of its own node with the same name is state; "X_out" and "X_in" are the same name. REQUIRES: `output` is one
/// of `spec`
LEAPP_API bool is_state_output(const BundleSpec& spec, PortIndex output);

/// Looks up every name of the pipeline. The caller gets the outputs that pipeline.outputs lists, and every other that
/// no node reads in the same step and that is no state. Problems are: a node or port that does not exist, an edge
/// between different dtypes or shapes, an input with no or several sources, an output that goes nowhere, a cycle in
/// data_flow, and what history.h says of histories.
LEAPP_API WiringReport resolve_wiring(const BundleSpec& spec);

/// The wiring, or all its problems in one Status.
LEAPP_API Result<Wiring> check_wiring(const BundleSpec& spec);

/// Nodes without a model and backends nobody knows (format.h has those that are known).
LEAPP_API std::vector<Status> find_model_problems(const BundleSpec& spec);

/// Ok when there are none, else one Status with all their messages.
LEAPP_API Status join_problems(const std::vector<Status>& problems);

}  // namespace leapp::bundle
