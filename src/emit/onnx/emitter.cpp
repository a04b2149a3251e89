// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "emit/onnx/builder.h"
#include "emit/onnx/model_builder.h"
#include "emit/onnx/op_table.h"
#include "graph/conditional.h"
#include "graph/loop.h"

namespace leapp::emit {
namespace {

using onnx_ops::EmitEntry;
using onnx_ops::ModelBuilder;
using onnx_ops::OpBuilder;
using onnx_ops::Tensor;

constexpr std::array<int, kHighestOpset - kLowestOpset + 1> kLowestIr = {7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11};
constexpr int kHighestIr = 13;

Result<int> ir_version_of(const OnnxOptions& options) {
  const int opset = options.opset_version;
  if (opset < kLowestOpset || opset > kHighestOpset) {
    return invalid_argument(
        fmt::format("opset_version: expected {} to {}, found {}", kLowestOpset, kHighestOpset, opset));
  }
  const int lowest = kLowestIr[static_cast<std::size_t>(opset - kLowestOpset)];
  const int version = options.ir_version.value_or(lowest);
  if (version < lowest || version > kHighestIr) {
    return invalid_argument(
        fmt::format("ir_version: expected {} to {} with opset {}, found {}", lowest, kHighestIr, opset, version));
  }
  return version;
}

Status check_port(const char* direction, const std::string& name, const graph::Value& value) {
  if (is_port_dtype(value.dtype())) return {};
  return unimplemented(
      fmt::format("{} '{}': ONNX has no {} tensors that runtimes take", direction, name, dtype_name(value.dtype())));
}

/// A name that neither the ports' own nor earlier ones have.
std::string unlike(std::string name, std::unordered_set<std::string>& taken) {
  while (!taken.insert(name).second) name += "_";
  return name;
}

Status no_mapping(const graph::Node& node) {
  const std::string line = onnx_ops::location_text(node.location());
  const std::string where = node.qualified_name() + (line.empty() ? "" : " at " + line);
  std::vector<graph::Value*> values = node.inputs();
  for (const auto& result : node.results()) values.push_back(result.get());
  for (const graph::Value* value : values) {
    if (!is_complex(value->dtype())) continue;
    return unimplemented(fmt::format("{}: ONNX has no {} arithmetic", where, dtype_name(value->dtype())));
  }
  return unimplemented(where + ": there is no ONNX mapping for this operator");
}

bool touches_complex(const graph::Node& node) {
  const auto is_complex = [](const auto& value) { return leapp::is_complex(value->dtype()); };
  const std::vector<graph::Value*> inputs = node.inputs();
  return std::any_of(inputs.begin(), inputs.end(), is_complex) ||
         std::any_of(node.results().begin(), node.results().end(), is_complex);
}

/// A handler of its own, or the one for real numbers if it does the same to both parts.
Status emit_complex(ModelBuilder& model, OpBuilder::Values& values, const graph::Node& node) {
  const std::string name = node.qualified_name();
  if (const EmitEntry* entry = onnx_ops::find_complex_op(name); entry != nullptr) {
    OpBuilder builder(model, values, node, entry->onnx_op);
    entry->handler(builder);
    return builder.status();
  }
  const EmitEntry* entry = onnx_ops::find_emitter(name);
  if (entry == nullptr || !onnx_ops::is_part_by_part(name)) return no_mapping(node);
  for (const OpBuilder::Part part : {OpBuilder::Part::kReal, OpBuilder::Part::kImaginary}) {
    OpBuilder builder(model, values, node, entry->onnx_op, part);
    entry->handler(builder);
    LEAPP_RETURN_IF_ERROR(builder.status());
  }
  return {};
}

/// A tensor without elements has no content to compute.
Status emit_nothing(OpBuilder builder, const graph::Node& node) {
  for (std::size_t i = 0; i < node.results().size(); ++i) {
    const Tensor empty = builder.full(0.0, builder.result(i));
    if (is_complex(node.result(i)->dtype())) {
      builder.bind(i, onnx_ops::ComplexTensor{empty, empty});
    } else {
      builder.bind(i, empty);
    }
  }
  return builder.status();
}

Status emit_real(ModelBuilder& model, OpBuilder::Values& values, const graph::Node& node) {
  const EmitEntry* entry = onnx_ops::find_emitter(node.qualified_name());
  if (entry == nullptr) return no_mapping(node);
  OpBuilder builder(model, values, node, entry->onnx_op);
  entry->handler(builder);
  return builder.status();
}

Status emit_node(ModelBuilder& model, OpBuilder::Values& values, const graph::Node& node);

/// Makes sure that a value that no node of the graph made is there.
Status add_if_constant(ModelBuilder& model, OpBuilder::Values& values, const graph::Value& value) {
  if (value.kind() != graph::ValueKind::kConstant || values.contains(&value)) return {};
  if (is_complex(value.dtype()) || !onnx::data_type_of(value.dtype())) {
    return unimplemented(fmt::format("a side of a branch: ONNX has no {} arithmetic", dtype_name(value.dtype())));
  }
  values.tensors.emplace(&value, model.add_constant(value.constant(), value.name()));
  return {};
}

/// What the outputs of a side are: its values are its own, and those it takes are the values outside.
Result<std::vector<Tensor>> emit_side(ModelBuilder& model, const OpBuilder::Values& outside,
                                      const std::vector<graph::Value*>& operands, const graph::Graph& side) {
  OpBuilder::Values values;
  std::size_t index = 0;
  for (const auto& input : side.inputs()) {
    const graph::Value* operand = operands[index++];
    values.tensors.emplace(input.get(), outside.tensors.at(operand));
    const auto imaginary = outside.imaginary.find(operand);
    if (imaginary != outside.imaginary.end()) values.imaginary.emplace(input.get(), imaginary->second);
  }
  for (const auto& node : side.nodes()) LEAPP_RETURN_IF_ERROR(emit_node(model, values, *node));
  std::vector<Tensor> results;
  for (const graph::Output& output : side.outputs()) {
    LEAPP_RETURN_IF_ERROR(add_if_constant(model, values, *output.value));
    results.push_back(values.tensors.at(output.value));
    if (values.imaginary.contains(output.value)) results.push_back(values.imaginary.at(output.value));
  }
  return results;
}

Status emit_conditional(ModelBuilder& model, OpBuilder::Values& values, const graph::Node& node) {
  const graph::Conditional conditional = graph::conditional_of(node);
  for (const graph::Value* value : node.inputs()) LEAPP_RETURN_IF_ERROR(add_if_constant(model, values, *value));
  Status status;
  const auto body = [&](const graph::Graph& side) {
    return [&] {
      auto results = emit_side(model, values, conditional.operands, side);
      if (!results.ok() && status.ok()) status = results.status();
      return results.ok() ? std::move(results).value() : std::vector<Tensor>();
    };
  };
  const std::vector<Tensor> results =
      model.add_branch(values.tensors.at(conditional.condition), body(*conditional.then_side),
                       body(*conditional.else_side), onnx_ops::location_text(node.location()));
  LEAPP_RETURN_IF_ERROR(status);
  std::size_t next = 0;
  for (const auto& result : node.results()) {
    values.tensors.insert_or_assign(result.get(), results[next++]);
    if (is_complex(result->dtype())) values.imaginary.insert_or_assign(result.get(), results[next++]);
  }
  return {};
}

/// What a loop carries, as tensors: a complex value is two.
std::vector<Tensor> parts_of(const OpBuilder::Values& values, const std::vector<graph::Value*>& carried) {
  std::vector<Tensor> parts;
  for (const graph::Value* value : carried) {
    parts.push_back(values.tensors.at(value));
    if (values.imaginary.contains(value)) parts.push_back(values.imaginary.at(value));
  }
  return parts;
}

void bind_parts(const graph::Value& value, std::vector<Tensor>::const_iterator& next, OpBuilder::Values& values) {
  values.tensors.insert_or_assign(&value, *next++);
  if (is_complex(value.dtype())) values.imaginary.insert_or_assign(&value, *next++);
}

/// One round: the condition of the next, unless nothing but the count ends the loop, and what is carried on.
Result<std::vector<Tensor>> emit_round(ModelBuilder& model, const OpBuilder::Values& outside,
                                       const graph::LoopNode& loop, const Tensor& round,
                                       const std::vector<Tensor>& state) {
  OpBuilder::Values values;
  auto input = loop.body->inputs().begin();
  values.tensors.emplace(input->get(), round);
  auto next = state.begin();
  for (std::size_t i = 0; i < loop.carried.size(); ++i) bind_parts(**++input, next, values);
  for (const graph::Value* operand : loop.operands) {
    values.tensors.emplace((++input)->get(), outside.tensors.at(operand));
    const auto imaginary = outside.imaginary.find(operand);
    if (imaginary != outside.imaginary.end()) values.imaginary.emplace(input->get(), imaginary->second);
  }
  for (const auto& node : loop.body->nodes()) LEAPP_RETURN_IF_ERROR(emit_node(model, values, *node));
  std::vector<graph::Value*> outputs;
  for (const graph::Output& output : loop.body->outputs()) outputs.push_back(output.value);
  if (graph::is_counted(loop)) outputs.erase(outputs.begin());
  for (const graph::Value* output : outputs) LEAPP_RETURN_IF_ERROR(add_if_constant(model, values, *output));
  return parts_of(values, outputs);
}

Status emit_loop(ModelBuilder& model, OpBuilder::Values& values, const graph::Node& node) {
  const graph::LoopNode loop = graph::loop_of(node);
  for (const graph::Value* value : node.inputs()) LEAPP_RETURN_IF_ERROR(add_if_constant(model, values, *value));
  onnx_ops::LoopSpec spec{.rounds = {}, .state = parts_of(values, loop.carried), .go_on = {}, .doc_string = ""};
  if (loop.count != nullptr) spec.rounds = values.tensors.at(loop.count);
  if (!graph::is_counted(loop)) spec.go_on = values.tensors.at(loop.condition);
  spec.doc_string = onnx_ops::location_text(node.location());
  Status status;
  const auto body = [&](const Tensor& round, const std::vector<Tensor>& state) {
    auto results = emit_round(model, values, loop, round, state);
    if (results.ok()) return std::move(results).value();
    status = results.status();
    return std::vector<Tensor>();
  };
  const std::vector<Tensor> results = model.add_loop(spec, body);
  LEAPP_RETURN_IF_ERROR(status);
  auto next = results.begin();
  for (const auto& result : node.results()) bind_parts(*result, next, values);
  return {};
}

Status emit_node(ModelBuilder& model, OpBuilder::Values& values, const graph::Node& node) {
  if (graph::is_conditional(node)) return emit_conditional(model, values, node);
  if (graph::is_loop(node)) return emit_loop(model, values, node);
  const std::string name = node.qualified_name();
  const EmitEntry* entry = onnx_ops::find_emitter(name);
  const bool nothing = std::all_of(node.results().begin(), node.results().end(),
                                   [](const auto& result) { return graph::element_count(result->shape()) == 0; });
  const bool complex = touches_complex(node);
  if (nothing && (complex || (entry != nullptr && entry->onnx_op != onnx_ops::kEvenWhenEmpty))) {
    return emit_nothing(OpBuilder(model, values, node, ""), node);
  }
  LEAPP_RETURN_IF_ERROR(complex ? emit_complex(model, values, node) : emit_real(model, values, node));
  for (const auto& result : node.results()) {
    if (!values.contains(result.get()) && !result->unused()) {
      return internal_error(fmt::format("{}: the handler bound no value to result {}", name, result->name()));
    }
  }
  return {};
}

/// Moves the weights into the file beside the model, at offsets that can be mapped into memory.
onnx::Pieces make_external(onnx::GraphProto& graph, const OnnxOptions& options) {
  constexpr std::size_t kSmall = 1024;  // stays inside: shapes, axes, scalars
  constexpr std::size_t kAlignment = 4096;
  onnx::Pieces data;
  for (onnx::TensorProto& tensor : graph.initializers) {
    const std::size_t size = tensor.raw_data.view.size();
    if (size <= kSmall) continue;
    data.append_zeros((kAlignment - data.size() % kAlignment) % kAlignment);
    tensor.external = onnx::ExternalData{options.external_data_name, data.size(), size};
    data.append(tensor.raw_data);
  }
  return data;
}

/// Gives every operator that draws a seed of its own, from this one on; those in branches too.
void set_seeds(onnx::GraphProto& graph, std::int64_t& seed) {
  for (onnx::NodeProto& node : graph.nodes) {
    if (node.op_type == "RandomUniform" || node.op_type == "RandomNormal") {
      node.attributes.push_back({"seed", static_cast<float>(seed++ % (1 << 24))});
    }
    for (onnx::AttributeProto& attribute : node.attributes) {
      const auto* inner = std::get_if<std::shared_ptr<const onnx::GraphProto>>(&attribute.value);
      if (inner == nullptr) continue;
      auto seeded = std::make_shared<onnx::GraphProto>(**inner);
      set_seeds(*seeded, seed);
      attribute.value = std::shared_ptr<const onnx::GraphProto>(std::move(seeded));
    }
  }
}

Result<OnnxModel> finish(ModelBuilder& builder, const graph::Graph& graph, const OnnxOptions& options) {
  LEAPP_ASSIGN_OR_RETURN(const int ir_version, ir_version_of(options));
  onnx::ModelProto model;
  model.ir_version = ir_version;
  model.opset_imports = {{"", options.opset_version}};
  model.producer_name = "leapp";
  model.producer_version = LEAPP_VERSION;
  model.metadata_props = options.metadata;
  model.graph = builder.finish(graph.name().empty() ? "graph" : graph.name());
  if (auto seed = options.seed) set_seeds(model.graph, *seed);
  std::uint64_t bytes = 0;
  for (const onnx::TensorProto& tensor : model.graph.initializers) bytes += tensor.raw_data.view.size();
  OnnxModel result;
  if (bytes > options.max_inline_bytes) {
    if (options.external_data_name.empty()) {
      return invalid_argument(fmt::format("external_data_name: {} bytes of weights do not fit into one file", bytes));
    }
    result.external_data = make_external(model.graph, options);
  }
  result.model = onnx::write_model(model);
  return result;
}

}  // namespace

OnnxPortNames onnx_port_names(const graph::Graph& graph) {
  std::unordered_set<std::string> inputs;
  std::unordered_set<std::string> outputs;
  for (const auto& input : graph.inputs()) inputs.insert(input->name());
  for (const graph::Output& output : graph.outputs()) outputs.insert(output.name);
  std::unordered_set<std::string> taken;
  for (const std::string& name : inputs) {
    if (!outputs.contains(name)) taken.insert(name);
  }
  for (const std::string& name : outputs) {
    if (!inputs.contains(name)) taken.insert(name);
  }
  OnnxPortNames names;
  for (const auto& input : graph.inputs()) {
    const bool both = outputs.contains(input->name());
    names.inputs.push_back(both ? unlike(input->name() + "_in", taken) : input->name());
  }
  for (const graph::Output& output : graph.outputs()) {
    const bool both = inputs.contains(output.name);
    names.outputs.push_back(both ? unlike(output.name + "_out", taken) : output.name);
  }
  return names;
}

Result<OnnxModel> emit_onnx(const graph::Graph& graph, const OnnxOptions& options) {
  LEAPP_RETURN_IF_ERROR(ir_version_of(options).status());
  const OnnxPortNames names = onnx_port_names(graph);
  ModelBuilder builder(options.opset_version);
  OpBuilder::Values values;
  std::size_t index = 0;
  for (const auto& input : graph.inputs()) {
    LEAPP_RETURN_IF_ERROR(check_port("input", input->name(), *input));
    values.tensors.emplace(input.get(), builder.add_input(names.inputs[index++], input->type()));
  }
  for (const auto& node : graph.nodes()) LEAPP_RETURN_IF_ERROR(emit_node(builder, values, *node));
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const graph::Value& value = *graph.outputs()[i].value;
    LEAPP_RETURN_IF_ERROR(check_port("output", graph.outputs()[i].name, value));
    if (value.kind() == graph::ValueKind::kConstant) {
      values.tensors.insert_or_assign(&value, builder.add_constant(value.constant(), value.name()));
    }
    const std::string line = value.producer() == nullptr ? "" : onnx_ops::location_text(value.producer()->location());
    builder.add_output(names.outputs[i], values.tensors.at(&value), line);
  }
  LEAPP_ASSIGN_OR_RETURN(OnnxModel model, finish(builder, graph, options));
  for (const auto& [value, tensor] : values.tensors) {
    if (std::string name = builder.result_name(tensor); !name.empty())
      model.value_names.emplace(value, std::move(name));
  }
  return model;
}

std::string onnx_added_outputs(const OnnxModel& model, const std::vector<const graph::Value*>& values) {
  std::vector<onnx::ValueInfo> outputs;
  for (const graph::Value* value : values) {
    outputs.push_back({model.value_names.at(value), onnx::data_type_of(value->dtype()).value_or(0), value->shape()});
  }
  return onnx::write_added_outputs(outputs);
}

bool is_supported(std::string_view op, std::string_view overload) {
  if (op == graph::kConditional || op == graph::kLoop) return true;
  std::string name(op);
  if (!overload.empty()) name.append(".").append(overload);
  return onnx_ops::find_emitter(name) != nullptr || onnx_ops::find_complex_op(name) != nullptr;
}

}  // namespace leapp::emit
