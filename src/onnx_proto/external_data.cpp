// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/external_data.h"

#include <fmt/format.h>

#include <array>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "onnx_proto/fields.h"
#include "onnx_proto/message.h"

namespace leapp::onnx {
namespace {

/// What a message is, as far as the way to a tensor goes.
enum class Kind { kModel, kGraph, kNode, kAttribute, kTensor, kSparseTensor, kFunction, kTraining };

struct Step {
  Kind from;
  protozero::pbf_tag_type field;
  Kind to;
};

// Every field that can lead to a tensor.
constexpr std::array<Step, 19> kSteps{{
    {Kind::kModel, number(ModelField::kGraph), Kind::kGraph},
    {Kind::kModel, number(ModelField::kTraining), Kind::kTraining},
    {Kind::kModel, number(ModelField::kFunction), Kind::kFunction},
    {Kind::kTraining, number(TrainingField::kInitialization), Kind::kGraph},
    {Kind::kTraining, number(TrainingField::kAlgorithm), Kind::kGraph},
    {Kind::kFunction, number(FunctionField::kNode), Kind::kNode},
    {Kind::kFunction, number(FunctionField::kAttributeValue), Kind::kAttribute},
    {Kind::kGraph, number(GraphField::kNode), Kind::kNode},
    {Kind::kGraph, number(GraphField::kInitializer), Kind::kTensor},
    {Kind::kGraph, number(GraphField::kSparseInitializer), Kind::kSparseTensor},
    {Kind::kNode, number(NodeField::kAttribute), Kind::kAttribute},
    {Kind::kAttribute, number(AttributeField::kTensor), Kind::kTensor},
    {Kind::kAttribute, number(AttributeField::kGraph), Kind::kGraph},
    {Kind::kAttribute, number(AttributeField::kTensors), Kind::kTensor},
    {Kind::kAttribute, number(AttributeField::kGraphs), Kind::kGraph},
    {Kind::kAttribute, number(AttributeField::kSparseTensor), Kind::kSparseTensor},
    {Kind::kAttribute, number(AttributeField::kSparseTensors), Kind::kSparseTensor},
    {Kind::kSparseTensor, number(SparseTensorField::kValues), Kind::kTensor},
    {Kind::kSparseTensor, number(SparseTensorField::kIndices), Kind::kTensor},
}};

/// What ONNX Runtime since 1.22 writes where the contents of a tensor are at an address of its memory: older versions
/// of these believe a file that says so.
bool names_memory(std::string_view location) {
  return location.find("_ORT_MEM_ADDR_") != std::string_view::npos ||
         location.find("_ORT_NATIVE_ENDIAN_MEM_ADDR_") != std::string_view::npos;
}

bool is_message(const protozero::pbf_reader& message) {
  return message.wire_type() == protozero::pbf_wire_type::length_delimited;
}

class Walker {
 public:
  Status walk(protozero::pbf_reader message, Kind kind, int depth) {
    if (depth > kDeepestMessage)
      return data_loss(fmt::format("more than {} messages inside each other", kDeepestMessage));
    while (message.next()) {
      if (!is_message(message)) {
        message.skip();
      } else if (kind == Kind::kTensor && message.tag() == number(TensorField::kExternalData)) {
        read_entry(message.get_message());
      } else if (const Step* step = find(kind, message.tag())) {
        LEAPP_RETURN_IF_ERROR(walk(message.get_message(), step->to, depth + 1));
      } else {
        message.skip();
      }
    }
    return {};
  }

  std::set<std::string> files;

 private:
  static const Step* find(Kind kind, protozero::pbf_tag_type field) {
    for (const Step& step : kSteps) {
      if (step.from == kind && step.field == field) return &step;
    }
    return nullptr;
  }

  void read_entry(protozero::pbf_reader entry) {
    std::string key;
    std::string value;
    while (entry.next()) {
      if (!is_message(entry)) {
        entry.skip();
      } else if (entry.tag() == number(StringPairField::kKey)) {
        key = entry.get_string();
      } else if (entry.tag() == number(StringPairField::kValue)) {
        value = entry.get_string();
      } else {
        entry.skip();
      }
    }
    if (key == "location") files.insert(std::move(value));
  }
};

}  // namespace

Result<std::set<std::string>> external_data_files(std::span<const std::byte> model) {
  try {
    Walker walker;
    const protozero::pbf_reader reader(reinterpret_cast<const char*>(model.data()), model.size());
    LEAPP_RETURN_IF_ERROR(walker.walk(reader, Kind::kModel, 0));
    for (const std::string& file : walker.files) {
      if (!names_memory(file)) continue;
      return invalid_argument(
          fmt::format("external data: expected the name of a file, found {}, which names memory", quote(file)));
    }
    return std::move(walker.files);
  } catch (const protozero::exception& error) {
    return data_loss(fmt::format("not an ONNX model: {}", error.what()));
  }
}

}  // namespace leapp::onnx
