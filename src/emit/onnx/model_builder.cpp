// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/model_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/hash.h"

namespace leapp::onnx_ops {
namespace {

std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace

Tensor ModelBuilder::new_value(Kind kind, std::string name, graph::TensorType type) {
  const auto id = static_cast<std::int32_t>(values_.size());
  Tensor tensor{id, type.dtype, type.shape};
  values_.push_back({kind, std::move(name), std::move(type)});
  return tensor;
}

Tensor ModelBuilder::add_input(std::string name, graph::TensorType type) {
  taken_.insert(name);
  Tensor tensor = new_value(Kind::kInput, std::move(name), std::move(type));
  inputs_.push_back(tensor.id);
  return tensor;
}

Tensor ModelBuilder::add_constant(graph::Constant constant, std::string wish) {
  const std::uint64_t hash = content_hash(constant.bytes(), static_cast<std::uint64_t>(constant.type.dtype));
  std::vector<std::int32_t>& alike = constants_by_hash_[hash];
  for (const std::int32_t id : alike) {
    const graph::Constant& other = constants_[values_[index_of(id)].constant];
    if (other.same_content(constant)) return {id, constant.type.dtype, constant.type.shape};
  }
  Tensor tensor = new_value(Kind::kConstant, std::move(wish), constant.type);
  values_.back().constant = constants_.size();
  constants_.push_back(std::move(constant));
  alike.push_back(tensor.id);
  return tensor;
}

std::vector<Tensor> ModelBuilder::add_node(OnnxNodeSpec spec) {
  std::vector<Tensor> results;
  NodeRecord record;
  for (const graph::TensorType& type : spec.results) {
    results.push_back(new_value(Kind::kResult, "", type));
    record.outputs.push_back(results.back().id);
    values_.back().op = spec.op;
    if (!spec.inputs.empty()) values_.back().from = spec.inputs.front();
  }
  record.spec = std::move(spec);
  nodes_.push_back(std::move(record));
  return results;
}

/// A result of the body that is no other output of it yet: what else there is passes through an Identity.
std::int32_t ModelBuilder::body_output(const Tensor& value, std::int32_t first,
                                       const std::vector<std::int32_t>& others) {
  const bool made_here = value.id >= first && values_[index_of(value.id)].kind == Kind::kResult;
  const bool twice = std::find(others.begin(), others.end(), value.id) != others.end();
  return made_here && !twice ? value.id : add_node({"Identity", {value}, {}, {value.type()}, ""})[0].id;
}

std::vector<Tensor> ModelBuilder::add_loop(const LoopSpec& spec, const LoopBody& body) {
  BodyRecord record{"body", {}, {}, {}};
  std::vector<NodeRecord> outer;
  outer.swap(nodes_);
  const auto first = static_cast<std::int32_t>(values_.size());
  const Tensor round = new_value(Kind::kBodyInput, "", {DType::kInt64, {}});
  const Tensor go_on = new_value(Kind::kBodyInput, "", {DType::kBool, {}});
  record.inputs = {round.id, go_on.id};
  std::vector<Tensor> state;
  OnnxNodeSpec loop{"Loop", {spec.rounds, spec.go_on}, {}, {}, spec.doc_string};
  for (const Tensor& initial : spec.state) {
    state.push_back(new_value(Kind::kBodyInput, "", initial.type()));
    record.inputs.push_back(state.back().id);
    loop.inputs.push_back(initial);
    loop.results.push_back(initial.type());
  }
  std::vector<Tensor> next = body(round, state);
  if (!spec.go_on.present()) next.insert(next.begin(), go_on);
  for (const Tensor& value : next) record.outputs.push_back(body_output(value, first, record.outputs));
  outer.swap(nodes_);
  record.nodes = std::move(outer);
  std::vector<Tensor> results = add_node(std::move(loop));
  nodes_.back().bodies.push_back(std::move(record));
  return results;
}

ModelBuilder::BodyRecord ModelBuilder::side_of_branch(const char* attribute, const BranchBody& body) {
  BodyRecord record{attribute, {}, {}, {}};
  std::vector<NodeRecord> outer;
  outer.swap(nodes_);
  const auto first = static_cast<std::int32_t>(values_.size());
  for (const Tensor& value : body()) record.outputs.push_back(body_output(value, first, record.outputs));
  outer.swap(nodes_);
  record.nodes = std::move(outer);
  return record;
}

std::vector<Tensor> ModelBuilder::add_branch(const Tensor& condition, const BranchBody& then_body,
                                             const BranchBody& else_body, const std::string& doc_string) {
  BodyRecord then_side = side_of_branch("then_branch", then_body);
  BodyRecord else_side = side_of_branch("else_branch", else_body);
  OnnxNodeSpec branch{"If", {condition}, {}, {}, doc_string};
  for (const std::int32_t id : then_side.outputs) branch.results.push_back(values_[index_of(id)].type);
  std::vector<Tensor> results = add_node(std::move(branch));
  nodes_.back().bodies.push_back(std::move(then_side));
  nodes_.back().bodies.push_back(std::move(else_side));
  return results;
}

bool ModelBuilder::is_read(const Tensor& value) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const NodeRecord& node) {
    return std::any_of(node.spec.inputs.begin(), node.spec.inputs.end(),
                       [&](const Tensor& input) { return input.id == value.id; });
  });
}

Tensor ModelBuilder::shape_of(const Tensor& value) {
  const std::size_t size = value.shape.size() * sizeof(std::int64_t);
  const std::shared_ptr<void> copy(std::malloc(size), &std::free);
  std::memcpy(copy.get(), value.shape.data(), size);
  return add_constant({{DType::kInt64, {value.rank()}}, copy}, "");
}

