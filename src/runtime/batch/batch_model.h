// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "leapp/base/status.h"
#include "leapp/bundle/spec.h"

/// An ONNX model for one robot as one for many: every port gets the robots as its first axis.
namespace leapp::runtime {

struct WidenRequest {
  std::span<const std::byte> model;
  const bundle::Model& node;  ///< its ports, for one row
  std::size_t rows = 1;
  std::uint64_t memory_limit = 0;  ///< of constants that are worked out; 0: what is usual
};

/// The model whose ports have the shapes of widened_shape. Every operator is followed from the inputs to the outputs,
/// by the rules of row_node.h: kUnimplemented names the first that would mix rows, or of which nothing is known, and
/// why. That rows come out right still is for the caller to confirm. Reads any bytes.
Result<std::string> widen_model(const WidenRequest& request);

/// The shape of a port with that many rows: a leading 1 becomes `rows`; others get an axis in front. In memory rows
/// stand one after the other, each like the port of one.
[[nodiscard]] std::vector<std::int64_t> widened_shape(const std::vector<std::int64_t>& shape, std::size_t rows);

}  // namespace leapp::runtime
