// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/special/special.h"

namespace leapp::onnx_ops {
namespace {

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

void relu(OpBuilder& b) {
  const Tensor x = input(b);
  b.bind(is_floating(x.dtype) ? b.unary("Relu", x) : with_number(b, "Max", x, 0));
}

Tensor bounded(OpBuilder& b, const Tensor& x, double low, double high) {
  if (!is_floating(x.dtype)) return b.clip(x, b.constant(low, x.dtype), b.constant(high, x.dtype));
  return b.add("Clip", {x, b.constant(low, x.dtype), b.constant(high, x.dtype)}, x.type());
}

void relu6(OpBuilder& b) { b.bind(bounded(b, input(b), 0, 6)); }

void hardtanh(OpBuilder& b) {
  const double low = b.number("min_val");
  const double high = b.number("max_val");
  b.bind(bounded(b, input(b), low, high));
}

Tensor hard_gate(OpBuilder& b, const Tensor& x) {
  return with_number(b, "Div", bounded(b, with_number(b, "Add", x, 3), 0, 6), 6);
}

void hardsigmoid(OpBuilder& b) { b.bind(hard_gate(b, input(b))); }

void hardswish(OpBuilder& b) {
  const Tensor x = input(b);
  if (b.opset() >= 14 && x.dtype == DType::kFloat32) return b.bind(b.unary("HardSwish", x));
  b.bind(b.binary("Mul", x, hard_gate(b, x)));
}

void silu(OpBuilder& b) {
  const Tensor x = input(b);
  b.bind(b.binary("Mul", x, b.unary("Sigmoid", x)));
}

/// log(1 + e^x) without overflow, for dtypes that Softplus has no kernel of.
Tensor soft_plus(OpBuilder& b, const Tensor& x) {
  if (x.dtype != DType::kFloat64) return b.unary("Softplus", x);
  const Tensor rest = log_of_one_plus(b, b.unary("Exp", b.unary("Neg", b.unary("Abs", x))));
  return b.binary("Add", b.unary("Relu", x), rest);
}

void softplus(OpBuilder& b) {
  const Tensor x = input(b);
  const double beta = b.number("beta");
  const double threshold = b.number("threshold");
  const Tensor scaled = beta == 1 ? x : with_number(b, "Mul", x, beta);
  Tensor y = soft_plus(b, scaled);
  if (beta != 1) y = with_number(b, "Div", y, beta);
  // Above the usual threshold the two do not differ in float32.
  if (threshold >= 20 && x.dtype != DType::kFloat64) return b.bind(y);
  b.bind(b.where(compare_number(b, "Greater", scaled, threshold), x, y));
}

void log_sigmoid(OpBuilder& b) { b.bind(b.unary("Neg", soft_plus(b, b.unary("Neg", input(b))))); }

void mish(OpBuilder& b) {
  const Tensor x = input(b);
  if (b.opset() >= 18 && x.dtype != DType::kFloat64) return b.bind(b.unary("Mish", x));
  b.bind(b.binary("Mul", x, b.unary("Tanh", soft_plus(b, x))));
}

void elu(OpBuilder& b) {
  const Tensor x = input(b);
  const double alpha = b.number("alpha");
  const double scale = b.number("scale");
  const double input_scale = b.number("input_scale");
  if (scale == 1 && input_scale == 1 && x.dtype != DType::kFloat64) {
    return b.bind(b.unary("Elu", x, {{"alpha", static_cast<float>(alpha)}}));
  }
  const Tensor low = with_number(b, "Mul", exp_minus_one(b, with_number(b, "Mul", x, input_scale)), alpha * scale);
  b.bind(b.where(compare_number(b, "LessOrEqual", x, 0), low, with_number(b, "Mul", x, scale)));
}

void selu(OpBuilder& b) {
  const Tensor x = input(b);
  if (x.dtype != DType::kFloat64) return b.bind(b.unary("Selu", x));
  const Tensor low = with_number(b, "Mul", exp_minus_one(b, x), kSeluAlpha * kSeluScale);
  b.bind(b.where(compare_number(b, "LessOrEqual", x, 0), low, with_number(b, "Mul", x, kSeluScale)));
}

void celu(OpBuilder& b) {
  const Tensor x = input(b);
  const double alpha = b.number("alpha");
  const Tensor low = with_number(b, "Mul", exp_minus_one(b, with_number(b, "Div", x, alpha)), alpha);
  b.bind(b.where(compare_number(b, "LessOrEqual", x, 0), low, x));
}

Tensor gelu_erf(OpBuilder& b, const Tensor& x) {
  const Tensor scaled = with_number(b, "Mul", x, std::numbers::sqrt2 / 2);
  const Tensor erf = x.dtype == DType::kFloat64 ? erf_accurate(b, scaled) : b.unary("Erf", scaled);
  const Tensor gate = with_number(b, "Add", erf, 1);
  return b.binary("Mul", with_number(b, "Mul", x, 0.5), gate);
}

Tensor gelu_tanh(OpBuilder& b, const Tensor& x) {
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const Tensor cube = b.binary("Mul", b.binary("Mul", x, x), x);
  const Tensor inner = b.binary("Add", x, with_number(b, "Mul", cube, 0.044715));
  const Tensor gate = with_number(b, "Add", b.unary("Tanh", with_number(b, "Mul", inner, scale)), 1);
  return b.binary("Mul", with_number(b, "Mul", x, 0.5), gate);
}

void gelu(OpBuilder& b) {
  const Tensor x = input(b);
  const std::string approximate = b.text("approximate");
  if (b.opset() >= 20 && x.dtype != DType::kFloat64) {
    return b.bind(b.unary("Gelu", x, {{"approximate", approximate}}));
  }
  // Half is computed in float32 as a whole: that is what torch does.
  const Tensor wide = is_half(x.dtype) ? b.cast(x, DType::kFloat32) : x;
  b.bind(b.cast(approximate == "tanh" ? gelu_tanh(b, wide) : gelu_erf(b, wide), x.dtype));
}

Tensor leaky(OpBuilder& b, const Tensor& x, double slope) {
  if (x.dtype != DType::kFloat64) return b.unary("LeakyRelu", x, {{"alpha", static_cast<float>(slope)}});
  return b.where(compare_number(b, "Greater", x, 0), x, with_number(b, "Mul", x, slope));
}

void leaky_relu(OpBuilder& b) { b.bind(leaky(b, input(b), b.number("negative_slope"))); }

void prelu(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  Tensor weight = b.tensor("weight");
  // One slope for each channel, which is dimension 1.
  if (weight.elements() != 1 && x.rank() > 1) {
    Shape shape(static_cast<std::size_t>(x.rank()), 1);
    shape[1] = weight.elements();
    weight = b.reshape(weight, shape);
  } else if (weight.elements() == 1) {
    weight = b.reshape(weight, {});
  }
  b.bind(b.where(compare_number(b, "Greater", x, 0), x, b.binary("Mul", weight, x)));
}

void threshold(OpBuilder& b) {
  const Tensor x = input(b);
  const Tensor low = compare_number(b, "LessOrEqual", x, b.number("threshold"));
  b.bind(b.where(low, b.constant(b.scalar("value"), x.dtype), x));
}

void hardshrink(OpBuilder& b) {
  const Tensor x = input(b);
  const double limit = b.number("lambd");
  const Tensor small = compare_number(b, "LessOrEqual", b.unary("Abs", x), limit);
  b.bind(b.where(small, b.constant(0.0, x.dtype), x));
}

void softshrink(OpBuilder& b) {
  const Tensor x = input(b);
  const double limit = b.number("lambd");
  const Tensor above = with_number(b, "Sub", x, limit);
  const Tensor below = with_number(b, "Add", x, limit);
  // Zero in between, and NaN stays NaN.
  const Tensor inside = with_number(b, "Mul", x, 0);
  const Tensor low = b.where(compare_number(b, "Less", x, -limit), below, inside);
  b.bind(b.where(compare_number(b, "Greater", x, limit), above, low));
}

void glu(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t dim = b.integer("dim");
  const std::int64_t half = x.size(dim) / 2;
  const Tensors parts = b.split(x, dim, {half, half});
  b.bind(b.binary("Mul", parts[0], b.unary("Sigmoid", parts[1])));
}

Tensor softmax_of(OpBuilder& b, const std::string& op, const Tensor& x) {
  if (x.rank() == 0) return b.reshape(b.unary(op, b.reshape(x, {1}), {{"axis", std::int64_t{0}}}), {});
  return b.unary(op, x, {{"axis", wrap_dim(b.integer("dim"), x.rank())}});
}

void softmax(OpBuilder& b) { b.bind(softmax_of(b, b.onnx_op(), input(b))); }

/// Rows that are all -inf give zeros.
void safe_softmax(OpBuilder& b) {
  const Tensor x = input(b);
  const Tensor plain = softmax_of(b, "Softmax", x);
  const Tensor high = b.reduce("ReduceMax", x, {b.integer("dim")}, x.rank() > 0);
  b.bind(b.where(compare_number(b, "Equal", high, -kInf), b.constant(0.0, x.dtype), plain));
}

void softmax_backward(OpBuilder& b) {
  const Tensor output = b.tensor("output");
  const Tensor product = b.binary("Mul", b.tensor("grad_output"), output);
  const Tensor total = b.reduce("ReduceSum", product, {b.integer("dim")}, output.rank() > 0);
  b.bind(b.cast(b.binary("Sub", product, b.binary("Mul", output, total)), b.result().dtype));
}

constexpr std::array kActivationOps = {
    EmitEntry{"aten::_log_softmax", softmax, "LogSoftmax"},
    EmitEntry{"aten::_safe_softmax", safe_softmax},
    EmitEntry{"aten::_softmax", softmax, "Softmax"},
    EmitEntry{"aten::_softmax_backward_data", softmax_backward},
    EmitEntry{"aten::celu", celu},
    EmitEntry{"aten::elu", elu},
    EmitEntry{"aten::gelu", gelu},
    EmitEntry{"aten::glu", glu},
    EmitEntry{"aten::hardshrink", hardshrink},
    EmitEntry{"aten::hardsigmoid", hardsigmoid},
    EmitEntry{"aten::hardswish", hardswish},
    EmitEntry{"aten::hardtanh", hardtanh},
    EmitEntry{"aten::leaky_relu", leaky_relu},
    EmitEntry{"aten::log_sigmoid", log_sigmoid},
    EmitEntry{"aten::log_softmax.int", softmax, "LogSoftmax"},
    EmitEntry{"aten::mish", mish},
    EmitEntry{"aten::prelu", prelu},
    EmitEntry{"aten::_prelu_kernel", prelu},
    EmitEntry{"aten::relu", relu},
    EmitEntry{"aten::relu6", relu6},
    EmitEntry{"aten::selu", selu},
    EmitEntry{"aten::sigmoid", unary, "Sigmoid"},
    EmitEntry{"aten::silu", silu},
    EmitEntry{"aten::softmax.int", softmax, "Softmax"},
    EmitEntry{"aten::softplus", softplus},
    EmitEntry{"aten::softshrink", softshrink},
    EmitEntry{"aten::special_expit", unary, "Sigmoid"},
    EmitEntry{"aten::special_log_softmax", softmax, "LogSoftmax"},
    EmitEntry{"aten::special_softmax", softmax, "Softmax"},
    EmitEntry{"aten::tanh", unary, "Tanh"},
    EmitEntry{"aten::threshold", threshold},
};

}  // namespace

EmitEntries activation_ops() { return kActivationOps; }

}  // namespace leapp::onnx_ops
