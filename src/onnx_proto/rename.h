// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx_proto/reader.h"
#include "onnx_proto/writer.h"

/// Messages of a model with other names in them, so that several models can stand in one graph. What is not a name is
/// taken over byte for byte; long stretches are not copied: they are pieces of the result, whose bytes must outlive it.
/// kDataLoss when a message is none, or is nested deeper than protobuf allows.
namespace leapp::onnx {

/// What names of one model become.
struct Renaming {
  /// Stands before the names of values, of nodes, of symbolic extents and of the model's own functions.
  std::string prefix;
  /// Values that get another name instead; the same in every subgraph.
  std::map<std::string, std::string, std::less<>> values;
  /// The model's own functions: what calls them follows.
  std::vector<FunctionView> functions;

  [[nodiscard]] std::string value(std::string_view name) const;
};

/// Also a node that has no name gets one, from its operator and its first output: two nodes must not have the same.
Result<Pieces> rename_node(Encoded node, const Renaming& renaming);
Result<Pieces> rename_initializer(Encoded tensor, const Renaming& renaming);
Result<Pieces> rename_sparse_initializer(Encoded tensor, const Renaming& renaming);
Result<Pieces> rename_value_info(Encoded info, const Renaming& renaming);
Result<Pieces> rename_annotation(Encoded annotation, const Renaming& renaming);

/// The function's own name, and those of the functions that it calls. Values inside it are its own business.
Result<Pieces> rename_function(Encoded function, const Renaming& renaming);

}  // namespace leapp::onnx
