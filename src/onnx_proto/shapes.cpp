// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/shapes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <variant>

namespace leapp::onnx {
namespace {

// Operators of one tensor, or of one and parameters, whose result has its extents.
constexpr std::array<std::string_view, 38> kSameExtents{
    "Abs",   "Acos", "Asin",      "Atan",       "BitwiseNot", "Cast",      "Ceil", "Celu",
    "Clip",  "Cos",  "Cosh",      "CumSum",     "Dropout",    "Elu",       "Erf",  "Exp",
    "Floor", "Gelu", "HardSwish", "Identity",   "IsNaN",      "LeakyRelu", "Log",  "LogSoftmax",
    "Mish",  "Neg",  "Not",       "Reciprocal", "Relu",       "Round",     "Selu", "Sigmoid",
    "Sign",  "Sin",  "Softmax",   "Softplus",   "Sqrt",       "Tanh"};

// Operators whose arguments are stretched to fit each other.
constexpr std::array<std::string_view, 22> kBroadcast{
    "Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
    "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
    "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
    "Mod",        "Mul",         "Or",       "Pow",        "PRelu",
    "Sub",        "Sum"};

/// Both stretched to fit each other. Where they do not, the larger: whoever runs it says so.
Extents stretched(const Extents& a, const Extents& b) {
  const Extents& longer = a.size() >= b.size() ? a : b;
  const Extents& shorter = a.size() >= b.size() ? b : a;
  Extents result = longer;
  const std::size_t ahead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) result[ahead + i] = std::max(longer[ahead + i], shorter[i]);
  return result;
}

std::optional<Extents> transposed(const Extents& extents, const std::vector<double>& order) {
  Extents result(extents.rbegin(), extents.rend());
  if (order.empty()) return result;
  if (order.size() != extents.size()) return std::nullopt;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] < 0 || order[i] >= static_cast<double>(extents.size())) return std::nullopt;
    result[i] = extents[static_cast<std::size_t>(order[i])];
  }
  return result;
}

/// To extents of which one may be -1, and others 0: those that were there.
std::optional<Extents> reshaped(const Extents& extents, const KnownValue& wanted) {
  Extents result = wanted.numbers;
  double known = 1;
  std::optional<std::size_t> rest;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 0 && i < extents.size()) result[i] = extents[i];
    if (result[i] < 0) {
      if (rest) return std::nullopt;
      rest = i;
    } else {
      known *= result[i];
    }
  }
  if (rest) result[*rest] = known == 0 ? 0 : elements_of(extents) / known;
  return result;
}

std::optional<Extents> padded(const Extents& extents, const KnownValue& pads) {
  if (pads.numbers.size() != 2 * extents.size()) return std::nullopt;
  Extents result = extents;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += pads.numbers[i] + pads.numbers[result.size() + i];
  return result;
}

/// With an axis of one at each of these places.
std::optional<Extents> with_axes(const Extents& extents, const KnownValue& axes) {
  Extents result = extents;
  const auto rank = static_cast<double>(extents.size() + axes.numbers.size());
  std::vector<double> places = axes.numbers;
  for (double& place : places) {
    place += place < 0 ? rank : 0;
    // Said so that NaN, which is an axis where somebody gives floats, is none either: it can be neither sorted nor
    // made an index.
    if (!(place >= 0 && place < rank)) return std::nullopt;
  }
  std::sort(places.begin(), places.end());
  for (const double place : places) {
    if (place > static_cast<double>(result.size())) return std::nullopt;
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(place), 1);
  }
  return result;
}

}  // namespace

double elements_of(const Extents& extents) {
  double count = 1;
  for (const double extent : extents) count *= std::max(extent, 0.0);
  return count;
}

std::int64_t integer_of(const NodeView& node, std::string_view name, std::int64_t otherwise) {
  for (const AttributeProto& attribute : node.attributes) {
    const auto* number = std::get_if<std::int64_t>(&attribute.value);
    if (number != nullptr && attribute.name == name) return *number;
  }
  return otherwise;
}

std::vector<double> integers_of(const NodeView& node, std::string_view name) {
  for (const AttributeProto& attribute : node.attributes) {
    const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute.value);
    if (list != nullptr && attribute.name == name) return {list->begin(), list->end()};
  }
  return {};
}

