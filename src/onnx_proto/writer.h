// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnx_proto/messages.h"
#include "onnx_proto/pieces.h"

namespace leapp::onnx {

/// The bytes of a ModelProto. Contents of tensors are not copied: they are pieces of the result. The same model gives
/// the same bytes.
[[nodiscard]] Pieces write_model(const ModelProto& model);

/// Single messages, for whoever puts a model together piece by piece.
[[nodiscard]] std::string write_node(const NodeProto& node);
[[nodiscard]] std::string write_value_info(const ValueInfo& info);
[[nodiscard]] std::string write_opset(const OperatorSet& opset);
[[nodiscard]] std::string write_pair(const std::string& key, const std::string& value);

/// Bytes that, put behind those of any model, give its graph these outputs besides its own: protobuf joins the parts of
/// a message that occurs twice. REQUIRES: the graph has values of these names, and no such outputs.
[[nodiscard]] std::string write_added_outputs(const std::vector<ValueInfo>& outputs);

/// The same for outputs that are copies of values the graph has: name of the value, and the output.
[[nodiscard]] std::string write_added_copies(const std::vector<std::pair<std::string, ValueInfo>>& copies);

}  // namespace leapp::onnx
