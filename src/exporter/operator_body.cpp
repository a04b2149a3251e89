// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/operator_body.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "capture/hook/unrecorded.h"
#include "capture/trace/expand.h"
#include "emit/torchscript/evaluator.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

using ValueMap = std::unordered_map<const graph::Value*, graph::Value*>;

/// How operands are made up: what an operator takes differs.
enum class Numbers : std::uint8_t { kBetween0And1, kNormal, kZeroIndices };

at::Tensor made_up(const graph::TensorType& type, Numbers numbers, const at::Generator& from) {
  const at::ScalarType dtype = to_scalar_type(type.dtype);
  if (dtype == at::kBool) return at::randint(0, 2, type.shape, from, at::kLong).to(dtype);
  if (at::isFloatingType(dtype) || at::isComplexType(dtype)) {
    const bool normal = numbers == Numbers::kNormal;
    return (normal ? at::randn(type.shape, from, at::kFloat) : at::rand(type.shape, from, at::kFloat)).to(dtype);
  }
  // Integers are often positions or classes: these are there whatever the sizes.
  return numbers == Numbers::kZeroIndices ? at::zeros(type.shape, dtype) : at::randint(0, 2, type.shape, from, dtype);
}

graph::Attribute mapped(const graph::Attribute& attribute, const ValueMap& values) {
  if (const auto* value = std::get_if<graph::Value*>(&attribute)) return values.at(*value);
  if (const auto* list = std::get_if<std::vector<graph::Value*>>(&attribute)) {
    std::vector<graph::Value*> all;
    for (const graph::Value* value : *list) all.push_back(value == nullptr ? nullptr : values.at(value));
    return all;
  }
  return attribute;
}

graph::NodeSpec spec_of(const graph::Node& node, const ValueMap& values) {
  graph::NodeSpec spec{.op = node.op(), .overload = node.overload(), .arguments = {}, .results = {}};
  for (const graph::Argument& argument : node.arguments()) {
    spec.arguments.push_back({argument.name, mapped(argument.value, values)});
  }
  for (const auto& result : node.results()) spec.results.push_back(result->type());
  spec.random = node.is_random();
  return spec;
}

/// The node alone, with constants for operands: something to run.
class Trial {
 public:
  Trial(const graph::Node& node, Numbers numbers) {
    // The user's random numbers are not ours to draw, and every export is to look at the same ones.
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(static_cast<std::uint64_t>(numbers));
    for (graph::Value* operand : node.inputs()) {
      if (values_.contains(operand)) continue;
      if (operand->kind() == graph::ValueKind::kConstant) {
        values_[operand] = graph_.add_constant(operand->constant());
        continue;
      }
      inputs_.push_back(made_up(operand->type(), numbers, generator));
      values_[operand] = graph_.add_constant(*to_constant(inputs_.back()));
      live_.push_back(values_[operand]);
    }
    node_ = graph_.append(spec_of(node, values_));
  }

  /// In the order of body_operands.
  [[nodiscard]] const std::vector<at::Tensor>& inputs() const { return inputs_; }

  /// The operator's own results; empty: it failed.
  [[nodiscard]] std::vector<at::Tensor> run() const {
    std::vector<at::Tensor> results;
    const auto constants = emit::evaluate(*node_);
    if (!constants) return results;
    for (const graph::Constant& constant : *constants) results.push_back(to_tensor(constant));
    return results;
  }

  /// What `body` gives for the same operands; empty: it failed.
  [[nodiscard]] std::vector<at::Tensor> run(const graph::Graph& body) {
    const std::vector<graph::Value*> outputs = insert_body(graph_, node_, body, live_);
    std::unordered_map<const graph::Value*, graph::Value*> known;
    for (const auto& node : graph_.nodes()) {
      if (node.get() == node_) break;
      const auto constants = emit::evaluate(*node);
      if (!constants) return {};
      for (std::size_t i = 0; i < constants->size(); ++i) {
        known[node->result(i)] = graph_.add_constant((*constants)[i]);
        graph_.replace_all_uses(node->result(i), known[node->result(i)]);
      }
    }
    std::vector<at::Tensor> results;
    for (const graph::Value* output : outputs) {
      const auto found = known.find(output);
      results.push_back(to_tensor((found == known.end() ? output : found->second)->constant()));
    }
    return results;
  }

