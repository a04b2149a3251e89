// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/scripted/scripted_numbers.h"

#include <ATen/Functions.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "capture/hook/hook.h"

namespace leapp::capture {
namespace {

namespace jit = torch::jit;
using Items = std::vector<ScriptedItem>;

std::string op_name(const jit::Node& node) { return node.kind().toQualString(); }

// ---- Numbers from numbers ----

using OnTensors = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;

/// Operators whose operands are of the type of the result.
const std::unordered_map<std::string, OnTensors>& arithmetic() {
  static const auto* const table = new std::unordered_map<std::string, OnTensors>{
      {"aten::add", [](const auto& a, const auto& b) { return at::add(a, b); }},
      {"aten::sub", [](const auto& a, const auto& b) { return at::sub(a, b); }},
      {"aten::mul", [](const auto& a, const auto& b) { return at::mul(a, b); }},
      {"aten::div", [](const auto& a, const auto& b) { return at::div(a, b); }},
      {"aten::floordiv", [](const auto& a, const auto& b) { return at::floor_divide(a, b); }},
      {"aten::remainder", [](const auto& a, const auto& b) { return at::remainder(a, b); }},
      {"aten::fmod", [](const auto& a, const auto& b) { return at::fmod(a, b); }},
      {"aten::pow", [](const auto& a, const auto& b) { return at::pow(a, b); }},
      {"aten::atan2", [](const auto& a, const auto& b) { return at::atan2(a, b); }},
      {"prim::min", [](const auto& a, const auto& b) { return at::minimum(a, b); }},
      {"prim::max", [](const auto& a, const auto& b) { return at::maximum(a, b); }},
      {"aten::neg", [](const auto& a, const auto&) { return at::neg(a); }},
      {"prim::abs", [](const auto& a, const auto&) { return at::abs(a); }},
      {"aten::sqrt", [](const auto& a, const auto&) { return at::sqrt(a); }},
      {"aten::exp", [](const auto& a, const auto&) { return at::exp(a); }},
      {"aten::log", [](const auto& a, const auto&) { return at::log(a); }},
      {"aten::sin", [](const auto& a, const auto&) { return at::sin(a); }},
      {"aten::cos", [](const auto& a, const auto&) { return at::cos(a); }},
      {"aten::tan", [](const auto& a, const auto&) { return at::tan(a); }},
      {"aten::tanh", [](const auto& a, const auto&) { return at::tanh(a); }},
      {"aten::Int", [](const auto& a, const auto&) { return a; }},
      {"aten::Float", [](const auto& a, const auto&) { return a; }},
      {"aten::Bool", [](const auto& a, const auto&) { return a; }},
      {"aten::__and__", [](const auto& a, const auto& b) { return at::bitwise_and(a, b); }},
      {"aten::__or__", [](const auto& a, const auto& b) { return at::bitwise_or(a, b); }},
      {"aten::__xor__", [](const auto& a, const auto& b) { return at::bitwise_xor(a, b); }},
      {"aten::__not__", [](const auto& a, const auto&) { return at::logical_not(a); }},
  };
  return *table;
}

/// Operators whose operands are of the widest type among them.
const std::unordered_map<std::string, OnTensors>& comparisons() {
  static const auto* const table = new std::unordered_map<std::string, OnTensors>{
      {"aten::lt", [](const auto& a, const auto& b) { return at::lt(a, b); }},
      {"aten::le", [](const auto& a, const auto& b) { return at::le(a, b); }},
      {"aten::gt", [](const auto& a, const auto& b) { return at::gt(a, b); }},
      {"aten::ge", [](const auto& a, const auto& b) { return at::ge(a, b); }},
      {"aten::eq", [](const auto& a, const auto& b) { return at::eq(a, b); }},
      {"aten::ne", [](const auto& a, const auto& b) { return at::ne(a, b); }},
      {"aten::floor", [](const auto& a, const auto&) { return at::floor(a); }},
      {"aten::ceil", [](const auto& a, const auto&) { return at::ceil(a); }},
      {"aten::round", [](const auto& a, const auto&) { return at::round(a); }},
  };
  return *table;
}

bool same_number(const c10::IValue& a, const c10::Scalar& b) {
  if (a.isBool()) return a.toBool() == b.toBool();
  if (a.isInt()) return a.toInt() == b.toLong();
  const double x = a.toDouble();
  const double y = b.toDouble();
  return x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= 1e-12 * std::abs(x);
}

/// `twin` as a twin of `number`, if it holds that.
at::Tensor settled(const at::Tensor& twin, const c10::IValue& number) {
  const at::Tensor typed = twin.to(twin_type(number));
  const Unrecorded quiet;
  return same_number(number, typed.item()) ? typed : at::Tensor();
}

// ---- Numbers from tensors ----

const std::unordered_set<std::string>& readers() {
  static const auto* const names = new std::unordered_set<std::string>{
      "aten::Bool",        "aten::Int",           "aten::Float",          "aten::item",
      "aten::IntImplicit", "aten::FloatImplicit", "aten::ScalarImplicit", "aten::is_nonzero",
      "aten::equal",       "aten::allclose"};
  return *names;
}

// ---- Tensors from tensors and numbers ----

bool is_tensor_argument(const c10::Argument& argument) {
  c10::TypePtr type = argument.type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::TensorType;
}

bool is_number_argument(const c10::Argument& argument) {
  c10::TypePtr type = argument.type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  const c10::TypeKind kind = type->kind();
  return kind == c10::TypeKind::NumberType || kind == c10::TypeKind::FloatType || kind == c10::TypeKind::IntType ||
         kind == c10::TypeKind::BoolType;
}

/// The overload that takes tensors where numbers with twins stand, and is otherwise the same.
std::shared_ptr<jit::Operator> overload_for(const c10::FunctionSchema& schema, const Items& inputs) {
  for (const auto& other : jit::getAllOperatorsFor(c10::Symbol::fromQualString(schema.name()))) {
    const auto& arguments = other->schema().arguments();
    if (arguments.size() != schema.arguments().size() || other->schema().returns().size() != 1) continue;
    bool fits = other->schema().returns()[0].type()->kind() == c10::TypeKind::TensorType;
    for (std::size_t i = 0; fits && i < arguments.size(); ++i) {
      const c10::Argument& here = schema.arguments()[i];
      const bool replaced = is_number_argument(here) && is_tensor_argument(arguments[i]);
      fits = inputs[i].twin.defined() ? replaced : replaced || *here.type() == *arguments[i].type();
    }
    if (fits) return other;
  }
  return nullptr;
}

bool writes(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
    return argument.alias_info() && argument.alias_info()->isWrite();
  });
}

