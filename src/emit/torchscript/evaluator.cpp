// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/torchscript/evaluator.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>

#include <exception>
#include <new>
#include <utility>

#include "emit/torchscript/arguments.h"
#include "graph/conditional.h"
#include "graph/loop.h"
#include "torch_types/tensors.h"

namespace leapp::emit {
namespace {

using graph::Attribute;
using graph::Value;

/// In which precision an operator is run.
enum class Precision : bool { kRecorded, kWide };

DType wide_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
      return DType::kFloat64;
    case DType::kComplex32:
    case DType::kComplex64:
      return DType::kComplex128;
    default:
      return dtype;
  }
}

at::Tensor widened(const at::Tensor& tensor) {
  const auto dtype = to_dtype(tensor.scalar_type());
  return dtype ? tensor.to(to_scalar_type(wide_type(*dtype))) : tensor;
}

/// The arguments of a node as torch takes them.
class Arguments {
 public:
  explicit Arguments(Precision precision) : wide_(precision == Precision::kWide) {}

  [[nodiscard]] c10::IValue value(const Attribute* attribute, const c10::Argument& argument) const {
    if (attribute == nullptr) return *argument.default_value();
    if (const auto* value = std::get_if<Value*>(attribute)) return tensor_of(*value);
    if (const auto* values = std::get_if<std::vector<Value*>>(attribute)) return tensor_list(*values, *argument.type());
    if (is_tensor(*argument.type())) {
      if (const auto number = as_number(*attribute)) return at::native::wrapped_scalar_tensor(*number);
    }
    if (const auto* dtype = std::get_if<DType>(attribute); dtype != nullptr && wide_) {
      return to_ivalue(wide_type(*dtype), argument);
    }
    return to_ivalue(*attribute, argument);
  }

 private:
  [[nodiscard]] at::Tensor tensor_of(const Value* value) const {
    TORCH_CHECK(value->kind() == graph::ValueKind::kConstant, "%", value->name(), " is not a constant");
    const at::Tensor tensor = to_tensor(value->constant());
    return wide_ ? widened(tensor) : tensor;
  }

  [[nodiscard]] c10::IValue tensor_list(const std::vector<Value*>& values, const c10::Type& type) const {
    const c10::Type* plain = &type;
    if (const auto* optional = type.castRaw<c10::OptionalType>()) plain = optional->getElementType().get();
    if (plain->castRaw<c10::ListType>()->getElementType()->kind() == c10::TypeKind::OptionalType) {
      c10::List<std::optional<at::Tensor>> list;
      for (const Value* value : values) {
        list.push_back(value == nullptr ? std::nullopt : std::make_optional(tensor_of(value)));
      }
      return list;
    }
    c10::List<at::Tensor> list;
    for (const Value* value : values) list.push_back(value == nullptr ? at::Tensor() : tensor_of(value));
    return list;
  }

  bool wide_;
};

// False where the results are not all tensors a graph can hold.
bool collect(const c10::IValue& value, Precision precision, std::vector<graph::Constant>& constants) {
  if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (!collect(c10::IValue(tensor), precision, constants)) return false;
    }
    return true;
  }
  if (!value.isTensor()) return false;
  auto constant = to_constant(precision == Precision::kWide ? widened(value.toTensor()) : value.toTensor());
  if (!constant) return false;
  constants.push_back(std::move(*constant));
  return true;
}

std::optional<std::vector<graph::Constant>> run(const graph::Node& node, Precision precision) try {
  if (node.is_random()) return std::nullopt;
  const auto inside = [&](const graph::Node& inner) { return run(inner, precision); };
  if (graph::is_conditional(node)) return graph::run_conditional(node, inside);
  if (graph::is_loop(node)) return graph::run_loop(node, inside);
  const auto handle = c10::Dispatcher::singleton().findSchema({node.op(), node.overload()});
  if (!handle) return std::nullopt;
  const c10::FunctionSchema& schema = handle->schema();
  const auto attributes = match_arguments(node, schema);
  const Arguments arguments(precision);
  torch::jit::Stack stack;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    stack.push_back(arguments.value(attributes[i], schema.arguments()[i]));
  }
  const at::NoGradGuard no_gradients;
  handle->callBoxed(&stack);
  std::vector<graph::Constant> constants;
  for (const c10::IValue& value : stack) {
    if (!collect(value, precision, constants)) return std::nullopt;
  }
  if (constants.size() != node.results().size()) return std::nullopt;
  return constants;
} catch (const std::bad_alloc&) {
  throw;  // what is written must not depend on how much memory was there
} catch (const std::exception&) {
  // Folding is an optimisation: an operator that fails here fails, or works, where the model runs.
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<graph::Constant>> evaluate(const graph::Node& node) {
  return run(node, Precision::kRecorded);
}

std::optional<std::vector<graph::Constant>> evaluate_wide(const graph::Node& node) {
  return run(node, Precision::kWide);
}

}  // namespace leapp::emit
