// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "onnx_proto/reader.h"
#include "onnx_proto/rename.h"
#include "onnx_proto/writer.h"

namespace leapp::onnx {

/// Puts the graphs of several models into one model. Nodes keep the order in which they are added, which has to be one
/// in which they can run. Bytes of the models are shared with the result, not copied.
class Merger {
 public:
  /// Everything in `model` but its inputs and outputs. Initializers whose names, as the model has them, are in
  /// `without` are left out. kInvalidArgument when the model uses another version of an operator set than those before;
  /// after a failure the merger is of no use.
  Status add(const ModelView& model, const Renaming& renaming, const std::set<std::string, std::less<>>& without);

  /// `to` is another name for `from`.
  void add_identity(const std::string& from, const std::string& to);

  void add_input(const ValueInfo& info);
  void add_output(const ValueInfo& info);
  void add_value_info(const ValueInfo& info);

  /// The model, whose IR version is the highest of those that were added, and at least the one from which on
  /// initializers are no inputs.
  [[nodiscard]] Pieces take(const std::string& producer) &&;

 private:
  Status add_opsets(const ModelView& model);
  Status add_graph(const GraphView& graph, const Renaming& renaming, const std::set<std::string, std::less<>>& without);

  std::int64_t ir_version_ = 4;
  std::map<std::string, std::int64_t> opsets_;  ///< by domain
  PieceBuilder graph_;
  PieceBuilder rest_;  ///< metadata and functions
};

}  // namespace leapp::onnx
