// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "runtime/batch/batch_node.h"

namespace leapp::runtime {
namespace {

/// Rows are counted from the last axis, as broadcasting does; all inputs that have them agree on where they are.
Status broadcast(RowNode& n) {
  std::optional<std::int64_t> place;
  std::size_t first = 0;
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (!n.wide(i)) continue;
    const std::int64_t found = n.rank(i) - 1 - n.axis(i);
    if (place && (*place != found || !n.alike(first, i))) return mixes_rows("its inputs have rows in different places");
    if (!place) first = i;
    place = found;
  }
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (!n.has(i) || n.wide(i) || n.rank(i) <= *place) continue;
    if (n.shape(i)[static_cast<std::size_t>(n.rank(i) - 1 - *place)] != 1) {
      return mixes_rows("a constant has more than one entry where the rows are");
    }
  }
  for (std::size_t o = 0; o < n.outputs(); ++o) {
    if (n.result_rank(o) <= *place) return mixes_rows("its result has no axis for rows");
    n.rows_at(o, n.result_rank(o) - 1 - *place);
  }
  return {};
}

/// Works along one axis, which is an attribute, and leaves the shape's rank alone.
Status along_axis(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  const bool split = n.op() == "Split";
  const bool old_softmax = n.opset() < 13 && n.op().ends_with("max");
  const std::int64_t otherwise = split ? 0 : old_softmax ? 1 : -1;
  const std::int64_t axis = from_front(n.integer("axis", otherwise), n.rank(0));
  // Before version 13 everything from the axis on is one.
  if (axis == n.axis(0) || (old_softmax && axis < n.axis(0))) return mixes_rows("it works along the axis of the rows");
  n.all_rows_at(n.axis(0));
  return {};
}

Status cumulative(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (!n.numbers(1) || n.numbers(1)->size() != 1) return mixes_rows("its axis is not known");
  if (from_front(n.numbers(1)->front(), n.rank(0)) == n.axis(0)) return mixes_rows("it sums along the rows");
  n.rows_at(0, n.axis(0));
  return {};
}

Status arg_extreme(RowNode& n) {
  const std::int64_t axis = from_front(n.integer("axis", 0), n.rank(0));
  if (axis == n.axis(0)) return mixes_rows("it compares rows with each other");
  const bool keep = n.integer("keepdims", 1) != 0;
  n.rows_at(0, keep || axis > n.axis(0) ? n.axis(0) : n.axis(0) - 1);
  return {};
}

Status reduce(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  std::optional<BatchExtents> axes = n.integers("axes");
  if (n.has(1)) {
    axes = n.numbers(1);
    if (!axes) return mixes_rows("its axes are not known");
  }
  if (!axes || axes->empty()) {
    if (n.integer("noop_with_empty_axes", 0) == 0) return mixes_rows("it reduces all axes");
    n.rows_at(0, n.axis(0));
    return {};
  }
  const bool keep = n.integer("keepdims", 1) != 0;
  std::int64_t axis = n.axis(0);
  for (const std::int64_t one : *axes) {
    const std::int64_t reduced = from_front(one, n.rank(0));
    if (reduced == n.axis(0)) return mixes_rows("it reduces the axis of the rows");
    if (!keep && reduced < n.axis(0)) --axis;
  }
  n.rows_at(0, axis);
  return {};
}

/// A scale and a zero point for the whole tensor, or one for each entry of an axis.
Status quantise(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  const bool per_axis = n.rank(1) == 1 && n.shape(1)[0] != 1;
  const std::int64_t axis = from_front(n.integer("axis", 1), n.rank(0));
  if (n.rank(1) > 1 || (per_axis && axis == n.axis(0))) return mixes_rows("its scales are not the same for all rows");
  n.rows_at(0, n.axis(0));
  return {};
}

// clang-format off
constexpr std::string_view kBroadcasts[] = {
    "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "BitShift", "BitwiseAnd",
    "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Div",
    "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish",
    "Identity", "IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Mean", "Min", "Mish", "Mod",
    "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid",
    "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tan", "Tanh",
    "ThresholdedRelu", "Where", "Xor"};
// clang-format on

