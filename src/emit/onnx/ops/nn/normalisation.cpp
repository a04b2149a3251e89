// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/nn/normalisation.h"

#include <array>
#include <cmath>
#include <limits>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// (x - mean) / sqrt(variance + eps) over some dimensions, and what it was made from. Dimensions are kept.
struct Standardised {
  Tensor value;
  Tensor mean;
  Tensor variance;
  Tensor inverse_deviation;
};

Tensor inverse_root(OpBuilder& b, const Tensor& variance, double eps) {
  return b.unary("Reciprocal", b.unary("Sqrt", with_number(b, "Add", variance, eps)));
}

Standardised standardise(OpBuilder& b, const Tensor& x, const Ints& dims, double eps) {
  Standardised made;
  made.mean = b.reduce("ReduceMean", x, dims, true);
  const Tensor centred = b.binary("Sub", x, made.mean);
  made.variance = b.reduce("ReduceMean", b.binary("Mul", centred, centred), dims, true);
  made.inverse_deviation = inverse_root(b, made.variance, eps);
  made.value = b.binary("Mul", centred, made.inverse_deviation);
  return made;
}

/// value * weight + bias; either may be absent. They broadcast against `value` as they are.
Tensor scale_and_shift(OpBuilder& b, Tensor value, const Tensor& weight, const Tensor& bias) {
  if (weight.present()) value = b.binary("Mul", value, weight);
  if (bias.present()) value = b.binary("Add", value, bias);
  return value;
}

Tensor optional_as(OpBuilder& b, std::string_view name, DType dtype) {
  return b.has(name) ? b.operand(name, dtype) : Tensor{};
}

Tensor or_full(OpBuilder& b, const Tensor& value, double number, TensorType type) {
  return value.present() ? value : b.full(number, std::move(type));
}

/// [C] as [C, 1, 1...], which broadcasts along dimension 1 of a tensor of that rank.
Tensor per_channel(OpBuilder& b, const Tensor& value, std::int64_t rank) {
  if (!value.present() || rank <= 2) return value;
  Shape shape(static_cast<std::size_t>(rank - 1), 1);
  shape[0] = value.elements();
  return b.reshape(value, shape);
}

Ints last_dims(std::int64_t rank, std::int64_t count) {
  Ints dims;
  for (std::int64_t i = rank - count; i < rank; ++i) dims.push_back(i);
  return dims;
}

/// What the graph uses of result `index`; results that torch leaves empty are bound empty.
bool wanted(OpBuilder& b, std::size_t index) {
  if (index >= b.result_count() || b.node().result(index)->unused()) return false;
  if (graph::element_count(b.result(index).shape) != 0) return true;
  b.bind(index, b.constant(std::vector<Scalar>{}, b.result(index)));
  return false;
}

void bind_as_result(OpBuilder& b, std::size_t index, const Tensor& value) {
  if (!wanted(b, index)) return;
  b.bind(index, b.cast(b.reshape(value, b.result(index).shape), b.result(index).dtype));
}

// ---- layer norm ----

LayerNormOptions layer_norm_arguments(OpBuilder& b, DType dtype) {
  return {std::ssize(b.integers("normalized_shape")), optional_as(b, "weight", dtype), optional_as(b, "bias", dtype),
          b.number("eps")};
}

void layer_norm_op(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const Tensor x = b.operand("input", dtype);
  b.bind(b.cast(layer_norm(b, x, layer_norm_arguments(b, dtype)), b.result().dtype));
}

void native_layer_norm(OpBuilder& b) {
  if (!wanted(b, 1) && !wanted(b, 2)) return layer_norm_op(b);
  const DType dtype = statistics_dtype(b.result().dtype);
  const Tensor x = b.operand("input", dtype);
  const LayerNormOptions options = layer_norm_arguments(b, dtype);
  const Standardised made = standardise(b, x, last_dims(x.rank(), options.dims), options.eps);
  bind_as_result(b, 0, scale_and_shift(b, made.value, options.weight, options.bias));
  bind_as_result(b, 1, made.mean);
  bind_as_result(b, 2, made.inverse_deviation);
}

