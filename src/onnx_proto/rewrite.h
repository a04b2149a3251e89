// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "onnx_proto/pieces.h"
#include "onnx_proto/reader.h"
#include "onnx_proto/writer.h"

namespace leapp::onnx {

/// A model with the weights and operator sets of another, and nodes and ports that are added one by one. Bytes of the
/// original are shared with the result, not copied. What the original says of values inside is left out: they may be
/// others now.
class Rewrite {
 public:
  /// `original` outlives the result.
  explicit Rewrite(const ModelView& original) : original_(original) {}

  void add_node(Encoded node);
  void add_node(Pieces node);
  void add_node(const NodeProto& node);
  void add_input(const ValueInfo& info);
  void add_output(const ValueInfo& info);

  /// Initializers of these names are left out.
  [[nodiscard]] Pieces take(const std::set<std::string, std::less<>>& without) &&;

 private:
  const ModelView& original_;
  PieceBuilder graph_;
};

}  // namespace leapp::onnx
