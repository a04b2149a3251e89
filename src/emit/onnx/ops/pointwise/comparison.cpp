// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

struct Pair {
  Tensor x;
  Tensor y;
};

/// Both operands in the dtype torch compares them in.
Pair operands(OpBuilder& b) {
  DType dtype = b.promoted({"self", "other"});
  return {b.operand("self", dtype), b.operand("other", dtype)};
}

/// Kernels order no booleans.
Tensor orderable(OpBuilder& b, const Tensor& x) { return x.dtype == DType::kBool ? b.cast(x, DType::kUInt8) : x; }

void order(OpBuilder& b) {
  const auto [x, y] = operands(b);
  b.bind(b.compare(b.onnx_op(), orderable(b, x), orderable(b, y)));
}

void equal(OpBuilder& b) {
  const auto [x, y] = operands(b);
  b.bind(b.compare("Equal", x, y));
}

void not_equal(OpBuilder& b) {
  const auto [x, y] = operands(b);
  b.bind(b.logical_not(b.compare("Equal", x, y)));
}

/// Whether an element is not zero.
Tensor truth(OpBuilder& b, std::string_view name) { return b.operand(name, DType::kBool); }

void logical(OpBuilder& b) { b.bind(b.binary(b.onnx_op(), truth(b, "self"), truth(b, "other"))); }

void logical_not(OpBuilder& b) { b.bind(b.logical_not(truth(b, "self"))); }

void is_nan_op(OpBuilder& b) { b.bind(is_nan(b, b.tensor("self"))); }

void is_inf_op(OpBuilder& b) { b.bind(is_inf(b, b.tensor("self"))); }

void is_one_infinity(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  if (!is_floating(x.dtype)) return b.bind(b.full(false, b.result()));
  b.bind(compare_number(b, "Equal", x, b.onnx_op() == "+" ? kInf : -kInf));
}

void is_finite(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  if (!is_floating(x.dtype)) return b.bind(b.full(true, b.result()));
  // NaN is less than nothing.
  b.bind(compare_number(b, "Less", b.unary("Abs", x), kInf));
}

void is_real(OpBuilder& b) {
  if (is_complex(b.tensor("self").dtype)) return b.refuse("ONNX has no complex arithmetic");
  b.bind(b.full(true, b.result()));
}

void is_close(OpBuilder& b) {
  const auto [x, y] = operands(b);
  Tensor close = b.compare("Equal", x, y);
  if (b.flag("equal_nan")) close = b.binary("Or", close, b.binary("And", is_nan(b, x), is_nan(b, y)));
  const double rtol = b.number("rtol");
  const double atol = b.number("atol");
  if (rtol == 0 && atol == 0) return b.bind(close);
  const DType dtype = is_floating(x.dtype) ? x.dtype : DType::kFloat32;
  const Tensor allowed = with_number(b, "Add", with_number(b, "Mul", b.unary("Abs", b.cast(y, dtype)), rtol), atol);
  const Tensor distance = b.unary("Abs", b.binary("Sub", b.cast(x, dtype), b.cast(y, dtype)));
  const Tensor finite = compare_number(b, "Less", distance, kInf);
  close = b.binary("Or", close, b.binary("And", finite, b.compare("LessOrEqual", distance, allowed)));
  b.bind(close);
}

void sign_bit_op(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  b.bind(x.dtype == DType::kBool ? b.full(false, b.result()) : sign_bit(b, x));
}

void where_op(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  b.bind(b.where(b.operand("condition", DType::kBool), b.operand("self", dtype), b.operand("other", dtype)));
}

void masked_fill(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  b.bind(b.where(b.operand("mask", DType::kBool), b.operand("value", dtype), b.operand("self", dtype)));
}

constexpr std::array kComparisonOps = {
    EmitEntry{"aten::eq.Scalar", equal},
    EmitEntry{"aten::eq.Tensor", equal},
    EmitEntry{"aten::ge.Scalar", order, "GreaterOrEqual"},
    EmitEntry{"aten::ge.Tensor", order, "GreaterOrEqual"},
    EmitEntry{"aten::greater.Scalar", order, "Greater"},
    EmitEntry{"aten::greater.Tensor", order, "Greater"},
    EmitEntry{"aten::greater_equal.Scalar", order, "GreaterOrEqual"},
    EmitEntry{"aten::greater_equal.Tensor", order, "GreaterOrEqual"},
    EmitEntry{"aten::gt.Scalar", order, "Greater"},
    EmitEntry{"aten::gt.Tensor", order, "Greater"},
    EmitEntry{"aten::isclose", is_close},
    EmitEntry{"aten::isfinite", is_finite},
    EmitEntry{"aten::isinf", is_inf_op},
    EmitEntry{"aten::isnan", is_nan_op},
    EmitEntry{"aten::isneginf", is_one_infinity, "-"},
    EmitEntry{"aten::isposinf", is_one_infinity, "+"},
    EmitEntry{"aten::isreal", is_real},
    EmitEntry{"aten::le.Scalar", order, "LessOrEqual"},
    EmitEntry{"aten::le.Tensor", order, "LessOrEqual"},
    EmitEntry{"aten::less.Scalar", order, "Less"},
    EmitEntry{"aten::less.Tensor", order, "Less"},
    EmitEntry{"aten::less_equal.Scalar", order, "LessOrEqual"},
    EmitEntry{"aten::less_equal.Tensor", order, "LessOrEqual"},
    EmitEntry{"aten::logical_and", logical, "And"},
    EmitEntry{"aten::logical_not", logical_not},
    EmitEntry{"aten::logical_or", logical, "Or"},
    EmitEntry{"aten::logical_xor", logical, "Xor"},
    EmitEntry{"aten::lt.Scalar", order, "Less"},
    EmitEntry{"aten::lt.Tensor", order, "Less"},
    EmitEntry{"aten::masked_fill.Scalar", masked_fill},
    EmitEntry{"aten::masked_fill.Tensor", masked_fill},
    EmitEntry{"aten::ne.Scalar", not_equal},
    EmitEntry{"aten::ne.Tensor", not_equal},
    EmitEntry{"aten::not_equal.Scalar", not_equal},
    EmitEntry{"aten::not_equal.Tensor", not_equal},
    EmitEntry{"aten::signbit", sign_bit_op},
    EmitEntry{"aten::where.Scalar", where_op},
    EmitEntry{"aten::where.ScalarOther", where_op},
    EmitEntry{"aten::where.ScalarSelf", where_op},
    EmitEntry{"aten::where.self", where_op},
};

}  // namespace

EmitEntries comparison_ops() { return kComparisonOps; }

}  // namespace leapp::onnx_ops
