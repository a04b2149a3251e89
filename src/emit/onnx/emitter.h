// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "leapp/base/status.h"
#include "onnx_proto/writer.h"

namespace leapp::emit {

inline constexpr int kLowestOpset = 13;
inline constexpr int kHighestOpset = 23;
inline constexpr int kDefaultOpset = 18;

struct OnnxOptions {
  int opset_version = kDefaultOpset;
  std::optional<int> ir_version;                              ///< the lowest that the opset allows when left out
  std::vector<std::pair<std::string, std::string>> metadata;  ///< metadata_props, in this order
  std::string external_data_name;  ///< of the file beside the model; needed when weights do not fit into it
  std::uint64_t max_inline_bytes = 1'900'000'000;  ///< weights above this go into that file
  std::optional<std::int64_t> seed = {};           ///< the same random numbers in every run of the model; < 2^24
};

/// The bytes of a model, by pieces that share the graph's weights; Pieces::text() gives one block.
struct OnnxModel {
  onnx::Pieces model;
  onnx::Pieces external_data;  ///< the content of the file beside it; empty when all is inside
  /// What the model calls the graph's values: those that are results of its nodes.
  std::unordered_map<const graph::Value*, std::string> value_names;
};

/// The names an ONNX model of the graph has for its ports: a name used as input and as output becomes X_in and X_out.
struct OnnxPortNames {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};
[[nodiscard]] OnnxPortNames onnx_port_names(const graph::Graph& graph);

/// An ONNX model with static shapes and no control flow. The same graph gives the same bytes in every process. Reads
/// the graph only; different graphs may be emitted by different threads.
/// kInvalidArgument: an opset or IR version out of range. kUnimplemented, with the operator and the user's line: what
/// ONNX, this opset or ONNX Runtime's CPU kernels cannot say, and operators without a mapping.
[[nodiscard]] Result<OnnxModel> emit_onnx(const graph::Graph& graph, const OnnxOptions& options = {});

/// Bytes that, put behind those of the model, make these values outputs of it besides its own.
/// REQUIRES: each is in `value_names`, and under that name no output.
[[nodiscard]] std::string onnx_added_outputs(const OnnxModel& model, const std::vector<const graph::Value*>& values);

/// Whether there is a mapping for the operator ("aten::add", "Tensor"). It may still refuse some dtype or argument.
[[nodiscard]] bool is_supported(std::string_view op, std::string_view overload);

}  // namespace leapp::emit
