// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/dtype_kind.h"
#include "graph/division.h"
#include "graph/masks/handlers.h"

namespace leapp::graph::masks {
namespace {

// Without "aten::", in alphabetical order.
constexpr std::array<std::string_view, 141> kElementwise = {
    "__and__",     "__lshift__",    "__or__",      "__rshift__",   "__xor__",
    "abs",         "absolute",      "acos",        "acosh",        "add",
    "addcdiv",     "addcmul",       "alias",       "angle",        "arccos",
    "arccosh",     "arcsin",        "arcsinh",     "arctan",       "arctan2",
    "arctanh",     "asin",          "asinh",       "atan",         "atan2",
    "atanh",       "bernoulli",     "bitwise_and", "bitwise_not",  "bitwise_or",
    "bitwise_xor", "ceil",          "celu",        "clamp",        "clamp_max",
    "clamp_min",   "clip",          "clone",       "contiguous",   "copysign",
    "cos",         "cosh",          "deg2rad",     "detach",       "div",
    "divide",      "dropout",       "elu",         "eq",           "erf",
    "erfc",        "exp",           "exp2",        "expm1",        "feature_dropout",
    "fix",         "float_power",   "floor",       "floor_divide", "fmax",
    "fmin",        "fmod",          "frac",        "ge",           "gelu",
    "greater",     "greater_equal", "gt",          "hardsigmoid",  "hardswish",
    "hardtanh",    "heaviside",     "hypot",       "isclose",      "isfinite",
    "isinf",       "isnan",         "isneginf",    "isposinf",     "le",
    "leaky_relu",  "lerp",          "less",        "less_equal",   "log",
    "log10",       "log1p",         "log2",        "log_sigmoid",  "logical_and",
    "logical_not", "logical_or",    "logical_xor", "logit",        "lt",
    "masked_fill", "maximum",       "minimum",     "mish",         "mul",
    "multiply",    "nan_to_num",    "ne",          "neg",          "negative",
    "not_equal",   "positive",      "pow",         "rad2deg",      "rand_like",
    "randn_like",  "reciprocal",    "relu",        "relu6",        "remainder",
    "round",       "rsqrt",         "rsub",        "selu",         "sgn",
    "sigmoid",     "sign",          "signbit",     "silu",         "sin",
    "sinc",        "sinh",          "softplus",    "sqrt",         "square",
    "sub",         "subtract",      "tan",         "tanh",         "threshold",
    "to",          "true_divide",   "trunc",       "uniform",      "where",
    "xlogy",
};

/// Dividing an integer by what stands in a row that does not count may end the process.
void guard_divisor(Rewriter& writer, std::vector<Argument>& arguments) {
  const Node& node = writer.node();
  const std::string_view name = divisor_of(node.op());
  if (name.empty()) return;
  Value* divisor = tensor(node, name);
  const MaskedRows* of = divisor != nullptr ? writer.rows(divisor) : nullptr;
  const bool whole = divisor != nullptr && (is_integer(divisor->dtype()) || divisor->dtype() == DType::kBool);
  if (of != nullptr && whole) set(arguments, name, writer.filled(*of, 1));
}

/// What a cast keeps: where rows stand.
MaskedRows named_like(const MaskedRows& from, const Node& node) {
  MaskedRows kept;
  const bool same = node.op() == "aten::to" || node.op() == "aten::clone" || node.op() == "aten::contiguous" ||
                    node.op() == "aten::detach" || node.op() == "aten::alias";
  if (!same || !is_integer(node.result()->dtype())) return kept;
  kept.column = from.column;
  kept.positions = from.positions;
  kept.rank_in = from.rank_in;
  return kept;
}

}  // namespace

bool is_elementwise_aten(std::string_view op) {
  if (op == "aten::normal_functional" || op == "aten::exponential") return true;  // draw over what they are given
  if (!op.starts_with("aten::")) return false;
  return std::binary_search(kElementwise.begin(), kElementwise.end(), op.substr(6));
}

Status elementwise(Rewriter& writer) {
  const Node& node = writer.node();
  RowSpace& space = writer.space();
  const std::int64_t rank = rank_of(node.result());
  std::int64_t axis = -1;
  const MaskedRows* first = nullptr;
  for (const Value* input : node.inputs()) {
    const MaskedRows* of = writer.rows(input);
    if (of == nullptr) continue;
    const std::int64_t here = of->axis + rank - rank_of(input);
    if (axis >= 0 && here != axis) return unimplemented("it combines every row with every row");
    axis = here;
    first = first == nullptr ? of : first;
  }
  if (size_at(node.result(), axis) != space.length) return unimplemented("it spreads one row over several");
  std::vector<Argument> arguments = writer.dense_arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* given = std::get_if<Value*>(&node.arguments()[i].value);
    if (given == nullptr || *given == nullptr || writer.rows(*given) != nullptr) continue;
    LEAPP_ASSIGN_OR_RETURN(Value * beside, writer.beside(*given, axis - (rank - rank_of(*given)), space));
    arguments[i].value = beside;
  }
  guard_divisor(writer, arguments);
  const std::vector<Value*> made = writer.again(std::move(arguments), axis, space.count);
  for (std::size_t i = 0; i < made.size(); ++i) {
    MaskedRows result = named_like(*first, node);
    result.space = &space;
    result.axis = axis;
    result.dense = made[i];
    writer.bind(i, result);
  }
  return {};
}

}  // namespace leapp::graph::masks
