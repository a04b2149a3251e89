// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder/op_reader.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/functorch/TensorWrapper.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"
#include "capture/recorder/tensor_content.h"

namespace leapp::capture {
namespace {

// What torch.func left behind after a transform ended (the saved tensors of vjp) is the tensor inside.
at::Tensor without_dead_wrapper(const at::Tensor& tensor) {
  if (!tensor.unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::FuncTorchGradWrapper)) return tensor;
  const at::functorch::TensorWrapper* wrapper = at::functorch::maybeGetTensorWrapper(tensor);
  return wrapper && !wrapper->is_alive() ? without_dead_wrapper(wrapper->value()) : tensor;
}

// Of an operator that writes: it may be how the program counts between passes (outside_counters.h).
void note_given(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs) {
  const std::vector<std::size_t>& writes = op.info->writes();
  op.repeatable = writes.size() == 1 && !op.info->facts().random;
  for (std::size_t i = 0; op.repeatable && i < inputs.size(); ++i) {
    const bool tensor = inputs[i].isTensor() && inputs[i].toTensor().defined();
    const bool number = tensor && inputs[i].toTensor().unsafeGetTensorImpl()->is_wrapped_number();
    op.repeatable = i == writes[0] || number || (!tensor && !is_tensor_list(inputs[i]));
    if (!op.repeatable) return;
    const c10::Argument& formal = op.info->schema().arguments()[i];
    op.given.push_back(number   ? wrapped_number(inputs[i].toTensor())
                       : tensor ? c10::IValue()
                                : frozen(inputs[i], formal));
  }
}

bool is_elsewhere(c10::ArrayRef<const c10::IValue> inputs) {
  bool elsewhere = false;
  for (const c10::IValue& input : inputs) {
    elsewhere = elsewhere || (input.isDevice() && !input.toDevice().is_cpu());
    for_each_tensor(input, [&](const at::Tensor& tensor) { elsewhere = elsewhere || !tensor.is_cpu(); });
  }
  return elsewhere;
}

// Of the generator that the operator is given, or of the CPU's, which it takes by itself; 0: it takes another.
std::uint64_t generator_state(c10::ArrayRef<const c10::IValue> inputs) {
  const Suppress quiet;
  const auto given = std::find_if(inputs.begin(), inputs.end(), [](const auto& input) { return input.isGenerator(); });
  if (given == inputs.end() && is_elsewhere(inputs)) return 0;
  at::Generator generator = given == inputs.end() ? at::detail::getDefaultCPUGenerator() : given->toGenerator();
  const std::lock_guard<std::mutex> guard(generator.mutex());
  return content_hash(generator.get_state());
}

void note_input(PendingOp& op, const at::Tensor& tensor) {
  op.input_impls.push_back(tensor.unsafeGetTensorImpl());
  if (tensor.has_storage()) op.input_storages.push_back(tensor.storage().unsafeGetStorageImpl());
}

}  // namespace

bool OpReader::touches_known(const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs) {
  bool known = false;
  for (const std::size_t at : info.writes()) {
    for_each_tensor(inputs[at], [&](const at::Tensor& tensor) { known = known || state_.table.knows_memory(tensor); });
  }
  for (const c10::IValue& input : inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) { known = known || state_.table.find(tensor) != nullptr; });
  }
  return known;
}

void OpReader::read(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs) {
  op.in_node = state_.calls.any();
  op.in_node ? in_node(op, inputs) : idle(op, inputs);
  written(op, inputs);
}

void OpReader::in_node(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs) {
  const OpInfo& info = *op.info;
  const ActivationId preference = preferred(inputs);
  for (const std::size_t at : info.writes()) {
    if (!info.reads(at)) continue;
    for_each_tensor(inputs[at], [&](const at::Tensor& tensor) { state_.table.define_unwritten(tensor); });
  }
  op.arguments.reserve(inputs.size());
  const std::size_t source = info.op_class() == OpClass::kCopy ? 1 : 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    op.arguments.push_back(!info.reads(i)                           ? TraceArgument::of(c10::IValue())
                           : i == 0 && info.facts().draws_over_self ? drawn_over(op, inputs[0].toTensor())
                                                                    : argument(op, i, inputs[i], preference));
    if (i == source && inputs[i].isTensor() && inputs[i].toTensor().defined()) {
      op.self = info.op_class() == OpClass::kAsStrided || info.op_class() == OpClass::kAsStridedScatter
                    ? inputs[i].toTensor()
                    : at::Tensor();
    }
  }
  op.owner = owner_of(op.arguments);
  if (op.owner == 0 && op.is_random()) op.generator = generator_state(inputs);
}

