// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leapp/base/status.h"
#include "onnx_proto/messages.h"

/// The parts of an ONNX model as pieces of its bytes: enough to put several models together without understanding, or
/// copying, what is in them. The bytes may come from strangers.
namespace leapp::onnx {

/// One message of a model, as it is written there.
using Encoded = std::span<const std::byte>;

/// A message that has a name.
struct NamedView {
  std::string_view name;
  Encoded bytes;
};

/// An input or output of a graph, as far as it is a tensor.
struct ValueInfoView {
  std::string_view name;
  std::optional<std::int32_t> elem_type;          ///< absent: it is no tensor, or the model does not say
  std::optional<std::vector<std::int64_t>> dims;  ///< absent: the model does not say; -1: any extent
};

struct GraphView {
  std::vector<Encoded> nodes;
  std::vector<NamedView> initializers;
  std::vector<NamedView> sparse_initializers;
  std::vector<ValueInfoView> inputs;
  std::vector<ValueInfoView> outputs;
  std::vector<NamedView> value_infos;
  std::vector<Encoded> annotations;  ///< of quantised tensors
};

struct FunctionView {
  std::string_view domain;
  std::string_view name;
  Encoded bytes;
};

struct ModelView {
  std::int64_t ir_version = 0;
  std::vector<OperatorSet> opset_imports;  ///< the default domain is "", never "ai.onnx"
  std::vector<std::pair<std::string, std::string>> metadata_props;
  std::vector<FunctionView> functions;
  GraphView graph;
};

/// Finds the parts of `model`, whose bytes must outlive the result. kDataLoss when it is no protobuf message, has no
/// graph or has two.
Result<ModelView> read_model(Encoded model);

/// The parts of a graph inside a node: the body of a branch or loop.
Result<GraphView> read_graph(Encoded graph);

/// What one of a graph's value_infos says.
Result<ValueInfoView> read_value_info(Encoded value_info);

}  // namespace leapp::onnx
