// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <unordered_map>
#include <utility>

#include "emit/torchscript/module_builder.h"
#include "exporter/validate/runners/intermediates.h"
#include "exporter/validate/runners/runner.h"
#include "torch_types/failure.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

namespace jit = torch::jit;

/// Which value of the model's code, counted in its order: of which operator, and which result of it.
struct CodePlace {
  std::size_t call = 0;
  std::size_t result = 0;
};

/// The tensors an operator gives, a list of them taken apart.
std::vector<jit::Value*> results_of(jit::Node* call) {
  std::vector<jit::Value*> results;
  for (jit::Value* output : call->outputs()) {
    if (output->type()->kind() == c10::TypeKind::TensorType) {
      results.push_back(output);
      continue;
    }
    for (const jit::Use& use : output->uses()) {
      if (use.user->kind() != c10::prim::ListUnpack) continue;
      results.insert(results.end(), use.user->outputs().begin(), use.user->outputs().end());
      break;
    }
  }
  return results;
}

/// Runs the file's code with other outputs: those that are asked for. What they do not need is not run.
class TorchscriptIntermediates final : public Intermediates {
 public:
  TorchscriptIntermediates(jit::Module module, Values inputs, std::unordered_map<const graph::Value*, CodePlace> places)
      : module_(std::move(module)), inputs_(std::move(inputs)), places_(std::move(places)) {}

  [[nodiscard]] bool has(const graph::Value& value) const override { return places_.contains(&value); }

  Result<Values> compute(const std::vector<const graph::Value*>& values) override try {
    if (values.empty()) return Values();
    const auto code = module_.get_method("forward").graph()->copy();
    const std::vector<jit::Node*> operators = emit::operators_of(*code);
    while (!code->outputs().empty()) code->eraseOutput(0);
    for (const graph::Value* value : values) {
      const CodePlace& place = places_.at(value);
      code->registerOutput(results_of(operators[place.call])[place.result]);
    }
    jit::EliminateDeadCode(code);
    const jit::GraphOptimizerEnabledGuard no_optimisation(false);
    jit::Stack stack{module_._ivalue()};
    for (const auto& input : inputs_) stack.emplace_back(to_tensor(input.value()).clone());
    jit::GraphExecutor(code, "intermediates").run(stack);
    Values results;
    for (const c10::IValue& value : stack) results.push_back(to_constant(value.toTensor()));
    return results;
  } catch (const std::exception& failure) {
    return failure_status(failure, [&] { return reason_of(failure); });
  }

 private:
  jit::Module module_;
  Values inputs_;
  std::unordered_map<const graph::Value*, CodePlace> places_;
};

/// A value of the graph is what the last call on behalf of its operator gives: those before it only prepare.
std::unordered_map<const graph::Value*, CodePlace> places_of(const std::vector<emit::ScriptCall>& calls,
                                                             const std::vector<jit::Node*>& operators) {
  std::unordered_map<const graph::Value*, CodePlace> places;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t results = results_of(operators[i]).size();
    for (std::size_t r = 0; r < calls[i].node->results().size() && r < results; ++r) {
      places[calls[i].node->result(r)] = {i, r};
    }
  }
  return places;
}

}  // namespace

Result<std::unique_ptr<Intermediates>> torchscript_intermediates(const EmittedModel& model) try {
  const emit::BuiltModule built =
      emit::build_module(*model.graph, {.with_tensors = false, .source_lines = false, .typed = {}});
  jit::Module module = jit::load(model.file.string());
  module.eval();
  const auto code = module.get_method("forward").graph();
  const std::vector<jit::Node*> operators = emit::operators_of(*code);
  if (operators.size() != built.calls.size()) {
    return unimplemented(
        fmt::format("the file's code has {} operators, the captured graph {}", operators.size(), built.calls.size()));
  }
  auto places = places_of(built.calls, operators);
  return std::unique_ptr<Intermediates>(
      std::make_unique<TorchscriptIntermediates>(std::move(module), model.inputs, std::move(places)));
} catch (const std::exception& failure) {
  return failure_status(failure, [&] { return reason_of(failure); });
}

}  // namespace leapp::exporter
