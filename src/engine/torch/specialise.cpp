// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/torch/specialise.h"

#include <ATen/Functions.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace leapp::engine {
namespace {

namespace jit = torch::jit;

std::optional<at::Tensor> constant(const jit::Value& value) {
  const auto found = jit::toIValue(&value);
  return found && found->isTensor() && found->toTensor().defined() ? std::optional(found->toTensor()) : std::nullopt;
}

/// The linear layers whose weight and bias are constants, in their order.
std::vector<jit::Node*> layers_of(jit::Graph& graph) {
  std::vector<jit::Node*> layers;
  for (jit::Node* node : graph.nodes()) {
    if (node->kind() == c10::aten::linear && constant(*node->input(1)) && constant(*node->input(2))) {
      layers.push_back(node);
    }
  }
  return layers;
}

/// How many dimensions the input of each has in a run with `inputs`. torch's analysis of shapes does not know `linear`.
std::vector<std::int64_t> ranks(const jit::Module& module, jit::Graph& graph, const std::vector<at::Tensor>& inputs) {
  const std::shared_ptr<jit::Graph> probe = graph.copy();
  const std::vector<jit::Node*> layers = layers_of(*probe);
  for (const jit::Node* layer : layers) probe->registerOutput(layer->input(0));
  jit::Stack stack{module._ivalue()};
  for (const at::Tensor& input : inputs) stack.emplace_back(input.clone());  // a model may write to what it is given
  jit::InterpreterState(jit::Code(probe, "forward")).run(stack);
  std::vector<std::int64_t> found;
  std::transform(stack.end() - static_cast<std::ptrdiff_t>(layers.size()), stack.end(), std::back_inserter(found),
                 [](const c10::IValue& value) { return value.toTensor().dim(); });
  return found;
}

/// linear(x, w, b) of rows is addmm(b, x, w.t()): so does torch, and makes the view of `w` anew in each call.
void unfold(jit::Node& linear) {
  jit::Graph& graph = *linear.owningGraph();
  const jit::WithInsertPoint before(&linear);
  jit::Value* transposed = graph.insertConstant(constant(*linear.input(1))->t());
  linear.output()->replaceAllUsesWith(graph.insert(c10::aten::addmm, {linear.input(2), linear.input(0), transposed}));
  linear.destroy();
}

}  // namespace

jit::Module specialised(const jit::Module& module, const std::vector<at::Tensor>& inputs) {
  jit::Module frozen = jit::freeze_module(module);
  const std::shared_ptr<jit::Graph> graph = frozen.get_method("forward").graph();
  // With branches, shapes may depend on what is computed.
  const bool branches = std::any_of(graph->nodes().begin(), graph->nodes().end(),
                                    [](const jit::Node* node) { return !node->blocks().empty(); });
  if (branches) return frozen;
  const std::vector<jit::Node*> layers = layers_of(*graph);
  if (layers.empty()) return frozen;
  const std::vector<std::int64_t> dimensions = ranks(frozen, *graph, inputs);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (dimensions[i] == 2 && constant(*layers[i]->input(1))->dim() == 2) unfold(*layers[i]);
  }
  return frozen;
}

}  // namespace leapp::engine
