// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "fleet/triton_config.h"

#include <fmt/format.h>

#include "base/text.h"

namespace leapp::fleet {
namespace {

/// A string of the text form.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      result += fmt::format("\\{:03o}", byte);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

Result<std::string> type_of(const std::string& name, DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return std::string("TYPE_FP16");
    case DType::kBFloat16:
      return std::string("TYPE_BF16");
    case DType::kFloat32:
      return std::string("TYPE_FP32");
    case DType::kFloat64:
      return std::string("TYPE_FP64");
    case DType::kInt8:
      return std::string("TYPE_INT8");
    case DType::kInt16:
      return std::string("TYPE_INT16");
    case DType::kInt32:
      return std::string("TYPE_INT32");
    case DType::kInt64:
      return std::string("TYPE_INT64");
    case DType::kUInt8:
      return std::string("TYPE_UINT8");
    case DType::kBool:
      return std::string("TYPE_BOOL");
    default:
      return unimplemented(fmt::format("{}: Triton has no type for {}", name, dtype_name(dtype)));
  }
}

std::string dims_of(const std::vector<std::int64_t>& shape) {
  return fmt::format("dims: [ {} ]", fmt::join(shape, ", "));
}

Result<std::string> tensors_text(const char* field, const std::vector<TritonTensor>& tensors) {
  std::string text;
  for (const TritonTensor& tensor : tensors) {
    LEAPP_ASSIGN_OR_RETURN(const std::string type, type_of(tensor.name, tensor.dtype));
    // A tensor without axes is one of a single element to a client.
    const std::string dims = tensor.shape.empty() ? "dims: [ 1 ]\n  reshape { shape: [ ] }" : dims_of(tensor.shape);
    text += fmt::format("{} {{\n  name: {}\n  data_type: {}\n  {}\n}}\n", field, quoted(tensor.name), type, dims);
  }
  return text;
}

Result<std::string> state_text(const TritonState& state) {
  if (state.shape.empty()) {
    return unimplemented(fmt::format("{}: Triton keeps no state without axes", state.input));
  }
  LEAPP_ASSIGN_OR_RETURN(const std::string type, type_of(state.input, state.dtype));
  const std::string content = state.file.empty() ? "zero_data: true" : "data_file: " + quoted(state.file);
  return fmt::format(
      "  state {{\n    input_name: {0}\n    output_name: {1}\n    data_type: {2}\n    {3}\n"
      "    initial_state {{\n      name: {0}\n      data_type: {2}\n      {3}\n      {4}\n    }}\n  }}\n",
      quoted(state.input), quoted(state.output), type, dims_of(state.shape), content);
}

std::string control_text(const char* name, const char* kind, const char* values) {
  return fmt::format("  control_input {{\n    name: \"{}\"\n    control {{\n      kind: {}\n      {}\n    }}\n  }}\n",
                     name, kind, values);
}

Result<std::string> sequences_text(const TritonConfig& config) {
  std::string text = fmt::format("sequence_batching {{\n  max_sequence_idle_microseconds: {}\n  direct {{ }}\n",
                                 config.idle_microseconds);
  if (config.controls) {
    text += control_text(kTritonStart, "CONTROL_SEQUENCE_START", "int32_false_true: [ 0, 1 ]");
    text += control_text(kTritonEnd, "CONTROL_SEQUENCE_END", "int32_false_true: [ 0, 1 ]");
    text += control_text(kTritonSequence, "CONTROL_SEQUENCE_CORRID", "data_type: TYPE_UINT64");
  }
  for (const TritonState& state : config.states) {
    LEAPP_ASSIGN_OR_RETURN(const std::string one, state_text(state));
    text += one;
  }
  return text + "}\n";
}

std::string map_text(const char* field, const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    text += fmt::format("    {} {{ key: {} value: {} }}\n", field, quoted(key), quoted(value));
  }
  return text;
}

std::string steps_text(const std::vector<TritonStep>& steps) {
  std::string text = "ensemble_scheduling {\n";
  for (const TritonStep& step : steps) {
    text += fmt::format("  step {{\n    model_name: {}\n    model_version: -1\n{}{}  }}\n", quoted(step.model),
                        map_text("input_map", step.inputs), map_text("output_map", step.outputs));
  }
  return text + "}\n";
}

}  // namespace

Result<std::string> triton_text(const TritonConfig& config) {
  std::string text = fmt::format("{}\nname: {}\n", kTritonFirstWords, quoted(config.name));
  text += config.backend.empty() ? "platform: \"ensemble\"\n" : fmt::format("backend: {}\n", quoted(config.backend));
  if (!config.file.empty()) text += fmt::format("default_model_filename: {}\n", quoted(config.file));
  text += "max_batch_size: 0\n";
  LEAPP_ASSIGN_OR_RETURN(const std::string inputs, tensors_text("input", config.inputs));
  LEAPP_ASSIGN_OR_RETURN(const std::string outputs, tensors_text("output", config.outputs));
  text += inputs + outputs;
  if (config.sequences) {
    LEAPP_ASSIGN_OR_RETURN(const std::string sequences, sequences_text(config));
    text += sequences;
  }
  if (!config.steps.empty()) return text + steps_text(config.steps);
  return text + fmt::format("instance_group {{ count: {} kind: KIND_CPU }}\n", config.instances);
}

}  // namespace leapp::fleet
