// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/torchscript/arguments.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <string>
#include <utility>

#include "torch_types/tensors.h"

namespace leapp::emit {
namespace {

using graph::Attribute;

bool is_none(const Attribute& attribute) { return std::holds_alternative<std::monostate>(attribute); }

const c10::Type& without_optional(const c10::Type& type) {
  const auto* optional = type.castRaw<c10::OptionalType>();
  return optional == nullptr ? type : *optional->getElementType();
}

bool writes(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), [](const c10::Argument& argument) {
    return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  });
}

// Whether a literal of this kind keeps its meaning in an argument of this type.
bool keeps_meaning(const Attribute& attribute, const c10::Type& type) {
  if (std::holds_alternative<bool>(attribute)) return !is_number(type);
  return !as_number(attribute) || !is_tensor(type);
}

bool is_sibling(const c10::FunctionSchema& schema, const c10::FunctionSchema& recorded,
                const std::vector<const Attribute*>& arguments) {
  if (schema.arguments().size() != arguments.size() || schema.returns().size() != recorded.returns().size())
    return false;
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    if (*schema.returns()[i].type() != *recorded.returns()[i].type()) return false;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::Argument& here = schema.arguments()[i];
    const c10::Argument& there = recorded.arguments()[i];
    if (arguments[i] != nullptr && is_none(*arguments[i]) && here.type()->kind() == c10::TypeKind::OptionalType)
      continue;
    const bool number = arguments[i] != nullptr && as_number(*arguments[i]).has_value();
    const bool interchangeable = number && (is_number(*there.type()) || is_tensor(*there.type()));
    if (interchangeable ? !is_number(*here.type()) && !is_tensor(*here.type()) : *here.type() != *there.type())
      return false;
    if (number && !keeps_meaning(*arguments[i], *here.type())) return false;
  }
  return !writes(schema);
}

at::ScalarType natural_type(const c10::Scalar& number) {
  if (number.isBoolean()) return at::kBool;
  if (number.isComplex()) return at::kComplexDouble;
  return number.isFloatingPoint() ? at::kDouble : at::kLong;
}

// What promotion sees of the operands, with `number` among them either as a number or as a 0-d tensor of `dtype`.
at::ScalarType promoted_type(const graph::Node& node, const at::Tensor& number) {
  at::native::ResultTypeState state = {};
  for (const graph::Value* operand : node.inputs()) {
    const auto options = at::TensorOptions().dtype(to_scalar_type(operand->dtype()));
    const at::Tensor stand_in = operand->shape().empty() ? at::empty({}, options) : at::empty({0}, options);
    state = at::native::update_result_type_state(stand_in, state);
  }
  return at::native::result_type(at::native::update_result_type_state(number, state));
}

std::int64_t layout_number(const std::string& name) {
  static const std::vector<std::pair<std::string, at::Layout>> kLayouts = {
      {"strided", at::kStrided},      {"sparse_coo", at::kSparse},    {"sparse_csr", at::kSparseCsr},
      {"sparse_csc", at::kSparseCsc}, {"sparse_bsr", at::kSparseBsr}, {"sparse_bsc", at::kSparseBsc},
      {"_mkldnn", at::kMkldnn},       {"jagged", at::kJagged}};
  for (const auto& [known, layout] : kLayouts) {
    if (known == name) return static_cast<std::int64_t>(layout);
  }
  TORCH_CHECK(false, "unknown layout '", name, "'");
}

std::int64_t memory_format_number(const std::string& name) {
  static const std::vector<std::pair<std::string, at::MemoryFormat>> kFormats = {
      {"contiguous_format", at::MemoryFormat::Contiguous},
      {"preserve_format", at::MemoryFormat::Preserve},
      {"channels_last", at::MemoryFormat::ChannelsLast},
      {"channels_last_3d", at::MemoryFormat::ChannelsLast3d}};
  for (const auto& [known, format] : kFormats) {
    if (known == name) return static_cast<std::int64_t>(format);
  }
  TORCH_CHECK(false, "unknown memory format '", name, "'");
}

std::optional<std::int64_t> as_int(const Attribute& attribute) {
  if (const auto* value = std::get_if<std::int64_t>(&attribute)) return *value;
  if (const auto* value = std::get_if<bool>(&attribute)) return *value ? 1 : 0;
  if (const auto* value = std::get_if<DType>(&attribute)) return static_cast<std::int64_t>(to_scalar_type(*value));
  if (const auto* value = std::get_if<graph::Layout>(&attribute)) return layout_number(value->name);
  if (const auto* value = std::get_if<graph::MemoryFormat>(&attribute)) return memory_format_number(value->name);
  return std::nullopt;
}

Attribute as_attribute(const graph::Scalar& number) {
  return std::visit([](auto value) { return Attribute(value); }, number);
}

// The elements of any list attribute; a single element stands for all of a list whose size the schema fixes.
std::vector<Attribute> elements(const Attribute& attribute, const c10::Argument& argument) {
  std::vector<Attribute> items;
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::vector<bool>>) {
          for (const bool item : value) items.emplace_back(item);
        } else if constexpr (std::is_same_v<T, std::vector<graph::Scalar>>) {
          for (const auto& item : value) items.push_back(as_attribute(item));
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> || std::is_same_v<T, std::vector<double>> ||
                             std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, std::vector<DType>> ||
                             std::is_same_v<T, std::vector<graph::Value*>>) {
          for (const auto& item : value) items.emplace_back(item);
        } else {
          items.assign(static_cast<std::size_t>(argument.N().value_or(1)), Attribute(value));
        }
      },
      attribute);
  return items;
}