/// torch's `eps` of None: the dtype's own.
double eps_or_default(OpBuilder& b, DType dtype) {
  if (b.has("eps")) return b.number("eps");
  if (dtype == DType::kFloat64) return std::numeric_limits<double>::epsilon();
  return std::numeric_limits<float>::epsilon();
}

void rms_norm(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const Tensor x = b.operand("input", dtype);
  const Ints dims = last_dims(x.rank(), std::ssize(b.integers("normalized_shape")));
  const Tensor power = b.reduce("ReduceMean", b.binary("Mul", x, x), dims, true);
  const Tensor inverse = inverse_root(b, power, eps_or_default(b, dtype));
  const Tensor value = b.binary("Mul", x, inverse);
  bind_as_result(b, 0, scale_and_shift(b, value, optional_as(b, "weight", dtype), {}));
  bind_as_result(b, 1, inverse);
}

// ---- group norm ----

struct GroupNormOptions {
  std::int64_t groups = 1;
  Tensor weight;
  Tensor bias;
  double eps = 0;
};

/// Groups as the channels of InstanceNormalization: its kernel is there in every opset.
Tensor group_norm(OpBuilder& b, const Tensor& x, const GroupNormOptions& options) {
  const std::int64_t batch = x.size(0);
  const Tensor grouped = b.reshape(x, {batch, options.groups, x.elements() / (batch * options.groups)});
  Tensor value;
  if (x.dtype == DType::kFloat64) {
    value = standardise(b, grouped, {2}, options.eps).value;
  } else {
    const TensorType type{x.dtype, {options.groups}};
    value = b.add("InstanceNormalization", {grouped, b.full(1.0, type), b.full(0.0, type)}, grouped.type(),
                  {{"epsilon", static_cast<float>(options.eps)}});
  }
  value = b.reshape(value, x.shape);
  return scale_and_shift(b, value, per_channel(b, options.weight, x.rank()), per_channel(b, options.bias, x.rank()));
}

void group_norm_op(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const GroupNormOptions options{b.integer("num_groups"), optional_as(b, "weight", dtype),
                                 optional_as(b, "bias", dtype), b.number("eps")};
  b.bind(b.cast(group_norm(b, b.operand("input", dtype), options), b.result().dtype));
}

void native_group_norm(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const Tensor x = b.operand("input", dtype);
  const GroupNormOptions options{b.integer("group"), optional_as(b, "weight", dtype), optional_as(b, "bias", dtype),
                                 b.number("eps")};
  bind_as_result(b, 0, group_norm(b, x, options));
  if (!wanted(b, 1) && !wanted(b, 2)) return;
  const std::int64_t batch = x.size(0);
  const Tensor grouped = b.reshape(x, {batch, options.groups, x.elements() / (batch * options.groups)});
  const Standardised made = standardise(b, grouped, {2}, options.eps);
  bind_as_result(b, 1, made.mean);
  bind_as_result(b, 2, made.inverse_deviation);
}

// ---- batch norm ----

struct BatchNormArguments {
  Tensor x;
  Tensor weight;
  Tensor bias;
  Tensor mean;
  Tensor variance;
  double eps = 0;
};

BatchNormArguments batch_norm_arguments(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  return {b.operand("input", dtype),
          optional_as(b, "weight", dtype),
          optional_as(b, "bias", dtype),
          optional_as(b, "running_mean", dtype),
          optional_as(b, "running_var", dtype),
          b.number("eps")};
}

/// ONNX Runtime moves a BatchNormalization into the MatMul before it, also past what moved the channels.
bool is_moved_product(const OpBuilder& b, const Tensor& x) {
  if (b.producer(x) == "MatMul") return false;
  return b.producer(b.behind(x, {"Transpose", "Reshape", "Identity", "Expand", "Slice", "Cast"})) == "MatMul";
}

