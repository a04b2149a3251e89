// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// The dimensions to reduce; empty for all.
Ints dims(OpBuilder& b) { return b.has("dim") ? b.integers("dim") : Ints{}; }

double reduced_count(OpBuilder& b, const Tensor& x) {
  double count = 1;
  for (const std::int64_t dim : wrap_dims(dims(b), x.rank())) count *= static_cast<double>(x.size(dim));
  return count;
}

/// sum, mean, prod. Of nothing: what torch says.
void reduce(OpBuilder& b) {
  const Tensor x = input(b);
  const std::string op = b.onnx_op();
  if (x.elements() == 0) {
    const double nothing = op == "ReduceMean" ? kNaN : op == "ReduceProd" ? 1.0 : 0.0;
    return b.bind(b.full(nothing, b.result()));
  }
  b.bind(b.reduce(op, x, dims(b), keepdim(b)));
}

void sum_to_size(OpBuilder& b) {
  const Tensor x = input(b);
  const Shape& shape = b.result().shape;
  const std::int64_t extra = x.rank() - std::ssize(shape);
  Ints axes = iota(extra);
  for (std::int64_t i = extra; i < x.rank(); ++i) {
    if (shape[static_cast<std::size_t>(i - extra)] == 1 && x.size(i) != 1) axes.push_back(i);
  }
  b.bind(axes.empty() ? x : b.reshape(b.reduce("ReduceSum", x, axes, true), shape));
}

/// amax, amin, max, min without a dimension.
void extreme(OpBuilder& b) { b.bind(b.reduce(b.onnx_op(), input(b), dims(b), keepdim(b))); }

void both_extremes(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  b.bind(0, b.reduce("ReduceMin", x, dims(b), keepdim(b)));
  b.bind(1, b.reduce("ReduceMax", x, dims(b), keepdim(b)));
}

/// Kernels of ArgMax and ArgMin order NaN by chance; torch takes the first one.
Tensor arg_extreme(OpBuilder& b, const std::string& op, const Tensor& x, std::int64_t dim, bool keep) {
  const Tensor wide = x.dtype == DType::kBool ? b.cast(x, DType::kUInt8) : x;
  const Tensor plain = b.arg_reduce(op, wide, dim, keep);
  if (!is_floating(x.dtype)) return plain;
  const Tensor nan = b.cast(is_nan(b, x), DType::kInt32);
  const Tensor first = b.arg_reduce("ArgMax", nan, dim, keep);
  const Tensor any = compare_number(b, "Greater", b.reduce("ReduceMax", nan, {dim}, keep), 0);
  return b.where(any, first, plain);
}

/// max.dim, min.dim: values and where they stand.
void extreme_with_index(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const bool maximum = b.onnx_op() == "ReduceMax";
  const std::int64_t dim = b.integer("dim");
  b.bind(0, b.reduce(b.onnx_op(), x, {dim}, keepdim(b)));
  b.bind(1, arg_extreme(b, maximum ? "ArgMax" : "ArgMin", x, dim, keepdim(b)));
}

void arg_extreme_op(OpBuilder& b) {
  Tensor x = b.tensor("self");
  if (b.has("dim")) return b.bind(arg_extreme(b, b.onnx_op(), x, b.integer("dim"), keepdim(b)));
  x = b.reshape(x, {x.elements()});
  b.bind(b.reshape(arg_extreme(b, b.onnx_op(), x, 0, false), b.result().shape));
}

/// all, any: the smallest, or largest, of the truth values.
void truth(OpBuilder& b) {
  const Tensor x = b.operand("self", DType::kBool);
  if (x.elements() == 0) return b.bind(b.full(b.onnx_op() == "ReduceMin", b.result()));
  const Tensor bytes = b.cast(x, DType::kUInt8);
  const Tensor found = b.reduce(b.onnx_op(), bytes, dims(b), keepdim(b));
  b.bind(b.cast(b.cast(found, DType::kBool), b.result().dtype));
}

