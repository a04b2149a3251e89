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
  kTraining = 20,
  kFunction = 25,
};

enum class TrainingField : protozero::pbf_tag_type { kInitialization = 1, kAlgorithm = 2 };

enum class OperatorSetField : protozero::pbf_tag_type { kDomain = 1, kVersion = 2 };

enum class StringPairField : protozero::pbf_tag_type { kKey = 1, kValue = 2 };

enum class GraphField : protozero::pbf_tag_type {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kQuantization = 14,
  kSparseInitializer = 15,
};

/// TensorAnnotation
enum class AnnotationField : protozero::pbf_tag_type { kTensorName = 1, kParameterNames = 2 };

enum class FunctionField : protozero::pbf_tag_type {
  kName = 1,
  kNode = 7,
  kDomain = 10,
  kAttributeValue = 11,
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
  kTensors = 10,
  kGraphs = 11,
  kType = 20,
  kSparseTensor = 22,
  kSparseTensors = 23,
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
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kExternalData = 13,
  kDataLocation = 14,
};

/// TensorProto.DataLocation
inline constexpr std::int32_t kExternalLocation = 1;

enum class SparseTensorField : protozero::pbf_tag_type { kValues = 1, kIndices = 2 };

enum class ValueInfoField : protozero::pbf_tag_type { kName = 1, kType = 2 };
enum class TypeField : protozero::pbf_tag_type {
  kTensorType = 1,
  kSequenceType = 4,
  kMapType = 5,
  kSparseTensorType = 8,
  kOptionalType = 9,
};
enum class TensorTypeField : protozero::pbf_tag_type { kElemType = 1, kShape = 2 };
enum class ElementTypeField : protozero::pbf_tag_type { kElemType = 1 };  ///< of a sequence and of an optional
enum class MapTypeField : protozero::pbf_tag_type { kValueType = 2 };
enum class ShapeField : protozero::pbf_tag_type { kDim = 1 };
enum class DimensionField : protozero::pbf_tag_type { kValue = 1, kParam = 2 };

}  // namespace leapp::onnx