std::optional<c10::IValue> convert(const Attribute& attribute, const c10::Type& type) {
  const auto number = as_number(attribute);
  switch (type.kind()) {
    case c10::TypeKind::IntType:
      if (const auto value = as_int(attribute)) return c10::IValue(*value);
      break;
    case c10::TypeKind::FloatType:
      if (number && !number->isComplex()) return c10::IValue(number->toDouble());
      break;
    case c10::TypeKind::NumberType:
      if (number) return c10::IValue(*number);
      break;
    case c10::TypeKind::BoolType:
      if (const auto value = as_int(attribute)) return c10::IValue(*value != 0);
      break;
    case c10::TypeKind::StringType:
      if (const auto* value = std::get_if<std::string>(&attribute)) return c10::IValue(*value);
      break;
    case c10::TypeKind::DeviceObjType:
      if (const auto* value = std::get_if<graph::Device>(&attribute)) return c10::IValue(c10::Device(value->name));
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

const c10::FunctionSchema* find_schema(const graph::Node& node) {
  const auto op = torch::jit::findOperatorFor(c10::OperatorName(node.op(), node.overload()));
  return op == nullptr ? nullptr : &op->schema();
}

std::vector<const Attribute*> match_arguments(const graph::Node& node, const c10::FunctionSchema& schema) {
  std::vector<const Attribute*> matched;
  std::size_t found = 0;
  for (const c10::Argument& argument : schema.arguments()) {
    matched.push_back(node.find(argument.name()));
    if (matched.back() != nullptr) {
      ++found;
      continue;
    }
    TORCH_CHECK(argument.default_value(), "expected an argument '", argument.name(), "' of ", schema);
  }
  TORCH_CHECK(found == node.arguments().size(), "expected only arguments of ", schema);
  return matched;
}

std::optional<c10::Scalar> as_number(const Attribute& attribute) {
  if (const auto* value = std::get_if<bool>(&attribute)) return c10::Scalar(*value);
  if (const auto* value = std::get_if<std::int64_t>(&attribute)) return c10::Scalar(*value);
  if (const auto* value = std::get_if<double>(&attribute)) return c10::Scalar(*value);
  if (const auto* value = std::get_if<graph::Complex>(&attribute)) {
    return c10::Scalar(c10::complex<double>(value->real(), value->imag()));
  }
  return std::nullopt;
}

bool is_tensor(const c10::Type& type) { return without_optional(type).kind() == c10::TypeKind::TensorType; }
bool is_device(const c10::Type& type) { return without_optional(type).kind() == c10::TypeKind::DeviceObjType; }
bool is_number(const c10::Type& type) { return without_optional(type).kind() == c10::TypeKind::NumberType; }

bool is_tensor_list(const c10::Type& type) {
  const auto* list = without_optional(type).castRaw<c10::ListType>();
  return list != nullptr && is_tensor(*list->getElementType());
}

const c10::FunctionSchema* choose_overload(const c10::FunctionSchema& recorded,
                                           const std::vector<const Attribute*>& arguments) {
  bool kept = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    kept = kept && (arguments[i] == nullptr || keeps_meaning(*arguments[i], *recorded.arguments()[i].type()));
  }
  if (kept) return &recorded;
  for (const auto& op : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(recorded.name()))) {
    if (is_sibling(op->schema(), recorded, arguments)) return &op->schema();
  }
  return &recorded;
}

at::Tensor number_tensor(const c10::Scalar& number, const graph::Node& node) {
  const at::ScalarType promoted = promoted_type(node, at::native::wrapped_scalar_tensor(number));
  const at::Tensor natural = at::scalar_tensor(number, at::TensorOptions().dtype(natural_type(number)));
  // Elementwise kernels of half precision compute with the number unrounded, which only its own type preserves;
  // other operators may insist on one dtype for all operands.
  const auto handle = c10::Dispatcher::singleton().findSchema({node.op(), node.overload()});
  const bool pointwise = handle && handle->hasTag(at::Tag::pointwise);
  if (pointwise && promoted_type(node, natural) == promoted) return natural;
  return at::scalar_tensor(number, at::TensorOptions().dtype(promoted));
}

c10::IValue to_ivalue(const Attribute& attribute, const c10::Argument& argument) {
  const c10::Type& type = without_optional(*argument.type());
  // A generator is a handle of the process that recorded it; None is the default one.
  if (is_none(attribute) || type.kind() == c10::TypeKind::GeneratorType) return {};
  if (const auto* list = type.castRaw<c10::ListType>()) {
    c10::impl::GenericList values(list->getElementType());
    for (const Attribute& item : elements(attribute, argument)) {
      auto value = convert(item, *list->getElementType());
      TORCH_CHECK(value, "expected ", argument.type()->repr_str(), " for '", argument.name(), "'");
      values.push_back(std::move(*value));
    }
    return values;
  }
  auto value = convert(attribute, type);
  TORCH_CHECK(value, "expected ", argument.type()->repr_str(), " for '", argument.name(), "'");
  return std::move(*value);
}

}  // namespace leapp::emit