void count_nonzero(OpBuilder& b) {
  const Tensor x = b.cast(b.operand("self", DType::kBool), DType::kInt64);
  if (x.elements() == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
  b.bind(b.reduce("ReduceSum", x, dims(b), false));
}

void nan_sum(OpBuilder& b) {
  const Tensor x = input(b);
  if (x.elements() == 0) return b.bind(b.full(0.0, b.result()));
  const Tensor kept = is_floating(x.dtype) ? b.where(is_nan(b, x), b.constant(0.0, x.dtype), x) : x;
  b.bind(b.reduce("ReduceSum", kept, dims(b), keepdim(b)));
}

void nan_mean(OpBuilder& b) {
  const Tensor x = input(b);
  if (x.elements() == 0) return b.bind(b.full(kNaN, b.result()));
  const Tensor nan = is_nan(b, x);
  const Tensor total = b.reduce("ReduceSum", b.where(nan, b.constant(0.0, x.dtype), x), dims(b), keepdim(b));
  const Tensor count = b.reduce("ReduceSum", b.cast(b.logical_not(nan), x.dtype), dims(b), keepdim(b));
  b.bind(b.binary("Div", total, count));
}

double correction(OpBuilder& b) {
  if (b.has("unbiased")) return b.flag("unbiased") ? 1 : 0;
  return b.has("correction") ? b.number("correction") : 1;
}

Tensor variance(OpBuilder& b, const Tensor& x) {
  const Tensor centred = b.binary("Sub", x, b.reduce("ReduceMean", x, dims(b), x.rank() > 0));
  const Tensor squares = b.reduce("ReduceSum", b.binary("Mul", centred, centred), dims(b), keepdim(b));
  return with_number(b, "Div", squares, std::max(0.0, reduced_count(b, x) - correction(b)));
}

/// var, std; with a second result also the mean.
void spread(OpBuilder& b) {
  const Tensor x = input(b);
  if (x.elements() == 0) {
    for (std::size_t i = 0; i < b.result_count(); ++i) b.bind(i, b.full(kNaN, b.result(i)));
    return;
  }
  // Half would lose the sum of squares.
  const Tensor wide = is_half(x.dtype) ? b.cast(x, DType::kFloat32) : x;
  Tensor found = variance(b, wide);
  if (b.onnx_op() == "std") found = b.unary("Sqrt", found);
  b.bind(0, b.cast(found, x.dtype));
  if (b.result_count() > 1) b.bind(1, b.reduce("ReduceMean", x, dims(b), keepdim(b)));
}

void log_sum_exp(OpBuilder& b) {
  const Tensor x = input(b);
  if (x.elements() == 0) return b.bind(b.full(-std::numeric_limits<double>::infinity(), b.result()));
  b.bind(b.reduce("ReduceLogSumExp", x, dims(b), keepdim(b)));
}

/// linalg_vector_norm and torch.norm with an order.
void norm(OpBuilder& b) {
  const Tensor x = input(b);
  const char* order = b.has("ord") ? "ord" : "p";
  const double p = b.has(order) ? b.number(order) : 2;
  if (x.elements() == 0) return b.bind(b.full(0.0, b.result()));
  b.bind(vector_norm(b, x, {p, dims(b), keepdim(b)}));
}

constexpr std::array kReductionOps = {
    EmitEntry{"aten::all", truth, "ReduceMin"},
    EmitEntry{"aten::all.dim", truth, "ReduceMin"},
    EmitEntry{"aten::all.dims", truth, "ReduceMin"},
    EmitEntry{"aten::amax", extreme, "ReduceMax"},
    EmitEntry{"aten::amin", extreme, "ReduceMin"},
    EmitEntry{"aten::aminmax", both_extremes},
    EmitEntry{"aten::any", truth, "ReduceMax"},
    EmitEntry{"aten::any.dim", truth, "ReduceMax"},
    EmitEntry{"aten::any.dims", truth, "ReduceMax"},
    EmitEntry{"aten::argmax", arg_extreme_op, "ArgMax"},
    EmitEntry{"aten::argmin", arg_extreme_op, "ArgMin"},
    EmitEntry{"aten::count_nonzero", count_nonzero},
    EmitEntry{"aten::count_nonzero.dim_IntList", count_nonzero},
    EmitEntry{"aten::linalg_vector_norm", norm},
    EmitEntry{"aten::logsumexp", log_sum_exp},
    EmitEntry{"aten::special_logsumexp", log_sum_exp},
    EmitEntry{"aten::max", extreme, "ReduceMax"},
    EmitEntry{"aten::max.dim", extreme_with_index, "ReduceMax"},
    EmitEntry{"aten::mean", reduce, "ReduceMean"},
    EmitEntry{"aten::mean.dim", reduce, "ReduceMean"},
    EmitEntry{"aten::min", extreme, "ReduceMin"},
    EmitEntry{"aten::min.dim", extreme_with_index, "ReduceMin"},
    EmitEntry{"aten::nanmean", nan_mean},
    EmitEntry{"aten::nansum", nan_sum},
    EmitEntry{"aten::norm.Scalar", norm},
    EmitEntry{"aten::norm.ScalarOpt_dim", norm},
    EmitEntry{"aten::norm.ScalarOpt_dim_dtype", norm},
    EmitEntry{"aten::norm.ScalarOpt_dtype", norm},
    EmitEntry{"aten::prod", reduce, "ReduceProd"},
    EmitEntry{"aten::prod.dim_int", reduce, "ReduceProd"},
    EmitEntry{"aten::std", spread, "std"},
    EmitEntry{"aten::std.correction", spread, "std"},
    EmitEntry{"aten::std.dim", spread, "std"},
    EmitEntry{"aten::std_mean", spread, "std"},
    EmitEntry{"aten::std_mean.correction", spread, "std"},
    EmitEntry{"aten::std_mean.dim", spread, "std"},
    EmitEntry{"aten::sum", reduce, "ReduceSum"},
    EmitEntry{"aten::sum.dim_IntList", reduce, "ReduceSum"},
    EmitEntry{"aten::sum_to_size", sum_to_size},
    EmitEntry{"aten::var", spread, "var"},
    EmitEntry{"aten::var.correction", spread, "var"},
    EmitEntry{"aten::var.dim", spread, "var"},
    EmitEntry{"aten::var_mean", spread, "var"},
    EmitEntry{"aten::var_mean.correction", spread, "var"},
    EmitEntry{"aten::var_mean.dim", spread, "var"},
};

}  // namespace

EmitEntries reduction_ops() { return kReductionOps; }

}  // namespace leapp::onnx_ops