c10::IValue plain_result(const jit::Node& node, const Items& inputs) {
  const Unrecorded quiet;
  jit::Stack stack;
  for (const ScriptedItem& item : inputs) stack.push_back(item.value);
  node.getOperation()(stack);
  return stack.back();
}

/// The type in which an operator that gives `result` computes with a number.
at::ScalarType computing_type(const Items& inputs, const c10::Scalar& number, at::ScalarType result) {
  if (result != at::kBool) return result;
  for (const ScriptedItem& item : inputs) {
    if (item.value.isTensor() && item.value.toTensor().defined()) return at::result_type(item.value.toTensor(), number);
  }
  return result;
}

bool same_content(const at::Tensor& a, const at::Tensor& b) {
  const Unrecorded quiet;
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  if (!at::isFloatingType(a.scalar_type())) return at::equal(a, b);
  return at::equal(a.detach().nan_to_num(), b.detach().nan_to_num()) &&
         at::equal(a.detach().isnan(), b.detach().isnan());
}

/// torch.tensor(n), torch.full(size, n), ...: the number is all there is to it.
bool fills(const std::string& name) {
  static const auto* const names = new std::unordered_set<std::string>{
      "prim::NumToTensor", "aten::tensor",    "aten::as_tensor", "aten::scalar_tensor",
      "aten::full",        "aten::full_like", "aten::new_full"};
  return names->contains(name);
}

}  // namespace

bool is_number(const c10::IValue& value) { return value.isBool() || value.isInt() || value.isDouble(); }

at::ScalarType twin_type(const c10::IValue& number) {
  return number.isBool() ? at::kBool : number.isInt() ? at::kLong : at::kDouble;
}

at::Tensor as_tensor(const ScriptedItem& item) {
  if (item.twin.defined()) return item.twin;
  const Unrecorded quiet;
  return at::scalar_tensor(item.value.toScalar(), twin_type(item.value));
}