/// With the statistics given.
Tensor batch_norm_given(OpBuilder& b, const BatchNormArguments& a) {
  const TensorType type{a.x.dtype, {a.x.size(1)}};
  if (a.x.dtype == DType::kFloat32 && !is_moved_product(b, a.x)) {
    const Tensor weight = or_full(b, a.weight, 1.0, type);
    const Tensor bias = or_full(b, a.bias, 0.0, type);
    return b.add("BatchNormalization", {a.x, weight, bias, a.mean, a.variance}, a.x.type(),
                 {{"epsilon", static_cast<float>(a.eps)}});
  }
  const std::int64_t rank = a.x.rank();
  const Tensor centred = b.binary("Sub", a.x, per_channel(b, a.mean, rank));
  const Tensor inverse = per_channel(b, inverse_root(b, a.variance, a.eps), rank);
  return scale_and_shift(b, b.binary("Mul", centred, inverse), per_channel(b, a.weight, rank),
                         per_channel(b, a.bias, rank));
}

/// (1 - momentum) * old + momentum * fresh
Tensor moving(OpBuilder& b, const Tensor& old, const Tensor& fresh, double momentum) {
  const Tensor kept = with_number(b, "Mul", old, 1 - momentum);
  return b.binary("Add", kept, with_number(b, "Mul", b.reshape(fresh, old.shape), momentum));
}

/// Which results hold the batch's and the running statistics.
struct BatchNormResults {
  std::size_t saved = 1;
  std::size_t running = 3;
};

/// With the statistics of the batch itself.
void batch_norm_training(OpBuilder& b, const BatchNormArguments& a, const BatchNormResults& results) {
  Ints dims = {0};
  for (std::int64_t i = 2; i < a.x.rank(); ++i) dims.push_back(i);
  const Standardised made = standardise(b, a.x, dims, a.eps);
  const std::int64_t rank = a.x.rank();
  bind_as_result(b, 0, scale_and_shift(b, made.value, per_channel(b, a.weight, rank), per_channel(b, a.bias, rank)));
  bind_as_result(b, results.saved, made.mean);
  bind_as_result(b, results.saved + 1, made.inverse_deviation);
  if (!a.mean.present() || results.running + 1 >= b.result_count()) return;
  const double momentum = b.number("momentum");
  const auto of_a_channel = a.x.elements() / a.x.size(1);
  const auto count = static_cast<double>(of_a_channel);
  bind_as_result(b, results.running, moving(b, a.mean, made.mean, momentum));
  const Tensor unbiased = with_number(b, "Mul", made.variance, count / (count - 1));
  bind_as_result(b, results.running + 1, moving(b, a.variance, unbiased, momentum));
}

void batch_norm(OpBuilder& b) {
  const BatchNormArguments a = batch_norm_arguments(b);
  if (b.flag("training") || !a.mean.present()) return batch_norm_training(b, a, {});
  bind_as_result(b, 0, batch_norm_given(b, a));
  wanted(b, 1);
  wanted(b, 2);
  bind_as_result(b, 3, a.mean);
  bind_as_result(b, 4, a.variance);
}

void batch_norm_with_update(OpBuilder& b) {
  batch_norm_training(b, batch_norm_arguments(b), {.saved = 1, .running = 4});
  wanted(b, 3);
}

void batch_norm_no_training(OpBuilder& b) {
  const BatchNormArguments a = batch_norm_arguments(b);
  if (!a.mean.present()) return batch_norm_training(b, a, {});
  bind_as_result(b, 0, batch_norm_given(b, a));
  for (std::size_t i = 1; i < b.result_count(); ++i) {
    if (wanted(b, i)) b.refuse("the statistics of a normalisation that computes none are not expressed");
  }
}

// ---- instance norm ----

