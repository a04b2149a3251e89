// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of torch's distributions; the numbers themselves are the runtime's.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/training/random.h"

namespace leapp::onnx_ops {
namespace {

/// RandomUniform or RandomNormal in float32.
Tensor draw(OpBuilder& b, const std::string& op, const Shape& shape, Attributes attributes) {
  if (b.opset() >= 22) b.refuse("ONNX Runtime draws random numbers up to opset_version 21 only");
  attributes.push_back({"dtype", std::int64_t{onnx::data_type_of(DType::kFloat32).value_or(0)}});
  // A 0-d shape is no list of sizes.
  attributes.push_back({"shape", shape.empty() ? Shape{1} : shape});
  const Tensor drawn = b.add(op, {}, {DType::kFloat32, shape.empty() ? Shape{1} : shape}, std::move(attributes));
  return b.reshape(drawn, shape);
}

Tensor uniform(OpBuilder& b, const Shape& shape, double low = 0, double high = 1) {
  return draw(b, "RandomUniform", shape, {{"low", static_cast<float>(low)}, {"high", static_cast<float>(high)}});
}

Tensor normal(OpBuilder& b, const Shape& shape) { return draw(b, "RandomNormal", shape, {}); }

void bind_as_result(OpBuilder& b, const Tensor& drawn) { b.bind(b.cast(drawn, b.result().dtype)); }

void rand(OpBuilder& b) { bind_as_result(b, uniform(b, b.result().shape)); }

void randn(OpBuilder& b) { bind_as_result(b, normal(b, b.result().shape)); }

void uniform_op(OpBuilder& b) { bind_as_result(b, uniform(b, b.result().shape, b.number("from"), b.number("to"))); }

/// mean + std * normal, where either may be a tensor.
void normal_op(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor spread = b.binary("Mul", b.cast(normal(b, b.result().shape), dtype), b.operand("std", dtype));
  b.bind(b.binary("Add", spread, b.operand("mean", dtype)));
}

void log_normal(OpBuilder& b) {
  const Tensor spread = with_number(b, "Mul", normal(b, b.result().shape), b.number("std"));
  bind_as_result(b, b.unary("Exp", with_number(b, "Add", spread, b.number("mean"))));
}

void randint(OpBuilder& b) {
  const double low = b.has("low") ? b.number("low") : 0;
  const double high = b.number("high");
  if (high - low > 1 << 24) return b.refuse("more integers than float32 tells apart");
  const Tensor drawn = b.unary("Floor", uniform(b, b.result().shape, low, high));
  bind_as_result(b, with_number(b, "Min", drawn, high - 1));
}

/// True with probability `p`, a number or a tensor.
Tensor coin(OpBuilder& b, const Tensor& p, const Shape& shape) {
  return b.compare("Less", uniform(b, shape), b.cast(p, DType::kFloat32));
}

void bernoulli(OpBuilder& b) {
  const Tensor p = b.has("p") ? b.operand("p", DType::kFloat32) : b.tensor("self");
  bind_as_result(b, coin(b, p, b.result().shape));
}

/// 1 - u is never zero.
Tensor positive_uniform(OpBuilder& b) { return number_with(b, "Sub", 1, uniform(b, b.result().shape)); }

void exponential(OpBuilder& b) {
  bind_as_result(b, with_number(b, "Div", b.unary("Log", positive_uniform(b)), -b.number("lambd")));
}

void cauchy(OpBuilder& b) {
  const Tensor angle = with_number(b, "Mul", uniform(b, b.result().shape, -0.5, 0.5), std::numbers::pi);
  const Tensor spread = with_number(b, "Mul", b.unary("Tan", angle), b.number("sigma"));
  bind_as_result(b, with_number(b, "Add", spread, b.number("median")));
}

void geometric(OpBuilder& b) {
  const Tensor tries = with_number(b, "Div", b.unary("Log", positive_uniform(b)), std::log1p(-b.number("p")));
  bind_as_result(b, with_number(b, "Max", b.unary("Ceil", tries), 1));
}

/// One coin for each element, or for each channel.
Tensor kept(OpBuilder& b, const Tensor& x, double p) {
  Shape shape = x.shape;
  if (b.onnx_op() == "feature") {
    for (std::size_t i = 2; i < shape.size(); ++i) shape[i] = 1;
  }
  return coin(b, b.constant(1 - p, DType::kFloat32), shape);
}

void dropout(OpBuilder& b) {
  const Tensor x = b.tensor("input");
  const double p = b.number("p");
  b.bind(b.flag("train") ? dropped(b, x, p) : x);
}

/// What is dropped takes the value to which selu saturates; mean and variance stay.
void alpha_dropout(OpBuilder& b) {
  constexpr double kAlpha = 1.7580993408473766;
  const Tensor x = b.tensor("input");
  const double p = b.number("p");
  if (!b.flag("train") || p == 0) return b.bind(x);
  if (p == 1) return b.bind(b.full(0.0, b.result()));
  const double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const Tensor alive = with_number(b, "Add", with_number(b, "Mul", x, scale), kAlpha * scale * p);
  b.bind(b.where(kept(b, x, p), alive, b.constant(kAlpha * scale * (p - 1), x.dtype)));
}

/// A slope for each negative element; the middle one when nothing is trained.
void rrelu(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const double low = b.number("lower");
  const double high = b.number("upper");
  const Tensor slope =
      b.flag("training") ? b.cast(uniform(b, x.shape, low, high), x.dtype) : b.constant((low + high) / 2, x.dtype);
  b.bind(b.where(compare_number(b, "LessOrEqual", x, 0), b.binary("Mul", x, slope), x));
}

void native_dropout_backward(OpBuilder& b) {
  const Tensor gradient = b.tensor("grad_output");
  const Tensor mask = b.operand("mask", gradient.dtype);
  b.bind(with_number(b, "Mul", b.binary("Mul", gradient, mask), b.number("scale")));
}

/// The largest of log p plus Gumbel noise is drawn with probability p; the k largest, without replacement.
void multinomial(OpBuilder& b) {
  const Tensor p = b.operand("self", DType::kFloat32);
  const std::int64_t count = b.integer("num_samples");
  const std::int64_t classes = p.size(-1);
  const bool again = b.flag("replacement") || count == 1;
  Shape shape = p.shape;
  if (again) shape.insert(shape.end() - 1, count);
  const Tensor logs = b.unary("Log", again ? b.unsqueeze(p, {-2}) : p);
  const Tensor noise = b.unary("Neg", b.unary("Log", b.unary("Neg", b.unary("Log", uniform(b, shape, 1e-7, 1)))));
  const Tensor scores = b.binary("Add", logs, noise);
  if (again) return b.bind(b.arg_reduce("ArgMax", scores, -1, false));
  if (count > classes) return b.refuse("more samples than classes");
  TensorType values{DType::kFloat32, b.result().shape};
  TensorType indices{DType::kInt64, b.result().shape};
  b.bind(b.add_many("TopK", {scores, b.ints({count})}, {values, indices}, {{"axis", std::int64_t{-1}}})[1]);
}

/// The order of as many random numbers.
void randperm(OpBuilder& b) {
  const std::int64_t count = b.integer("n");
  if (count == 0) return b.bind(b.full(0.0, b.result()));
  const TensorType values{DType::kFloat32, {count}};
  const TensorType indices{DType::kInt64, {count}};
  bind_as_result(b, b.add_many("TopK", {uniform(b, {count}), b.ints({count})}, {values, indices})[1]);
}

constexpr std::array kRandomOps = {
    EmitEntry{"aten::alpha_dropout", alpha_dropout},
    EmitEntry{"aten::bernoulli", bernoulli},
    EmitEntry{"aten::bernoulli.p", bernoulli},
    EmitEntry{"aten::cauchy", cauchy},
    EmitEntry{"aten::dropout", dropout},
    EmitEntry{"aten::exponential", exponential},
    EmitEntry{"aten::feature_alpha_dropout", alpha_dropout, "feature"},
    EmitEntry{"aten::feature_dropout", dropout, "feature"},
    EmitEntry{"aten::geometric", geometric},
    EmitEntry{"aten::log_normal", log_normal},
    EmitEntry{"aten::multinomial", multinomial},
    EmitEntry{"aten::native_dropout_backward", native_dropout_backward},
    EmitEntry{"aten::normal.Tensor_Tensor", normal_op},
    EmitEntry{"aten::normal.Tensor_float", normal_op},
    EmitEntry{"aten::normal.float_Tensor", normal_op},
    EmitEntry{"aten::normal.float_float", normal_op},
    EmitEntry{"aten::normal_functional", normal_op},
    EmitEntry{"aten::rand", rand},
    EmitEntry{"aten::rand.generator", rand},
    EmitEntry{"aten::rand_like", rand},
    EmitEntry{"aten::rand_like.generator", rand},
    EmitEntry{"aten::randint", randint},
    EmitEntry{"aten::randint.generator", randint},
    EmitEntry{"aten::randint.low", randint},
    EmitEntry{"aten::randint.low_generator", randint},
    EmitEntry{"aten::randint_like", randint},
    EmitEntry{"aten::randint_like.generator", randint},
    EmitEntry{"aten::randint_like.low_dtype", randint},
    EmitEntry{"aten::randint_like.low_generator_dtype", randint},
    EmitEntry{"aten::randn", randn},
    EmitEntry{"aten::randn.generator", randn},
    EmitEntry{"aten::randn_like", randn},
    EmitEntry{"aten::randn_like.generator", randn},
    EmitEntry{"aten::randperm", randperm},
    EmitEntry{"aten::randperm.generator", randperm},
    EmitEntry{"aten::rrelu", rrelu},
    EmitEntry{"aten::uniform", uniform_op},
};

}  // namespace

Tensor dropped(OpBuilder& b, const Tensor& x, double p) {
  if (p == 0) return x;
  if (p == 1) return b.full(0.0, x.type());
  return b.where(kept(b, x, p), with_number(b, "Div", x, 1 - p), b.constant(0.0, x.dtype));
}

EmitEntries random_ops() { return kRandomOps; }

}  // namespace leapp::onnx_ops
