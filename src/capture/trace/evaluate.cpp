// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/evaluate.h"

#include <ATen/ScalarOps.h>

#include <vector>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"
#include "capture/recorder/tensor_content.h"

namespace leapp::capture {
namespace {

at::Tensor tensor_value(const ValuePtr& value);

c10::IValue stack_value(const TraceArgument& argument, const c10::Argument& schema) {
  if (argument.kind == TraceArgument::Kind::kTensor) return tensor_value(argument.tensor);
  if (argument.kind == TraceArgument::Kind::kAttribute) {
    const bool number = argument.attribute.isScalar() && schema.type()->isSubtypeOf(*c10::TensorType::get());
    if (!number) return argument.attribute;
    at::Tensor wrapped = c10::scalar_to_tensor(argument.attribute.toScalar());
    wrapped.unsafeGetTensorImpl()->set_wrapped_number(true);
    return wrapped;
  }
  const auto list = schema.real_type()->cast<c10::ListType>();
  if (list && list->getElementType()->kind() == c10::TypeKind::OptionalType) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const ValuePtr& item : argument.list)
      tensors.push_back(item ? std::optional(tensor_value(item)) : std::nullopt);
    return tensors;
  }
  c10::List<at::Tensor> tensors;
  for (const ValuePtr& item : argument.list) tensors.push_back(tensor_value(item));
  return tensors;
}

at::Tensor tensor_value(const ValuePtr& value) {
  // On the CPU, where operands that the program had on several devices meet.
  if (value->kind == TracedKind::kConstant) return dense_copy(tensor_of(*value->cell));
  if (value->drawn) return dense_copy(tensor_of(*value->drawn));
  TORCH_CHECK(value->kind == TracedKind::kResult, "not a constant");
  const TraceOp& op = *value->op;
  const auto& schema = op.info->schema().arguments();
  std::vector<c10::IValue> stack;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) stack.push_back(stack_value(op.arguments[i], schema[i]));
  op.info->run(stack);
  std::vector<at::Tensor> results;
  for (const c10::IValue& result : stack) {
    if (result.isTensor()) results.push_back(result.toTensor());
    if (!is_tensor_list(result)) continue;
    for (const c10::IValue& item : result.toListRef()) results.push_back(item.toTensor());
  }
  return results.at(value->index).clone(at::MemoryFormat::Contiguous);
}

}  // namespace

ContentPtr TorchEvaluator::value_of(const ValuePtr& value) {
  const Suppress quiet;
  return content_of(tensor_value(value));
}

}  // namespace leapp::capture