TraceArgument OpReader::drawn_over(PendingOp& op, const at::Tensor& tensor) {
  note_input(op, tensor);
  const ValuePtr before = state_.table.find(tensor);
  op.draws_over_live = before && before->owner != 0;
  return TraceArgument::of(state_.builder.full(tensor.sizes(), 0, tensor.scalar_type()));
}

// No node is open: only what happens to published outputs matters.
void OpReader::idle(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs) {
  bool first = true;
  note_given(op, inputs);
  for (const c10::IValue& input : inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      note_input(op, tensor);
      ValuePtr value = state_.table.find(tensor);
      const bool source = op.info->op_class() == OpClass::kCopy ? op.input_impls.size() == 2 : first;
      if (source) op.identity = value;
      first = false;
      if (value && (value->kind == TracedKind::kPublished || value->kind == TracedKind::kGlue)) op.published = value;
    });
    op.arguments.push_back(TraceArgument::of(c10::IValue()));
  }
}

void OpReader::written(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs) {
  const bool writes_content = op.info->op_class() != OpClass::kIgnored && !op.info->facts().inplace_view;
  const auto add = [&](std::size_t argument) {
    for_each_tensor(inputs[argument], [&](const at::Tensor& tensor) {
      op.written.push_back({tensor, argument, version_of(tensor)});
      if (writes_content) state_.table.memories().about_to_write(tensor, op.in_node);
    });
  };
  for (const std::size_t at : op.info->writes()) add(at);
  const bool hidden = op.info->op_class() == OpClass::kBatchNorm || op.info->op_class() == OpClass::kInstanceNorm;
  if (!hidden || !flag(op, {"training", "train", "use_input_stats"})) return;
  for (const char* name : {"running_mean", "running_var"}) {
    const int position = op.info->argument(name);
    const auto& stated = op.info->writes();
    if (position < 0 || std::find(stated.begin(), stated.end(), static_cast<std::size_t>(position)) != stated.end())
      continue;
    add(static_cast<std::size_t>(position));
  }
}

ActivationId OpReader::preferred(c10::ArrayRef<const c10::IValue> inputs) {
  ActivationId found = state_.calls.only();
  if (found != 0) return found;
  for (const c10::IValue& input : inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      if (found != 0) return;
      if (const ValuePtr value = state_.table.find_own(tensor)) found = value->owner;
    });
  }
  return found;
}

ValuePtr OpReader::operand(PendingOp& op, const at::Tensor& given, ActivationId preferred) {
  const at::Tensor tensor = without_dead_wrapper(given);
  note_input(op, tensor);
  const bool unwritten = op.info->facts().gives_views && state_.table.is_unwritten(tensor);
  ValuePtr value = state_.table.operand(tensor, preferred);
  if (!unwritten) return value;
  // To look at it is not to read it: it stays without content until someone writes, or reads.
  op.of_unwritten = true;
  state_.table.forget(tensor);
  return value;
}

TraceArgument OpReader::argument(PendingOp& op, std::size_t at, const c10::IValue& value, ActivationId preferred) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined()) return TraceArgument::of(c10::IValue());
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return TraceArgument::of(wrapped_number(tensor));
    return TraceArgument::of(operand(op, tensor, preferred));
  }
  if (!is_tensor_list(value)) return TraceArgument::of(frozen(value, op.info->schema().arguments()[at]));
  std::vector<ValuePtr> values;
  for (const c10::IValue& item : value.toListRef()) {
    const bool present = item.isTensor() && item.toTensor().defined();
    values.push_back(present ? operand(op, item.toTensor(), preferred) : nullptr);
  }
  return TraceArgument::of(std::move(values));
}

}  // namespace leapp::capture
