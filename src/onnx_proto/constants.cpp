// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace leapp::onnx {
namespace {

template <typename T>
double number_at(const std::byte* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

std::optional<double> number_at(const std::byte* bytes, DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return number_at<std::uint8_t>(bytes);
    case DType::kInt8:
      return number_at<std::int8_t>(bytes);
    case DType::kInt16:
      return number_at<std::int16_t>(bytes);
    case DType::kInt32:
      return number_at<std::int32_t>(bytes);
    case DType::kInt64:
      return number_at<std::int64_t>(bytes);
    case DType::kUInt32:
      return number_at<std::uint32_t>(bytes);
    case DType::kUInt64:
      return number_at<std::uint64_t>(bytes);
    case DType::kFloat32:
      return number_at<float>(bytes);
    case DType::kFloat64:
      return number_at<double>(bytes);
    default:
      return std::nullopt;
  }
}

std::optional<KnownValue> value_of(Encoded bytes) {
  const auto tensor = read_tensor(bytes);
  if (!tensor.ok() || !tensor.value().dtype || tensor.value().external) return std::nullopt;
  const std::uint64_t count = tensor.value().elements().value_or(0);
  if (count > KnownValues::kMostElements) return std::nullopt;
  KnownValue value{{}, tensor.value().dtype};
  const std::size_t width = dtype_size(*value.dtype);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto number = number_at(tensor.value().bytes.view.data() + i * width, *value.dtype);
    if (!number) return std::nullopt;
    value.numbers.push_back(*number);
  }
  return value;
}

template <typename T>
std::optional<KnownValue> list_of(const std::vector<T>& numbers, DType dtype) {
  if (numbers.size() > KnownValues::kMostElements) return std::nullopt;
  return KnownValue{{numbers.begin(), numbers.end()}, dtype};
}

std::optional<double> applied(std::string_view op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return b == 0 ? std::nullopt : std::optional(std::trunc(a / b));
  if (op == "Pow") return std::pow(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Min") return std::min(a, b);
  return std::nullopt;
}

// As the shapes that they are: lists, of which one may be a single number.
std::optional<KnownValue> combined(std::string_view op, const KnownValue& a, const KnownValue& b) {
  const std::size_t count = std::max(a.numbers.size(), b.numbers.size());
  if (a.numbers.empty() || b.numbers.empty()) return std::nullopt;
  if ((a.numbers.size() != count && a.numbers.size() != 1) || (b.numbers.size() != count && b.numbers.size() != 1)) {
    return std::nullopt;
  }
  KnownValue result{{}, a.dtype};
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = applied(op, a.numbers[a.numbers.size() == 1 ? 0 : i], b.numbers[b.numbers.size() == 1 ? 0 : i]);
    if (!number) return std::nullopt;
    result.numbers.push_back(*number);
  }
  return result;
}

bool keeps_numbers(std::string_view op) {
  static constexpr std::array<std::string_view, 7> kSuch{"Identity", "Cast",    "Unsqueeze", "Squeeze",
                                                         "Reshape",  "Flatten", "CastLike"};
  return std::find(kSuch.begin(), kSuch.end(), op) != kSuch.end();
}

}  // namespace

std::optional<KnownValue> constant_of(const NodeView& node) {
  for (const NamedView& tensor : node.tensors) {
    if (tensor.name == "value") return value_of(tensor.bytes);
  }
  for (const AttributeProto& attribute : node.attributes) {
    if (const auto* one = std::get_if<std::int64_t>(&attribute.value);
        one != nullptr && attribute.name == "value_int") {
      return KnownValue{{static_cast<double>(*one)}, DType::kInt64};
    }
    if (const auto* one = std::get_if<float>(&attribute.value); one != nullptr && attribute.name == "value_float") {
      return KnownValue{{static_cast<double>(*one)}, DType::kFloat32};
    }
    if (const auto* all = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
      if (attribute.name == "value_ints") return list_of(*all, DType::kInt64);
    }
    if (const auto* all = std::get_if<std::vector<float>>(&attribute.value)) {
      if (attribute.name == "value_floats") return list_of(*all, DType::kFloat32);
    }
  }
  return std::nullopt;
}

const KnownValue* KnownValues::find(std::string_view name) const {
  for (const KnownValues* at = this; at != nullptr; at = at->around_) {
    const auto found = at->values_.find(name);
    if (found != at->values_.end()) return found->second ? &*found->second : nullptr;
  }
  return nullptr;
}

const KnownValue* KnownValues::input(const NodeView& node, std::size_t index) const {
  return index < node.inputs.size() && !node.inputs[index].empty() ? find(node.inputs[index]) : nullptr;
}

void KnownValues::add_initializer(const NamedView& tensor) { values_[tensor.name] = value_of(tensor.bytes); }

void KnownValues::add_result(const NodeView& node) {
  // Nothing else of that name, in a graph around it.
  for (const std::string_view output : node.outputs) {
    if (find(output) != nullptr) hide(output);
  }
  if (!node.domain.empty() && node.domain != "ai.onnx") return;
  if (auto value = result_of(node); value && !node.outputs.empty()) add(node.outputs.front(), std::move(*value));
}

std::optional<KnownValue> KnownValues::result_of(const NodeView& node) const {
  if (node.op_type == "Constant") return constant_of(node);
  const KnownValue* first = input(node, 0);
  if (first == nullptr) return std::nullopt;
  if (keeps_numbers(node.op_type)) return *first;
  if (node.op_type == "Concat") {
    KnownValue all{{}, first->dtype};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const KnownValue* part = input(node, i);
      if (part == nullptr || all.numbers.size() + part->numbers.size() > kMostElements) return std::nullopt;
      all.numbers.insert(all.numbers.end(), part->numbers.begin(), part->numbers.end());
    }
    return all;
  }
  const KnownValue* second = node.inputs.size() == 2 ? input(node, 1) : nullptr;
  return second == nullptr ? std::nullopt : combined(node.op_type, *first, *second);
}

}  // namespace leapp::onnx