constexpr std::array kRules{
    RowRuleEntry{"ArgMax", arg_extreme},
    RowRuleEntry{"ArgMin", arg_extreme},
    RowRuleEntry{"CumSum", cumulative},
    RowRuleEntry{"DequantizeLinear", quantise},
    RowRuleEntry{"Hardmax", along_axis},
    RowRuleEntry{"LogSoftmax", along_axis},
    RowRuleEntry{"LpNormalization", along_axis},
    RowRuleEntry{"QuantizeLinear", quantise},
    RowRuleEntry{"ReduceL1", reduce},
    RowRuleEntry{"ReduceL2", reduce},
    RowRuleEntry{"ReduceLogSum", reduce},
    RowRuleEntry{"ReduceLogSumExp", reduce},
    RowRuleEntry{"ReduceMax", reduce},
    RowRuleEntry{"ReduceMean", reduce},
    RowRuleEntry{"ReduceMin", reduce},
    RowRuleEntry{"ReduceProd", reduce},
    RowRuleEntry{"ReduceSum", reduce},
    RowRuleEntry{"ReduceSumSquare", reduce},
    RowRuleEntry{"Softmax", along_axis},
    RowRuleEntry{"Split", along_axis},
    RowRuleEntry{"TopK", along_axis},
};

}  // namespace

const onnx::AttributeProto* RowNode::attribute(std::string_view name) const {
  const auto at = std::find_if(node_.attributes.begin(), node_.attributes.end(),
                               [&](const onnx::AttributeProto& one) { return one.name == name; });
  return at == node_.attributes.end() ? nullptr : &*at;
}

std::int64_t RowNode::integer(std::string_view name, std::int64_t otherwise) const {
  const onnx::AttributeProto* found = attribute(name);
  const auto* value = found == nullptr ? nullptr : std::get_if<std::int64_t>(&found->value);
  return value == nullptr ? otherwise : *value;
}

std::optional<BatchExtents> RowNode::integers(std::string_view name) const {
  const onnx::AttributeProto* found = attribute(name);
  const auto* value = found == nullptr ? nullptr : std::get_if<BatchExtents>(&found->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string RowNode::text(std::string_view name, std::string_view otherwise) const {
  const onnx::AttributeProto* found = attribute(name);
  const auto* value = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
  return value == nullptr ? std::string(otherwise) : *value;
}

Status RowNode::only_first(std::size_t count) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (wide(i) != (i < count) && has(i)) {
      return mixes_rows(i < count ? "what it works on is a constant, and something else has rows"
                                  : fmt::format("its input {} is not the same for all rows", i));
    }
  }
  return {};
}

Status mixes_rows(std::string_view what) { return unimplemented(std::string(what)); }

bool is_elementwise_onnx(std::string_view op) {
  return std::find(std::begin(kBroadcasts), std::end(kBroadcasts), op) != std::end(kBroadcasts);
}

bool takes_blocks(std::string_view op) {
  // clang-format off
  constexpr std::string_view kOthers[] = {
      "AveragePool", "BatchNormalization", "Concat", "Conv", "ConvTranspose", "DepthToSpace", "GRU", "Gather", "Gemm",
      "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "GroupNormalization", "InstanceNormalization", "LRN", "LSTM",
      "LayerNormalization", "LogSoftmax", "LpPool", "MatMul", "MaxPool", "RMSNormalization", "RNN", "Reshape", "Shape",
      "Slice", "Softmax", "SpaceToDepth", "Split", "Squeeze", "Transpose", "Unsqueeze"};
  // clang-format on
  return std::find(std::begin(kOthers), std::end(kOthers), op) != std::end(kOthers) || op.starts_with("Reduce") ||
         is_elementwise_onnx(op);
}

RowRule find_row_rule(std::string_view op) {
  if (is_elementwise_onnx(op)) return broadcast;
  const auto at = std::find_if(kRules.begin(), kRules.end(), [&](const RowRuleEntry& one) { return one.op == op; });
  if (at != kRules.end()) return at->rule;
  if (const RowRule rule = find_shape_rule(op)) return rule;
  return find_network_rule(op);
}

}  // namespace leapp::runtime