bool reads_number(const jit::Node& node) {
  return readers().contains(op_name(node)) && !node.inputs().empty() &&
         node.input(0)->type()->kind() == c10::TypeKind::TensorType;
}

at::Tensor twin_of_read(const jit::Node& node, const Items& inputs, const c10::IValue& number) {
  const at::Tensor& tensor = inputs[0].value.toTensor();
  const std::string name = op_name(node);
  const bool two = name == "aten::equal" || name == "aten::allclose";
  if (!is_number(number) || tensor.is_complex() || (!two && tensor.numel() != 1)) return {};
  // A copy: the code may write to the tensor after it has read the number.
  if (!two)
    return settled(tensor.detach().reshape({}).to(twin_type(number), /*non_blocking=*/false, /*copy=*/true), number);
  const at::Tensor& other = inputs[1].value.toTensor();
  if (other.sizes() != tensor.sizes()) return {};  // the same in every call: shapes are fixed
  if (name == "aten::equal") return settled(at::eq(tensor.detach(), other.detach()).all(), number);
  return settled(at::isclose(tensor.detach(), other.detach(), inputs[2].value.toDouble(), inputs[3].value.toDouble(),
                             inputs[4].value.toBool())
                     .all(),
                 number);
}

at::Tensor twin_of_number(const jit::Node& node, const Items& inputs, const c10::IValue& number) {
  const bool numbers =
      std::all_of(inputs.begin(), inputs.end(), [](const auto& item) { return is_number(item.value); });
  if (!numbers || inputs.empty() || inputs.size() > 2 || !is_number(number)) return {};
  const std::string name = op_name(node);
  const auto compared = comparisons().find(name);
  const auto computed = arithmetic().find(name);
  at::ScalarType type = twin_type(number);
  if (compared != comparisons().end()) {
    const bool fractions = std::any_of(inputs.begin(), inputs.end(), [](const auto& i) { return i.value.isDouble(); });
    type = fractions ? at::kDouble : at::kLong;
  } else if (computed == arithmetic().end()) {
    return {};
  }
  // Bool of a number asks whether it is zero, Int of one cuts it off: that is what casts of its own type do.
  const bool cast = name == "aten::Int" || name == "aten::Bool" || name == "aten::Float";
  std::vector<at::Tensor> operands;
  for (const ScriptedItem& item : inputs) operands.push_back(cast ? as_tensor(item) : as_tensor(item).to(type));
  const OnTensors& run = compared != comparisons().end() ? compared->second : computed->second;
  return settled(run(operands.front(), operands.back()), number);
}

std::optional<c10::IValue> run_with_twins(const jit::Node& node, const Items& inputs) {
  const c10::FunctionSchema* schema = node.maybeSchema();
  if (schema == nullptr || node.outputs().size() != 1 || node.output()->type()->kind() != c10::TypeKind::TensorType) {
    return std::nullopt;
  }
  const auto first = std::find_if(inputs.begin(), inputs.end(), [](const auto& item) { return item.twin.defined(); });
  const auto count = std::count_if(inputs.begin(), inputs.end(), [](const auto& item) { return item.twin.defined(); });
  if (fills(schema->name())) {
    if (count != 1) return std::nullopt;
    const at::Tensor result = plain_result(node, inputs).toTensor();
    return first->twin.to(result.options()).expand(result.sizes()).clone(at::MemoryFormat::Contiguous);
  }
  const auto other = overload_for(*schema, inputs);
  if (!other) return std::nullopt;
  at::Tensor expected;
  at::ScalarType type = at::kFloat;
  const bool in_place = writes(*schema);
  if (in_place) {
    type = inputs[0].value.toTensor().scalar_type();
    if (at::isReducedFloatingType(type)) return std::nullopt;  // rounds the number once more than torch does
  } else {
    expected = plain_result(node, inputs).toTensor();
    type = computing_type(inputs, first->value.toScalar(), expected.scalar_type());
  }
  jit::Stack stack;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool replaced = is_number(inputs[i].value) && is_tensor_argument(other->schema().arguments()[i]);
    stack.push_back(replaced ? c10::IValue(as_tensor(inputs[i]).to(type)) : inputs[i].value);
  }
  other->getOperation (&node)(stack);
  const at::Tensor result = stack.back().toTensor();
  if (!in_place && !same_content(result, expected)) return std::nullopt;
  return result;
}

}  // namespace leapp::capture
