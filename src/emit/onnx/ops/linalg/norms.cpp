// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Norms, distances, determinants and statistics of matrices.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/linalg/jacobi.h"

namespace leapp::onnx_ops {
namespace {

struct MatrixNorm {
  double order = 2;
  std::int64_t rows = -2;
  std::int64_t columns = -1;
  bool keepdim = false;
};

/// Norms without their two dimensions, which `keepdim` puts back.
void bind_matrix_norm(OpBuilder& b, const Tensor& value) { b.bind(b.reshape(value, b.result().shape)); }

/// The largest or smallest sum of a row (inf) or of a column (1), or singular value (2).
void matrix_norm_of(OpBuilder& b, const Tensor& x, const MatrixNorm& norm) {
  const double size = std::abs(norm.order);
  if (size == 2) return bind_matrix_norm(b, spectral_norm(b, x, {norm.rows, norm.columns, norm.order < 0, false}));
  const std::int64_t rows = wrap_dim(norm.rows, x.rank());
  const std::int64_t columns = wrap_dim(norm.columns, x.rank());
  const Tensor sums = b.reduce("ReduceL1", x, {size == 1 ? rows : columns}, true);
  Tensor found = b.reduce(norm.order > 0 ? "ReduceMax" : "ReduceMin", sums, {size == 1 ? columns : rows}, true);
  b.bind(norm.keepdim ? found : b.squeeze(found, {rows, columns}));
}

void matrix_norm(OpBuilder& b) {
  const Ints dims = b.integers("dim");
  matrix_norm_of(b, b.operand("self", b.result().dtype), {b.number("ord"), dims[0], dims[1], keepdim(b)});
}

void bind_named_norm(OpBuilder& b, const Tensor& x, const Ints& dims) {
  if (x.elements() == 0) return b.bind(b.full(0.0, b.result()));
  if (b.text("ord") == "fro") return b.bind(vector_norm(b, x, {2, dims, keepdim(b)}));
  bind_matrix_norm(b, spectral_norm(b, x, {dims[0], dims[1], false, true}));
}

void named_matrix_norm(OpBuilder& b) { bind_named_norm(b, b.operand("self", b.result().dtype), b.integers("dim")); }

void named_norm(OpBuilder& b) {
  bind_named_norm(b, b.operand("self", b.result().dtype), b.has("dim") ? b.integers("dim") : Ints{-2, -1});
}

void nuclear_norm(OpBuilder& b) {
  const Ints dims = b.has("dim") ? b.integers("dim") : Ints{-2, -1};
  const Tensor x = b.tensor("self");
  if (x.elements() == 0) return b.bind(b.full(0.0, b.result()));
  bind_matrix_norm(b, spectral_norm(b, x, {dims[0], dims[1], false, true}));
}

/// Of vectors with one dimension or none given, of matrices with an order and two dimensions.
void linalg_norm(OpBuilder& b) {
  const Tensor x = b.operand("self", b.result().dtype);
  const Ints dims = b.has("dim") ? b.integers("dim") : Ints{};
  if (x.elements() == 0) return b.bind(b.full(0.0, b.result()));
  if (!b.has("ord")) return b.bind(vector_norm(b, x, {2, dims, keepdim(b)}));
  const bool matrix = b.has("dim") ? dims.size() == 2 : x.rank() == 2;
  if (!matrix) return b.bind(vector_norm(b, x, {b.number("ord"), dims, keepdim(b)}));
  const bool given = dims.size() == 2;
  matrix_norm_of(b, x, {b.number("ord"), given ? dims[0] : -2, given ? dims[1] : -1, keepdim(b)});
}

void distance(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor apart = b.binary("Sub", b.operand("self", dtype), b.operand("other", dtype));
  if (apart.elements() == 0) return b.bind(b.full(0.0, b.result()));
  b.bind(vector_norm(b, apart, {b.number("p"), {}, false}));
}

void pairwise_distance(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor apart = b.binary("Sub", b.operand("x1", dtype), b.operand("x2", dtype));
  b.bind(vector_norm(b, with_number(b, "Add", apart, b.number("eps")), {b.number("p"), {-1}, keepdim(b)}));
}

/// Between every row of one and every row of the other.
void all_distances(OpBuilder& b) {
  const Tensor x = b.tensor("x1");
  const Tensor y = b.tensor("x2");
  if (x.size(-1) == 0) return b.bind(b.full(0.0, b.result()));
  const Tensor apart = b.binary("Sub", b.unsqueeze(x, {-2}), b.unsqueeze(y, {-3}));
  b.bind(vector_norm(b, apart, {b.number("p"), {-1}, false}));
}

/// Between every row and every later one.
void own_distances(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  Ints first;
  Ints second;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    for (std::int64_t j = i + 1; j < x.size(0); ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  if (x.size(-1) == 0) return b.bind(b.full(0.0, b.result()));
  const Tensor apart = b.binary("Sub", b.gather(x, b.ints(first), 0), b.gather(x, b.ints(second), 0));
  b.bind(vector_norm(b, apart, {b.number("p"), {-1}, false}));
}

void cosine_similarity(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const std::int64_t dim = b.integer("dim");
  const double eps = b.number("eps");
  Tensor x = b.operand("x1", dtype);
  Tensor y = b.operand("x2", dtype);
  const Shape shape = broadcast_shapes(x.shape, y.shape);
  x = b.expand(x, shape);
  y = b.expand(y, shape);
  const auto unit = [&](const Tensor& t) {
    const Tensor size = b.reduce("ReduceL2", t, {dim}, true);
    return b.binary("Div", t, with_number(b, "Max", size, eps));
  };
  b.bind(b.reduce("ReduceSum", b.binary("Mul", unit(x), unit(y)), {dim}, false));
}

/// Slices along `dim` that are longer than maxnorm are scaled down to it.
void renorm(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  Ints others = iota(x.rank());
  others.erase(others.begin() + dim);
  const double limit = b.number("maxnorm");
  const Tensor size = vector_norm(b, x, {b.number("p"), others, true});
  const Tensor factor = number_with(b, "Div", limit, with_number(b, "Add", size, 1e-7));
  const Tensor scale = b.where(compare_number(b, "Greater", size, limit), factor, b.constant(1.0, x.dtype));
  b.bind(b.binary("Mul", x, scale));
}

Tensor determinant(OpBuilder& b, const Tensor& x) {
  if (x.size(-1) == 0) return b.full(1.0, {x.dtype, Shape(x.shape.begin(), x.shape.end() - 2)});
  return b.add("Det", {x}, {x.dtype, Shape(x.shape.begin(), x.shape.end() - 2)});
}

void det(OpBuilder& b) { b.bind(determinant(b, b.tensor(b.has("A") ? "A" : "self"))); }

/// Beyond this size a float32 determinant over- or underflows where its logarithm does not.
bool small_enough(OpBuilder& b, const Tensor& x) {
  constexpr std::int64_t kLargest = 8;
  if (x.size(-1) > kLargest) b.refuse("logarithms of determinants above 8 x 8 have no ONNX form");
  return x.size(-1) <= kLargest;
}

void log_det(OpBuilder& b) {
  const Tensor x = b.tensor(b.has("A") ? "A" : "self");
  if (small_enough(b, x)) b.bind(b.unary("Log", determinant(b, x)));
}

void sign_log_det(OpBuilder& b) {
  const Tensor x = b.tensor(b.has("A") ? "A" : "self");
  if (!small_enough(b, x)) return;
  const Tensor value = determinant(b, x);
  b.bind(0, b.unary("Sign", value));
  b.bind(1, b.unary("Log", b.unary("Abs", value)));
}

/// Rows are variables, columns are observations.
Tensor covariance(OpBuilder& b, const Tensor& x, double correction) {
  const Tensor centred = b.binary("Sub", x, b.reduce("ReduceMean", x, {1}, true));
  const Tensor products = b.matmul(centred, b.transpose(centred, {1, 0}));
  return with_number(b, "Div", products, std::max(0.0, static_cast<double>(x.size(1)) - correction));
}

/// Each observation counts `fweights` times and matters `aweights` as much.
Tensor weighted_covariance(OpBuilder& b, const Tensor& x, double correction) {
  const Tensor times = b.has("fweights") ? b.operand("fweights", x.dtype) : Tensor{};
  const Tensor matter = b.has("aweights") ? b.operand("aweights", x.dtype) : Tensor{};
  const bool both = times.present() && matter.present();
  const Tensor weight = both ? b.binary("Mul", times, matter) : times.present() ? times : matter;
  const auto sum = [&](const Tensor& t) { return b.reduce("ReduceSum", t, {}, false); };
  const Tensor total = sum(weight);
  const Tensor mean = b.binary("Div", b.reduce("ReduceSum", b.binary("Mul", x, weight), {1}, true), total);
  const Tensor centred = b.binary("Sub", x, mean);
  const Tensor products = b.matmul(b.binary("Mul", centred, weight), b.transpose(centred, {1, 0}));
  Tensor less = b.constant(correction, x.dtype);
  if (matter.present()) less = b.binary("Mul", less, b.binary("Div", sum(b.binary("Mul", weight, matter)), total));
  return b.binary("Div", products, b.unary("Relu", b.binary("Sub", total, less)));
}

void cov(OpBuilder& b) {
  Tensor x = b.operand("self", b.result().dtype);
  if (x.elements() == 0) return b.bind(b.full(std::numeric_limits<double>::quiet_NaN(), b.result()));
  if (x.rank() < 2) x = b.reshape(x, {1, x.elements()});
  const bool weights = b.has("fweights") || b.has("aweights");
  const double correction = b.number("correction");
  const Tensor found = weights ? weighted_covariance(b, x, correction) : covariance(b, x, correction);
  b.bind(b.reshape(found, b.result().shape));
}

void corrcoef(OpBuilder& b) {
  Tensor x = b.operand("self", b.result().dtype);
  if (x.elements() == 0) return b.bind(b.full(std::numeric_limits<double>::quiet_NaN(), b.result()));
  if (x.rank() < 2) x = b.reshape(x, {1, x.elements()});
  const Tensor c = covariance(b, x, 1);
  if (b.result().shape.empty()) return b.bind(b.reshape(b.binary("Div", c, c), {}));
  const Tensor deviation = b.unary("Sqrt", take_diagonal(b, c, {}));
  const Tensor ratio = b.binary("Div", b.binary("Div", c, b.unsqueeze(deviation, {1})), b.unsqueeze(deviation, {0}));
  b.bind(b.clip(ratio, b.constant(-1.0, x.dtype), b.constant(1.0, x.dtype)));
}

void vander(OpBuilder& b) {
  const Tensor x = b.operand("x", b.result().dtype);
  const std::int64_t count = b.result().shape.back();
  Tensors powers = {b.full(std::int64_t{1}, x.type())};
  while (std::ssize(powers) < count) powers.push_back(b.binary("Mul", powers.back(), x));
  for (Tensor& power : powers) power = b.unsqueeze(power, {-1});
  b.bind(b.reshape(b.concat(powers, -1), b.result().shape));
}

constexpr std::array kNormOps = {
    EmitEntry{"aten::_cdist_forward", all_distances},
    EmitEntry{"aten::cdist", all_distances},
    EmitEntry{"aten::corrcoef", corrcoef},
    EmitEntry{"aten::cosine_similarity", cosine_similarity},
    EmitEntry{"aten::cov", cov},
    EmitEntry{"aten::det", det},
    EmitEntry{"aten::dist", distance},
    EmitEntry{"aten::linalg_det", det},
    EmitEntry{"aten::linalg_matrix_norm", matrix_norm},
    EmitEntry{"aten::linalg_matrix_norm.str_ord", named_matrix_norm},
    EmitEntry{"aten::linalg_norm", linalg_norm},
    EmitEntry{"aten::linalg_norm.ord_str", named_norm},
    EmitEntry{"aten::linalg_slogdet", sign_log_det},
    EmitEntry{"aten::linalg_vander", vander},
    EmitEntry{"aten::logdet", log_det},
    EmitEntry{"aten::nuclear_norm", nuclear_norm},
    EmitEntry{"aten::nuclear_norm.dim", nuclear_norm},
    EmitEntry{"aten::pairwise_distance", pairwise_distance},
    EmitEntry{"aten::pdist", own_distances},
    EmitEntry{"aten::renorm", renorm},
    EmitEntry{"aten::slogdet", sign_log_det},
};

}  // namespace

EmitEntries norm_ops() { return kNormOps; }

}  // namespace leapp::onnx_ops