 private:
  graph::Graph graph_;
  ValueMap values_;
  std::vector<at::Tensor> inputs_;
  std::vector<graph::Value*> live_;
  graph::Node* node_ = nullptr;
};

bool same(const at::Tensor& found, const at::Tensor& expected) {
  if (found.scalar_type() != expected.scalar_type() || found.sizes() != expected.sizes()) return false;
  if (!at::isFloatingType(expected.scalar_type()) && !at::isComplexType(expected.scalar_type())) {
    return found.equal(expected);
  }
  const bool half = expected.element_size() < 4;
  return at::allclose(found, expected, half ? 1e-2 : 1e-4, half ? 1e-2 : 1e-5, true);
}

/// Whether body and operator agree on other numbers than those it was recorded with.
bool agrees(const graph::Node& node, const graph::Graph& body) {
  const capture::Suppress quiet;
  int compared = 0;
  for (const Numbers numbers : {Numbers::kNormal, Numbers::kBetween0And1, Numbers::kZeroIndices}) {
    Trial trial(node, numbers);
    const std::vector<at::Tensor> expected = trial.run();
    if (expected.empty()) continue;
    const std::vector<at::Tensor> found = trial.run(body);
    const bool equal = std::equal(found.begin(), found.end(), expected.begin(), expected.end(), same);
    if (!equal) return false;
    ++compared;
  }
  return compared > 0;
}

bool calls_itself(const graph::Node& node, const graph::Graph& body) {
  return std::any_of(body.nodes().begin(), body.nodes().end(),
                     [&](const auto& inner) { return inner->qualified_name() == node.qualified_name(); });
}

Result<graph::Graph> recorded(const graph::Node& node) {
  Status refusal = unimplemented("it takes no tensors");
  for (const Numbers numbers : {Numbers::kBetween0And1, Numbers::kZeroIndices}) {
    std::optional<Trial> trial;
    {
      const capture::Suppress quiet;
      trial.emplace(node, numbers);
    }
    if (trial->inputs().empty()) break;
    auto body =
        capture::record_inside({node.op(), node.overload(), trial->inputs(), [&trial] { return trial->run(); }});
    if (body.ok()) return body;
    refusal = body.status();
  }
  return refusal;
}

}  // namespace

std::vector<graph::Value*> body_operands(const graph::Node& node) {
  std::vector<graph::Value*> operands;
  for (graph::Value* value : node.inputs()) {
    const bool constant = value->kind() == graph::ValueKind::kConstant;
    if (!constant && std::find(operands.begin(), operands.end(), value) == operands.end()) operands.push_back(value);
  }
  return operands;
}

Result<graph::Graph> body_of(const graph::Node& node) {
  if (node.is_random()) return unimplemented(fmt::format("{} draws random numbers", node.qualified_name()));
  const auto refuse = [&](const std::string& why) {
    return unimplemented(
        fmt::format("{} cannot be replaced by the operators it calls: {}", node.qualified_name(), why));
  };
  auto body = recorded(node);
  if (!body.ok()) return refuse(body.status().message());
  if (calls_itself(node, body.value())) return refuse("it calls itself");
  if (!agrees(node, body.value())) return refuse("they give another result for other numbers");
  return body;
}

std::vector<graph::Value*> insert_body(graph::Graph& graph, graph::Node* position, const graph::Graph& body,
                                       const std::vector<graph::Value*>& operands) {
  ValueMap values;
  std::size_t next = 0;
  for (const auto& input : body.inputs()) values[input.get()] = operands[next++];
  for (const auto& constant : body.constants()) {
    values[constant.get()] = graph.add_constant(constant->constant(), constant->name());
  }
  for (const auto& node : body.nodes()) {
    graph::NodeSpec spec = spec_of(*node, values);
    spec.location = position->location();
    const graph::Node* copy = graph.insert_before(position, std::move(spec));
    for (std::size_t i = 0; i < node->results().size(); ++i) values[node->result(i)] = copy->result(i);
  }
  std::vector<graph::Value*> outputs;
  for (const graph::Output& output : body.outputs()) outputs.push_back(values.at(output.value));
  return outputs;
}

}  // namespace leapp::exporter
