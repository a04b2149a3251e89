// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Field numbers of onnx.proto, for whoever reads or writes its messages.
#pragma once

#include <cstdint>

#include <protozero/types.hpp>

namespace leapp::onnx {

enum class ModelField : protozero::pbf_tag_type {
  kIrVersion = 1,
  kProducerName = 2,
  kProducerVersion = 3,
  kDocString = 6,
  kGraph = 7,
  kOpsetImport = 8,
  kMetadataProps = 14,
};

enum class OperatorSetField : protozero::pbf_tag_type { kDomain = 1, kVersion = 2 };

enum class StringPairField : protozero::pbf_tag_type { kKey = 1, kValue = 2 };

enum class GraphField : protozero::pbf_tag_type {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
};

enum class NodeField : protozero::pbf_tag_type {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDocString = 6,
  kDomain = 7,
};

enum class AttributeField : protozero::pbf_tag_type {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kTensor = 5,
  kGraph = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kType = 20,
};

/// AttributeProto.AttributeType
enum class AttributeType : std::int32_t {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
};

enum class TensorField : protozero::pbf_tag_type {
  kDims = 1,
  kDataType = 2,
  kName = 8,
  kRawData = 9,
  kExternalData = 13,
  kDataLocation = 14,
};

/// TensorProto.DataLocation
inline constexpr std::int32_t kExternalLocation = 1;

enum class ValueInfoField : protozero::pbf_tag_type { kName = 1, kType = 2 };
enum class TypeField : protozero::pbf_tag_type { kTensorType = 1 };
enum class TensorTypeField : protozero::pbf_tag_type { kElemType = 1, kShape = 2 };
enum class ShapeField : protozero::pbf_tag_type { kDim = 1 };
enum class DimensionField : protozero::pbf_tag_type { kValue = 1 };

}  // namespace leapp::onnx
