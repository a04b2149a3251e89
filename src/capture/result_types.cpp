// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/result_types.h"

#include <ATen/ScalarOps.h>
#include <ATen/ops/empty.h>

#include <string>
#include <unordered_map>

#include "capture/arguments.h"
#include "capture/hook.h"

namespace leapp::capture {
namespace {

at::Tensor without_memory(const ValuePtr& value) {
  return at::empty(value->type.sizes, at::TensorOptions().dtype(value->type.dtype).device(at::kMeta));
}

bool is_tensor_argument(const c10::Argument& argument) {
  const c10::TypePtr& type = argument.type();
  if (type->kind() == c10::TypeKind::TensorType) return true;
  const auto optional = type->cast<c10::OptionalType>();
  return optional && optional->getElementType()->kind() == c10::TypeKind::TensorType;
}

c10::IValue stand_in(const TraceArgument& argument, const c10::Argument& schema) {
  if (argument.kind == TraceArgument::Kind::kTensor) return without_memory(argument.tensor);
  if (argument.kind == TraceArgument::Kind::kAttribute) {
    if (is_tensor_argument(schema) && !argument.attribute.isNone()) {
      return at::native::wrapped_scalar_tensor(argument.attribute.toScalar());
    }
    return argument.attribute;
  }
  const auto list = schema.type()->cast<c10::ListType>();
  if (list && list->getElementType()->kind() == c10::TypeKind::OptionalType) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const ValuePtr& value : argument.list) {
      tensors.push_back(value ? std::optional(without_memory(value)) : std::nullopt);
    }
    return tensors;
  }
  c10::List<at::Tensor> tensors;
  for (const ValuePtr& value : argument.list) tensors.push_back(without_memory(value));
  return tensors;
}

// Promotion looks at dtypes, at which operands are 0-d, and at the kinds of Python numbers.
std::string signature(const TraceOp& op) {
  std::string key = op.info->qualified_name();
  const auto add = [&](const ValuePtr& value) {
    key += static_cast<char>('A' + static_cast<int>(value->type.dtype));
    if (value->type.sizes.empty()) key += '0';
  };
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const TraceArgument& argument = op.arguments[i];
    key += ',';
    if (argument.tensor) add(argument.tensor);
    for (const ValuePtr& value : argument.list) {
      if (value) add(value);
    }
    if (argument.kind != TraceArgument::Kind::kAttribute) continue;
    key += argument.attribute.tagKind();
    if (op.info->schema().arguments()[i].name() == "dtype" && argument.attribute.isInt()) {
      key += std::to_string(argument.attribute.toInt());
    }
  }
  return key;
}

std::optional<std::vector<at::ScalarType>> ask_torch(const TraceOp& op) {
  try {
    const Suppress quiet;
    torch::jit::Stack stack;
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      stack.push_back(stand_in(op.arguments[i], op.info->schema().arguments()[i]));
    }
    op.info->handle().callBoxed(stack);
    std::vector<at::ScalarType> types;
    for (const c10::IValue& result : stack) {
      for_each_tensor(result, [&](const at::Tensor& tensor) { types.push_back(tensor.scalar_type()); });
    }
    return types;
  } catch (const std::exception&) {
    return std::nullopt;  // no kernel for tensors without memory: the caller casts to be sure
  }
}

}  // namespace

std::optional<std::vector<at::ScalarType>> result_dtypes(const TraceOp& op) {
  static auto* known = new std::unordered_map<std::string, std::optional<std::vector<at::ScalarType>>>();
  const std::string key = signature(op);
  if (const auto found = known->find(key); found != known->end()) return found->second;
  return known->emplace(key, ask_torch(op)).first->second;
}

}  // namespace leapp::capture
