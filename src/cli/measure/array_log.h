// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/io/arrays.h"
#include "leapp/base/status.h"
#include "leapp/bundle/check.h"
#include "leapp/runtime/pipeline.h"

namespace leapp::cli {

/// One port of a node, and where a running pipeline shows its value.
struct TracedPort {
  enum class Where {
    kInput,     ///< what the caller gave
    kFeedback,  ///< what the last step left: to be read before a step
    kOutput,    ///< an output, or an input that reads it: to be read after a step
  };

  ArrayType type;  ///< named "inputs/node/port" or "outputs/node/port"
  Where where = Where::kOutput;
  std::string seen_as;  ///< "node/port" to ask the pipeline for
};

/// Every port of every node, in the order in which nodes run: a node's inputs, then its outputs.
[[nodiscard]] std::vector<TracedPort> traced_ports(const bundle::BundleSpec& spec, const bundle::Wiring& wiring);

/// The value of a port, as of now. REQUIRES: the pipeline shows all outputs.
Result<TensorView> value_of(const TracedPort& port, runtime::Pipeline& pipeline);

/// Collects values step by step.
class ArrayLog {
 public:
  /// kInvalidArgument when so many steps would take more than 8 GB.
  static Result<ArrayLog> create(std::vector<ArrayType> types, std::size_t steps);

  /// Adds the next value of the port with that number. REQUIRES: it has the port's type.
  void add(std::size_t port, const TensorView& value);

  /// What was collected; every port has had as many values.
  [[nodiscard]] const std::vector<Array>& arrays() const { return arrays_; }

 private:
  ArrayLog() = default;

  std::vector<Array> arrays_;
};

}  // namespace leapp::cli