void ModelBuilder::add_output(std::string name, const Tensor& value, const std::string& doc_string) {
  taken_.insert(name);
  Tensor output = value;
  if (producer(value) == "Transpose" && is_read(value)) {
    // Joining it to a Gemm that reads it too, ONNX Runtime drops the Transpose and with it the output.
    output = add_node({"Reshape", {value, shape_of(value)}, {}, {value.type()}, doc_string})[0];
  } else if (values_[index_of(value.id)].kind != Kind::kResult || !values_[index_of(value.id)].name.empty()) {
    output = add_node({"Identity", {value}, {}, {value.type()}, doc_string})[0];
  }
  values_[index_of(output.id)].name = std::move(name);
  outputs_.push_back(output.id);
}

const graph::Constant* ModelBuilder::constant(const Tensor& value) const {
  if (!value.present() || values_[index_of(value.id)].kind != Kind::kConstant) return nullptr;
  return &constants_[values_[index_of(value.id)].constant];
}

std::string_view ModelBuilder::producer(const Tensor& value) const {
  return value.present() ? std::string_view(values_[index_of(value.id)].op) : "";
}

Tensor ModelBuilder::produced_from(const Tensor& value) const {
  return value.present() ? values_[index_of(value.id)].from : Tensor{};
}

void ModelBuilder::mark_used(std::vector<NodeRecord>& nodes) {
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    node->used = std::any_of(node->outputs.begin(), node->outputs.end(),
                             [&](std::int32_t id) { return values_[index_of(id)].used; });
    if (!node->used) continue;
    for (const Tensor& input : node->spec.inputs) {
      if (input.present()) values_[index_of(input.id)].used = true;
    }
    for (BodyRecord& body : node->bodies) {
      for (const std::int32_t id : body.outputs) values_[index_of(id)].used = true;
      mark_used(body.nodes);
    }
  }
}

std::string ModelBuilder::free_name(const std::string& wish) {
  std::string name = wish;
  while (!taken_.insert(name).second) name = wish + "_" + std::to_string(next_suffix_[wish]++);
  return name;
}

void ModelBuilder::give_names() {
  std::int64_t next = 0;
  for (ValueRecord& value : values_) {
    if (value.kind == Kind::kConstant && value.used && !value.name.empty()) value.name = free_name(value.name);
  }
  for (ValueRecord& value : values_) {
    if (!value.name.empty() || value.kind == Kind::kInput) continue;
    if (value.kind == Kind::kConstant && !value.used) continue;
    value.name = free_name((value.kind == Kind::kConstant ? "c" : "t") + std::to_string(next++));
  }
}

std::string ModelBuilder::result_name(const Tensor& value) const {
  if (!value.present()) return "";
  const ValueRecord& record = values_[index_of(value.id)];
  return record.kind == Kind::kResult && record.used ? record.name : "";
}

onnx::ValueInfo ModelBuilder::info_of(std::int32_t id) const {
  const ValueRecord& value = values_[index_of(id)];
  return {value.name, onnx::data_type_of(value.type.dtype).value_or(0), value.type.shape};
}

std::vector<onnx::NodeProto> ModelBuilder::written(std::vector<NodeRecord>& records, NodeNumbers& numbers) const {
  std::vector<onnx::NodeProto> nodes;
  for (NodeRecord& record : records) {
    if (!record.used) continue;
    onnx::NodeProto node;
    node.op_type = record.spec.op;
    node.name = record.spec.op + "_" + std::to_string(numbers[record.spec.op]++);
    node.doc_string = std::move(record.spec.doc_string);
    node.attributes = std::move(record.spec.attributes);
    for (const Tensor& input : record.spec.inputs) {
      node.inputs.push_back(input.present() ? values_[index_of(input.id)].name : std::string());
    }
    for (const std::int32_t id : record.outputs) node.outputs.push_back(values_[index_of(id)].name);
    for (BodyRecord& inner : record.bodies) {
      auto body = std::make_shared<onnx::GraphProto>();
      body->name = node.name + "_" + inner.attribute;
      for (const std::int32_t id : inner.inputs) body->inputs.push_back(info_of(id));
      for (const std::int32_t id : inner.outputs) body->outputs.push_back(info_of(id));
      body->nodes = written(inner.nodes, numbers);
      node.attributes.push_back({inner.attribute, std::shared_ptr<const onnx::GraphProto>(std::move(body))});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

onnx::GraphProto ModelBuilder::finish(std::string name) {
  for (const std::int32_t id : outputs_) values_[index_of(id)].used = true;
  mark_used(nodes_);
  give_names();
  onnx::GraphProto graph;
  graph.name = std::move(name);
  for (const std::int32_t id : inputs_) graph.inputs.push_back(info_of(id));
  for (const std::int32_t id : outputs_) graph.outputs.push_back(info_of(id));
  for (const ValueRecord& value : values_) {
    if (value.kind != Kind::kConstant || !value.used) continue;
    const graph::Constant& constant = constants_[value.constant];
    graph.initializers.push_back({value.name,
                                  onnx::data_type_of(value.type.dtype).value_or(0),
                                  value.type.shape,
                                  {constant.data, constant.bytes()},
                                  std::nullopt});
  }
  NodeNumbers numbers;
  graph.nodes = written(nodes_, numbers);
  return graph;
}

}  // namespace leapp::onnx_ops