const Extents* KnownShapes::find(std::string_view name) const {
  for (const KnownShapes* at = this; at != nullptr; at = at->around_) {
    const auto found = at->shapes_.find(name);
    if (found != at->shapes_.end()) return found->second ? &*found->second : nullptr;
  }
  return nullptr;
}

const Extents* KnownShapes::input(const NodeView& node, std::size_t index) const {
  return index < node.inputs.size() && !node.inputs[index].empty() ? find(node.inputs[index]) : nullptr;
}

void KnownShapes::add_input(const ValueInfoView& input) {
  std::optional<Extents>& shape = shapes_[input.name];
  shape.reset();
  if (!input.dims || input.dims->size() > kMostAxes) return;
  if (std::any_of(input.dims->begin(), input.dims->end(), [](std::int64_t extent) { return extent < 0; })) return;
  shape.emplace(input.dims->begin(), input.dims->end());
}

void KnownShapes::add_initializer(const NamedView& tensor) {
  const auto contents = read_tensor(tensor.bytes);
  if (!contents.ok() || contents.value().dims.size() > kMostAxes) return hide(tensor.name);
  shapes_[tensor.name] = Extents(contents.value().dims.begin(), contents.value().dims.end());
}

void KnownShapes::add_result(const NodeView& node, const KnownValues& values) {
  // Nothing else of that name, in a graph around it.
  for (const std::string_view output : node.outputs) {
    if (find(output) != nullptr) hide(output);
  }
  if (node.outputs.empty() || (!node.domain.empty() && node.domain != "ai.onnx")) return;
  auto result = result_of(node, values);
  if (result && result->size() <= kMostAxes) shapes_[node.outputs.front()] = std::move(*result);
}

std::optional<Extents> KnownShapes::result_of(const NodeView& node, const KnownValues& values) const {
  const std::string_view op = node.op_type;
  const KnownValue* const second = values.input(node, 1);
  if (op == "ConstantOfShape") {
    const KnownValue* const extents = values.input(node, 0);
    return extents == nullptr ? std::nullopt : std::optional<Extents>(extents->numbers);
  }
  if (is_one_of(kBroadcast, op)) return broadcast(node);
  if (op == "Where") return broadcast(node);
  if (op == "Concat") return joined(node);
  if (op == "MatMul") return product(node);
  const Extents* const first = input(node, 0);
  if (first == nullptr) return std::nullopt;
  if (is_one_of(kSameExtents, op)) return *first;
  if (op == "Transpose") return transposed(*first, integers_of(node, "perm"));
  if (second == nullptr) return std::nullopt;
  if (op == "Expand") return stretched(*first, second->numbers);
  if (op == "Reshape") return reshaped(*first, *second);
  if (op == "Pad") return padded(*first, *second);
  if (op == "Unsqueeze") return with_axes(*first, *second);
  if (op == "Tile" && second->numbers.size() == first->size()) {
    Extents result = *first;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] *= std::max(0.0, second->numbers[i]);
    return result;
  }
  return std::nullopt;
}

std::optional<Extents> KnownShapes::broadcast(const NodeView& node) const {
  Extents result;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Extents* const each = input(node, i);
    if (each == nullptr) return std::nullopt;
    result = stretched(result, *each);
  }
  return result;
}

std::optional<Extents> KnownShapes::joined(const NodeView& node) const {
  const Extents* const first = input(node, 0);
  if (first == nullptr || first->empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(first->size());
  const std::int64_t axis = integer_of(node, "axis", 0);
  if (axis < -rank || axis >= rank) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  Extents result = *first;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Extents* const each = input(node, i);
    if (each == nullptr || each->size() != first->size()) return std::nullopt;
    result[at] += (*each)[at];
  }
  return result;
}

std::optional<Extents> KnownShapes::product(const NodeView& node) const {
  const Extents* const left = input(node, 0);
  const Extents* const right = input(node, 1);
  if (left == nullptr || right == nullptr || left->size() < 2 || right->size() < 2) return std::nullopt;
  Extents result = stretched(Extents(left->begin(), left->end() - 2), Extents(right->begin(), right->end() - 2));
  result.push_back((*left)[left->size() - 2]);
  result.push_back(right->back());
  return result;
}

}  // namespace leapp::onnx
