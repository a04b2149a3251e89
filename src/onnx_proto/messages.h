// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The messages of onnx.proto that we use, as plain data. Names and meaning are those of the ONNX specification.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "leapp/base/dtype.h"

namespace leapp::onnx {

/// TensorProto.DataType of a dtype; nothing for those ONNX lacks (complex32).
[[nodiscard]] std::optional<std::int32_t> data_type_of(DType dtype);
[[nodiscard]] std::optional<DType> dtype_of(std::int32_t data_type);

/// Bytes that somebody else may own as well; never copied by this folder.
struct Bytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> view;

  /// A block of its own.
  [[nodiscard]] static Bytes copy_of(std::span<const std::byte> bytes);
};

/// Where a tensor's bytes lie in the file beside the model.
struct ExternalData {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const ExternalData&) const = default;
};

struct TensorProto {
  std::string name;
  std::int32_t data_type = 0;
  std::vector<std::int64_t> dims;
  Bytes raw_data;  ///< little endian, row-major; not written when `external` is set
  std::optional<ExternalData> external;
};

struct GraphProto;

using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                                    std::vector<std::string>, TensorProto, std::shared_ptr<const GraphProto>>;

struct AttributeProto {
  std::string name;
  AttributeValue value;
};

struct NodeProto {
  std::vector<std::string> inputs;  ///< "": an optional input that is left out
  std::vector<std::string> outputs;
  std::string name;
  std::string op_type;
  std::string domain;
  std::string doc_string;
  std::vector<AttributeProto> attributes;
};

struct ValueInfo {
  std::string name;
  std::int32_t elem_type = 0;
  std::vector<std::int64_t> dims;
};

struct GraphProto {
  std::string name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;
};

struct OperatorSet {
  std::string domain;
  std::int64_t version = 0;
};

struct ModelProto {
  std::int64_t ir_version = 0;
  std::vector<OperatorSet> opset_imports;
  std::string producer_name;
  std::string producer_version;
  std::string doc_string;
  GraphProto graph;
  std::vector<std::pair<std::string, std::string>> metadata_props;
};

}  // namespace leapp::onnx