void instance_norm(OpBuilder& b) {
  const BatchNormArguments a = batch_norm_arguments(b);
  if (!b.flag("use_input_stats") && a.mean.present()) return bind_as_result(b, 0, batch_norm_given(b, a));
  if (a.x.dtype != DType::kFloat32) {
    const std::int64_t rank = a.x.rank();
    const Tensor value = standardise(b, a.x, last_dims(rank, rank - 2), a.eps).value;
    return bind_as_result(b, 0,
                          scale_and_shift(b, value, per_channel(b, a.weight, rank), per_channel(b, a.bias, rank)));
  }
  const TensorType type{a.x.dtype, {a.x.size(1)}};
  const Tensors inputs = {a.x, or_full(b, a.weight, 1.0, type), or_full(b, a.bias, 0.0, type)};
  bind_as_result(b, 0, b.add("InstanceNormalization", inputs, a.x.type(), {{"epsilon", static_cast<float>(a.eps)}}));
}

// ---- weight norm ----

/// v * g / |v|, the norm over all dimensions but `dim`.
void weight_norm(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const Tensor v = b.operand("v", dtype);
  const std::int64_t dim = b.integer("dim");
  Ints dims;
  for (std::int64_t i = 0; i < v.rank(); ++i) {
    if (dim == -1 || i != wrap_dim(dim, v.rank())) dims.push_back(i);
  }
  const Tensor norm = dims.empty() ? b.unary("Abs", v) : b.reduce("ReduceL2", v, dims, true);
  const Tensor value = b.binary("Mul", v, b.binary("Div", b.operand("g", dtype), norm));
  bind_as_result(b, 0, b.reshape(value, b.result().shape));
  bind_as_result(b, 1, norm);
}

constexpr std::array kNormalisationOps = {
    EmitEntry{"aten::_batch_norm_no_update", batch_norm_no_training},
    EmitEntry{"aten::_batch_norm_with_update_functional", batch_norm_with_update},
    EmitEntry{"aten::_fused_rms_norm", rms_norm},
    EmitEntry{"aten::_native_batch_norm_legit", batch_norm},
    EmitEntry{"aten::_native_batch_norm_legit.no_stats", batch_norm},
    EmitEntry{"aten::_native_batch_norm_legit_functional", batch_norm},
    EmitEntry{"aten::_native_batch_norm_legit_no_training", batch_norm_no_training},
    EmitEntry{"aten::_weight_norm", weight_norm},
    EmitEntry{"aten::_weight_norm_interface", weight_norm},
    EmitEntry{"aten::batch_norm", batch_norm},
    EmitEntry{"aten::group_norm", group_norm_op},
    EmitEntry{"aten::instance_norm", instance_norm},
    EmitEntry{"aten::layer_norm", layer_norm_op},
    EmitEntry{"aten::native_batch_norm", batch_norm},
    EmitEntry{"aten::native_group_norm", native_group_norm},
    EmitEntry{"aten::native_layer_norm", native_layer_norm},
    EmitEntry{"aten::rms_norm", rms_norm},
};

}  // namespace

DType statistics_dtype(DType dtype) { return is_half(dtype) ? DType::kFloat32 : dtype; }

Tensor layer_norm(OpBuilder& b, const Tensor& x, const LayerNormOptions& options) {
  const Ints dims = last_dims(x.rank(), options.dims);
  if (b.opset() < 17 || x.dtype != DType::kFloat32) {
    return scale_and_shift(b, standardise(b, x, dims, options.eps).value, options.weight, options.bias);
  }
  const Shape shape(x.shape.end() - options.dims, x.shape.end());
  Tensors inputs = {x, or_full(b, options.weight, 1.0, {x.dtype, shape})};
  if (options.bias.present()) inputs.push_back(options.bias);
  return b.add("LayerNormalization", inputs, x.type(),
               {{"axis", -options.dims}, {"epsilon", static_cast<float>(options.eps)}});
}

EmitEntries normalisation_ops() { return kNormalisationOps; }

}  // namespace leapp::onnx_ops
