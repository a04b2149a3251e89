// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "leapp/base/dtype.h"
#include "leapp/base/status.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/spec.h"

/// Where every value of a pipeline lives, worked out once from the wiring.
///
/// Each output of a node has a buffer, and what reads it in the same step reads it there. Each input that the caller
/// gives has one. A feedback edge has two that take turns: in a step of one parity the consumer reads the first and the
/// producer writes the second, in the next it is the other way round, so nothing is copied and a step that fails has
/// changed nothing. Where one output feeds several feedback inputs, the first shares the producer's buffers and the
/// others have one of their own, into which the new value is copied at the end of a step: each can be set alone. What
/// the caller gets is copied into buffers of its own at the end of a step that succeeded.
namespace leapp::runtime {

/// A buffer seen from a port.
struct Place {
  std::size_t buffer = 0;
  bool next = false;  ///< of two that take turns: the one that is written in this step
};

struct BufferPlan {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  bool doubled = false;
};

/// In the order in which nodes run.
struct NodePlan {
  std::size_t model = 0;  ///< in BundleSpec::models
  std::vector<Place> inputs;
  std::vector<Place> outputs;
  bool alternates = false;  ///< some port is in a doubled buffer
};

struct EndPlan {
  std::string name;  ///< "node/port"
  Place place;       ///< an input: where it is read; an output: where the caller finds it
};

struct StatePlan : EndPlan {
  Place next;  ///< where its producer writes the value for the next step
};

struct CopyPlan {
  Place from;
  std::size_t to = 0;  ///< a buffer that is not doubled
};

struct PipelinePlan {
  std::vector<BufferPlan> buffers;
  std::vector<NodePlan> nodes;
  std::vector<EndPlan> inputs;
  std::vector<EndPlan> outputs;
  std::vector<StatePlan> states;  ///< feedback inputs
  std::vector<CopyPlan> copies;   ///< at the end of a step that succeeded
};

/// REQUIRES: `wiring` is that of `spec` and has no problems. Ports of a node without a name are called as they are:
/// those of a fused pipeline have their whole names already.
[[nodiscard]] PipelinePlan make_plan(const bundle::BundleSpec& spec, const bundle::Wiring& wiring);

}  // namespace leapp::runtime
