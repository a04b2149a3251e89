// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/status.h"
#include "onnx_proto/messages.h"
#include "onnx_proto/reader.h"

/// What is inside the nodes and tensors that read_model finds, for those who show or compare models. Nothing is copied
/// that can be pointed at: the model's bytes must outlive the results. They may come from strangers: kDataLoss when
/// they are not what they should be.
namespace leapp::onnx {

struct NodeView {
  std::string_view op_type;
  std::string_view domain;
  std::string_view name;
  std::string_view doc_string;
  std::vector<std::string_view> inputs;  ///< "": an optional input that is left out
  std::vector<std::string_view> outputs;
  std::vector<AttributeProto> attributes;  ///< numbers, strings, lists of them, tensors; tensors without their contents
  std::vector<Encoded> graphs;             ///< bodies of branches and loops
  std::vector<std::string_view> graph_attributes;  ///< the attributes that `graphs` are in, one for each
  std::vector<NamedView> tensors;                  ///< by attribute, for read_tensor
  std::vector<Encoded> sparse_tensors;
};

Result<NodeView> read_node(Encoded node);

struct TensorContents {
  std::string_view name;
  std::optional<DType> dtype;  ///< absent: text, or a type we do not know
  std::vector<std::int64_t> dims;
  /// Dense, row-major, little-endian, wherever the message has them; empty when they lie in another file.
  Bytes bytes;
  bool external = false;

  /// Elements, by its dims; nothing when that overflows.
  [[nodiscard]] std::optional<std::uint64_t> elements() const;
};

/// Also that the contents are as many as dims and type say.
Result<TensorContents> read_tensor(Encoded tensor);

/// How often each operator occurs ("Gemm", or "domain::Name" for those that are not ONNX's own), in functions and in
/// the bodies of branches and loops too.
Result<std::map<std::string, std::size_t>> count_operators(const ModelView& model);

}  // namespace leapp::onnx
