// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/result_types.h"

#include <ATen/ops/empty.h>

#include <mutex>
#include <string>
#include <unordered_map>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

using DTypes = std::optional<std::vector<at::ScalarType>>;

const c10::IValue& argument(const FunctionalVariant& twin, c10::ArrayRef<const c10::IValue> inputs, std::size_t at) {
  const int from = twin.arguments[at];
  return from >= 0 ? inputs[static_cast<std::size_t>(from)] : *twin.op->schema().arguments()[at].default_value();
}

at::Tensor without_memory(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number()) return tensor;
  return at::empty(tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()).device(at::kMeta));
}

c10::IValue stand_in(const c10::IValue& value) {
  if (value.isTensor()) return without_memory(value.toTensor());
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const c10::IValue& item : value.toListRef()) {
      tensors.push_back(item.isTensor() ? std::optional(without_memory(item.toTensor())) : std::nullopt);
    }
    return tensors;
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const c10::IValue& item : value.toListRef()) tensors.push_back(without_memory(item.toTensor()));
    return tensors;
  }
  return value.isGenerator() ? c10::IValue() : value;
}

// Promotion looks at dtypes, at which operands are 0-d, and at the kinds of Python numbers.
std::string signature(const FunctionalVariant& twin, c10::ArrayRef<const c10::IValue> inputs) {
  std::string key = twin.op->qualified_name();
  for (std::size_t i = 0; i < twin.arguments.size(); ++i) {
    const c10::IValue& value = argument(twin, inputs, i);
    key += ',';
    key += value.tagKind();
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      key += static_cast<char>('A' + static_cast<int>(tensor.scalar_type()));
      if (tensor.dim() == 0) key += tensor.unsafeGetTensorImpl()->is_wrapped_number() ? 'w' : '0';
    });
    if (twin.op->schema().arguments()[i].name() == "dtype" && value.isInt()) key += std::to_string(value.toInt());
  }
  return key;
}

DTypes ask_torch(const FunctionalVariant& twin, c10::ArrayRef<const c10::IValue> inputs) {
  try {
    const Suppress quiet;
    std::vector<c10::IValue> stack;
    for (std::size_t i = 0; i < twin.arguments.size(); ++i) stack.push_back(stand_in(argument(twin, inputs, i)));
    twin.op->run(stack);
    std::vector<at::ScalarType> types;
    for (const c10::IValue& result : stack) {
      for_each_tensor(result, [&](const at::Tensor& tensor) { types.push_back(tensor.scalar_type()); });
    }
    return types;
  } catch (const std::exception&) {
    return std::nullopt;  // no kernel for tensors without memory: the caller casts to be sure
  }
}

struct Known {
  std::mutex mutex;
  std::unordered_map<std::string, DTypes> answers;
};

}  // namespace

DTypes result_dtypes(const FunctionalVariant& twin, c10::ArrayRef<const c10::IValue> inputs) {
  static auto* known = new Known();
  const std::string key = signature(twin, inputs);
  {
    const std::lock_guard lock(known->mutex);
    if (const auto found = known->answers.find(key); found != known->answers.end()) return found->second;
  }
  DTypes answer = ask_torch(twin, inputs);
  const std::lock_guard lock(known->mutex);
  return known->answers.try_emplace(key, std::move(answer)).first->second;
}

}  // namespace leapp::capture
