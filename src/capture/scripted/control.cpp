// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/control.h"

#include <ATen/ScalarOps.h>
#include <torch/library.h>

#include <cstring>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/attributes.h"
#include "capture/hook/op_info.h"
#include "graph/conditional.h"
#include "graph/loop.h"
#include "graph/text.h"
#include "torch_types/tensors.h"

namespace leapp::capture {
namespace {

using Tensors = std::vector<at::Tensor>;

thread_local const std::function<Tensors()>* t_scripted = nullptr;

Result<graph::GraphPtr> parsed(const std::string& text) {
  LEAPP_ASSIGN_OR_RETURN(graph::Graph graph, graph::parse(text));
  return std::make_shared<const graph::Graph>(std::move(graph));
}

// ---- Graphs, run by torch's operators: for values that are known when a session ends ----

Tensors run_body(const graph::Graph& body, const Tensors& inputs);

class BodyRun {
 public:
  BodyRun(const graph::Graph& body, const Tensors& inputs) {
    std::size_t next = 0;
    for (const auto& input : body.inputs()) known_[input.get()] = inputs[next++];
    for (const auto& constant : body.constants()) {
      const graph::Constant& content = constant->constant();
      const at::Tensor made = at::empty(content.type.shape, to_scalar_type(content.type.dtype));
      if (made.nbytes() > 0) std::memcpy(made.data_ptr(), content.bytes().data(), made.nbytes());
      known_[constant.get()] = made;
    }
    for (const auto& node : body.nodes()) {
      const Tensors results = results_of(*node);
      for (std::size_t i = 0; i < node->results().size(); ++i) known_[node->result(i)] = results.at(i);
    }
  }
  [[nodiscard]] const at::Tensor& at(const graph::Value* value) const { return known_.at(value); }

 private:
  [[nodiscard]] Tensors all(const std::vector<graph::Value*>& values) const {
    Tensors tensors;
    for (const graph::Value* value : values) tensors.push_back(value == nullptr ? at::Tensor() : at(value));
    return tensors;
  }

  Tensors results_of(const graph::Node& node) {
    if (graph::is_conditional(node)) {
      const graph::Conditional branch = graph::conditional_of(node);
      const bool taken = at(branch.condition).item<bool>();
      return run_body(taken ? *branch.then_side : *branch.else_side, all(branch.operands));
    }
    return graph::is_loop(node) ? rounds(graph::loop_of(node)) : operator_results(node);
  }

  Tensors rounds(const graph::LoopNode& loop) {
    const std::int64_t most =
        loop.count == nullptr ? std::numeric_limits<std::int64_t>::max() : at(loop.count).item<std::int64_t>();
    bool go_on = at(loop.condition).item<bool>();
    Tensors carried = all(loop.carried);
    const Tensors operands = all(loop.operands);
    for (std::int64_t round = 0; go_on && round < most; ++round) {
      Tensors inputs{at::scalar_tensor(round, at::kLong)};
      inputs.insert(inputs.end(), carried.begin(), carried.end());
      inputs.insert(inputs.end(), operands.begin(), operands.end());
      Tensors outputs = run_body(*loop.body, inputs);
      go_on = outputs.front().item<bool>();
      carried.assign(outputs.begin() + 1, outputs.end());
    }
    return carried;
  }

  Tensors operator_results(const graph::Node& node) {
    const OpInfo* info = op_info(node.op(), node.overload());
    std::vector<c10::IValue> stack;
    for (const c10::Argument& argument : info->schema().arguments()) stack.push_back(given(node, argument));
    // Their geometry is that of a storage (graph.h).
    if (node.op().starts_with("aten::as_strided")) stack[0] = stack[0].toTensor().clone(at::MemoryFormat::Contiguous);
    info->run(stack);
    Tensors results;
    for (const c10::IValue& value : stack) {
      for_each_tensor(value, [&](const at::Tensor& tensor) { results.push_back(tensor); });
    }
    return results;
  }

  [[nodiscard]] c10::IValue given(const graph::Node& node, const c10::Argument& argument) const {
    const graph::Attribute* attribute = node.find(argument.name());
    if (attribute == nullptr) return argument.default_value().value();
    if (auto* const* value = std::get_if<graph::Value*>(attribute)) return at(*value);
    if (const auto* values = std::get_if<std::vector<graph::Value*>>(attribute)) return list(*values, argument);
    const c10::IValue value = to_ivalue(*attribute);
    const bool number = value.isScalar() && argument.type()->isSubtypeOf(*c10::TensorType::get());
    if (!number) return value;
    at::Tensor wrapped = c10::scalar_to_tensor(value.toScalar());
    wrapped.unsafeGetTensorImpl()->set_wrapped_number(true);
    return wrapped;
  }

  [[nodiscard]] c10::IValue list(const std::vector<graph::Value*>& values, const c10::Argument& argument) const {
    const auto type = argument.real_type()->cast<c10::ListType>();
    if (type && type->getElementType()->kind() == c10::TypeKind::OptionalType) {
      c10::List<std::optional<at::Tensor>> tensors;
      for (const graph::Value* value : values) {
        tensors.push_back(value == nullptr ? std::nullopt : std::optional(at(value)));
      }
      return tensors;
    }
    return c10::List<at::Tensor>(all(values));
  }

  std::unordered_map<const graph::Value*, at::Tensor> known_;
};

Tensors run_body(const graph::Graph& body, const Tensors& inputs) {
  const BodyRun run(body, inputs);
  Tensors outputs;
  for (const graph::Output& output : body.outputs()) outputs.push_back(run.at(output.value));
  return outputs;
}

// ---- The operators ----

void control(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  const std::string second = stack->at(2).toStringRef();
  const std::string first = stack->at(1).toStringRef();
  const Tensors operands = stack->at(0).toTensorVector();
  graph::Graph alone;
  std::vector<graph::Value*> values;
  for (const at::Tensor& operand : operands) {
    const auto dtype = to_dtype(operand.scalar_type());
    TORCH_CHECK(dtype, "leapp::control: an operand of a type that no graph has");
    values.push_back(alone.add_input(std::to_string(values.size()), {*dtype, operand.sizes().vec()}));
  }
  auto spec = control_spec(values, first, second);
  TORCH_CHECK(spec.ok(), spec.status().message());
  const graph::Node* node = alone.append(std::move(spec).value());
  for (const auto& result : node->results()) alone.add_output(result->name(), result.get());
  stack->clear();
  stack->emplace_back(c10::List<at::Tensor>(run_body(alone, operands)));
}

void control_in_place(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  TORCH_CHECK(t_scripted != nullptr, "leapp::control_ is not for programs to call");
  const Tensors results = (*std::exchange(t_scripted, nullptr))();
  stack->clear();
  stack->emplace_back(c10::List<at::Tensor>(results));
}

// Registered when scripted code is first met, and never taken back.
void register_operators() {
  static const auto* const library = [] {
    auto* made = new torch::Library(torch::Library::FRAGMENT, "leapp", std::nullopt, __FILE__, __LINE__);
    const auto whole = [](auto kernel) {
      return torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, std::move(kernel));
    };
    made->def("control(Tensor[] operands, str first, str second) -> Tensor[]");
    made->impl("control", whole(torch::CppFunction::makeFromBoxedFunction<&control>()));
    made->def("control_(Tensor[] operands, Tensor(a!)[] written, str first, str second) -> Tensor[]");
    made->impl("control_", whole(torch::CppFunction::makeFromBoxedFunction<&control_in_place>()));
    return made;
  }();
  static_cast<void>(library);
}

}  // namespace

std::vector<at::Tensor> call_control(const ControlCall& call, const std::function<Tensors()>& run) {
  register_operators();
  std::vector<c10::IValue> stack{c10::List<at::Tensor>(call.operands), c10::List<at::Tensor>(call.written), call.first,
                                 call.second};
  t_scripted = &run;
  op_info("leapp::control_", "")->run(stack);
  return stack.at(0).toTensorVector();
}

Result<graph::NodeSpec> control_spec(const std::vector<graph::Value*>& operands, const std::string& first,
                                     const std::string& second) {
  LEAPP_ASSIGN_OR_RETURN(graph::GraphPtr body, parsed(first));
  if (!second.empty()) {
    LEAPP_ASSIGN_OR_RETURN(graph::GraphPtr other, parsed(second));
    return graph::spec_of(graph::Conditional{operands[0], {operands.begin() + 1, operands.end()}, body, other});
  }
  graph::LoopNode loop{operands[0], operands[1], {}, {}, body};
  if (loop.count->kind() == graph::ValueKind::kConstant) {
    std::int64_t count = 0;
    std::memcpy(&count, loop.count->constant().bytes().data(), sizeof(count));
    if (count == std::numeric_limits<std::int64_t>::max()) loop.count = nullptr;
  }
  const auto carried = static_cast<std::ptrdiff_t>(body->outputs().size() - 1);
  loop.carried.assign(operands.begin() + 2, operands.begin() + 2 + carried);
  loop.operands.assign(operands.begin() + 2 + carried, operands.end());
  return graph::spec_of(std::move(loop));
}

}  // namespace leapp::capture
