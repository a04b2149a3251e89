// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What singular values and eigenvalues give: norms, ranks, condition numbers, pseudo-inverses; and the exponential.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/linalg/jacobi.h"
#include "emit/onnx/ops/linalg/matrices.h"
#include "emit/onnx/ops/pointwise/signs_cancel.h"

namespace leapp::onnx_ops {
namespace {

constexpr const char* kSigns =
    "the signs of singular vectors and eigenvectors are every solver's own choice, and here they reach an output; "
    "give out what does not depend on them (U @ Vh, V @ D @ V.T, values)";

void eigenvalues(OpBuilder& b) {
  const Tensor a = b.tensor(b.has("A") ? "A" : "self");
  const Tensor whole = symmetric_from(b, a, b.text("UPLO") == "U");
  if (!is_used(b, 1)) return b.bind(0, b.cast(symmetric_eigenvalues(b, whole), b.result().dtype));
  if (!signs_cancel(b.node(), {1})) return b.refuse(kSigns);
  const Eigenvectors found = symmetric_eigenvectors(b, whole);
  b.bind(0, b.cast(found.values, b.result(0).dtype));
  b.bind(1, b.cast(found.vectors, b.result(1).dtype));
}

void svdvals(OpBuilder& b) { b.bind(b.cast(singular_values(b, b.tensor("A")), b.result().dtype)); }

/// U, S and V, which newer operators give as its transpose.
void svd(OpBuilder& b) {
  const bool old = !b.has("A");
  const Tensor a = b.tensor(old ? "self" : "A");
  const DType dtype = b.result(1).dtype;
  if (!is_used(b, 0) && !is_used(b, 2)) return b.bind(1, b.cast(singular_values(b, a), dtype));
  if (b.has("compute_uv") && !b.flag("compute_uv")) return b.refuse("vectors that were not computed");
  if (!signs_cancel(b.node(), {0, 2})) return b.refuse(kSigns);
  const SingularVectors found = singular_vectors(b, a, old ? !b.flag("some") : b.flag("full_matrices"));
  b.bind(0, b.cast(found.u, dtype));
  b.bind(1, b.cast(found.values, dtype));
  b.bind(2, b.cast(old ? found.v : transposed(b, found.v), dtype));
}

/// A tolerance that is None, a number, or a tensor with an element for each matrix; float64[..., 1, 1].
Tensor tolerance(OpBuilder& b, std::string_view name, double otherwise) {
  if (!b.has(name)) return b.constant(otherwise, kWork);
  if (b.is_number(name)) return b.constant(b.number(name), kWork);
  return b.unsqueeze(b.cast(b.tensor(name), kWork), {-2, -1});
}

struct Tolerances {
  Tensor atol;
  Tensor rtol;
};

/// As torch: the relative one defaults to epsilon times the longer side, or to nothing if an absolute one is given.
Tolerances tolerances(OpBuilder& b, const Tensor& a) {
  const double epsilon = a.dtype == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                                                    : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double usual = epsilon * static_cast<double>(std::max(a.size(-2), a.size(-1)));
  if (b.has("tol")) return {tolerance(b, "tol", 0), b.constant(0.0, kWork)};
  if (b.has("rcond")) return {b.constant(0.0, kWork), tolerance(b, "rcond", 0)};
  const Tensor atol = tolerance(b, "atol", 0);
  if (b.has("rtol") || !b.has("atol")) return {atol, tolerance(b, "rtol", usual)};
  const Tensor given = compare_number(b, "Greater", atol, 0);
  return {atol, b.where(given, b.constant(0.0, kWork), b.constant(usual, kWork))};
}

Tensor maybe_symmetric(OpBuilder& b, const Tensor& a) {
  return b.has("hermitian") && b.flag("hermitian") ? symmetric_from(b, a, false) : a;
}

void matrix_rank(OpBuilder& b) {
  const Tensor a = b.tensor(b.has("input") ? "input" : "self");
  if (a.elements() == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
  const Tensor values = b.unsqueeze(singular_values(b, maybe_symmetric(b, a)), {-2});
  const auto [atol, rtol] = tolerances(b, a);
  const Tensor limit = b.binary("Max", atol, b.binary("Mul", rtol, b.slice(values, -1, 0, 1)));
  const Tensor counts = b.cast(b.compare("Greater", values, limit), DType::kInt64);
  b.bind(b.reduce("ReduceSum", counts, {-2, -1}, false));
}

void pinv(OpBuilder& b) {
  const Tensor a = b.tensor("self");
  const auto [atol, rtol] = tolerances(b, a);
  b.bind(b.cast(pseudo_inverse(b, maybe_symmetric(b, a), atol, rtol).inverse, b.result().dtype));
}

/// Least squares of least length, whatever the driver; residuals only where torch gives them.
void lstsq(OpBuilder& b) {
  const Tensor a = b.cast(b.tensor("self"), kWork);
  Tensor right = b.cast(b.tensor("b"), kWork);
  const bool vector =
      right.rank() == 1 || (right.rank() + 1 == a.rank() && right.shape == Shape(a.shape.begin(), a.shape.end() - 1));
  if (vector) right = b.unsqueeze(right, {-1});
  const auto [atol, rtol] = tolerances(b, b.tensor("self"));
  const PseudoInverse inverse = pseudo_inverse(b, a, atol, rtol);
  const Tensor x = b.matmul(inverse.inverse, right);
  const auto bind = [&](std::size_t index, const Tensor& value) {
    const TensorType& type = b.result(index);
    const bool empty = graph::element_count(type.shape) == 0;
    b.bind(index, empty ? b.full(0.0, type) : b.reshape(b.cast(value, type.dtype), type.shape));
  };
  bind(0, x);
  const Tensor apart = b.binary("Sub", b.matmul(a, x), right);
  bind(1, b.reduce("ReduceSumSquare", apart, {-2}, false));
  bind(2, inverse.rank);
  bind(3, inverse.values);
}

/// The rows and columns of torch's `dim` as the last two dimensions.
Tensor matrices_along(OpBuilder& b, const Tensor& x, const Ints& dims) {
  const std::int64_t rows = wrap_dim(dims[0], x.rank());
  const std::int64_t columns = wrap_dim(dims[1], x.rank());
  Ints order;
  for (const std::int64_t dim : iota(x.rank())) {
    if (dim != rows && dim != columns) order.push_back(dim);
  }
  order.push_back(rows);
  order.push_back(columns);
  return b.transpose(x, order);
}

/// Condition number: largest by smallest singular value, or the norms of the matrix and of its inverse.
void cond(OpBuilder& b) {
  const Tensor a = b.tensor("self");
  const double order = b.has("p") ? b.number("p") : 2;
  if (a.elements() == 0) return b.bind(b.full(0.0, b.result()));
  if (std::abs(order) == 2) {
    const Tensor values = singular_values(b, a);
    const Tensor largest = b.select(values, -1, 0);
    const Tensor smallest = b.select(values, -1, -1);
    const Tensor ratio = order > 0 ? b.binary("Div", largest, smallest) : b.binary("Div", smallest, largest);
    return b.bind(b.cast(ratio, b.result().dtype));
  }
  const auto norm = [&](const Tensor& m) {
    const bool columns = std::abs(order) == 1;
    const Tensor sums = b.reduce("ReduceL1", m, {columns ? -2 : -1}, false);
    return b.reduce(order > 0 ? "ReduceMax" : "ReduceMin", sums, {-1}, false);
  };
  b.bind(b.binary("Mul", norm(a), norm(inverse_of(b, a))));
}

void named_cond(OpBuilder& b) {
  const Tensor a = b.tensor("self");
  const bool nuclear = b.text("p") == "nuc";
  const auto norm = [&](const Tensor& m) {
    if (nuclear) return b.cast(b.reduce("ReduceSum", singular_values(b, m), {-1}, false), m.dtype);
    return b.reduce("ReduceL2", m, {-2, -1}, false);
  };
  b.bind(b.binary("Mul", norm(a), norm(inverse_of(b, a))));
}

/// By scaling and squaring: exp(A) = exp(A / 2^n)^(2^n), and a short series for the small one.
void matrix_exp(OpBuilder& b) {
  const Tensor a = b.cast(b.tensor("self"), kWork);
  const Tensor sums = b.reduce("ReduceL1", a, {-1}, true);
  const Tensor norm = b.reduce("ReduceMax", sums, {-2}, true);
  const Tensor log2 = with_number(b, "Div", b.unary("Log", norm), std::log(2.0));
  // Half or less after scaling; the bound is for infinities, which no number of halvings makes small.
  const Tensor halvings =
      b.clip(with_number(b, "Add", b.unary("Ceil", log2), 1), b.constant(0.0, kWork), b.constant(1100.0, kWork));
  const Tensor small = b.binary("Div", a, b.binary("Pow", b.constant(2.0, kWork), halvings));
  const Tensor eye = identity_like(b, a);
  constexpr std::int64_t kTerms = 15;  // 0.5^16 / 16! is below a double's rounding
  const auto term = [&](const Tensor& round, const Tensors& state) -> Tensors {
    const Tensor number = b.cast(b.binary("Sub", b.ints({kTerms}), round), kWork);
    return {b.binary("Add", eye, b.binary("Div", b.matmul(small, state[0]), number))};
  };
  const Tensor series = b.repeat(kTerms, {eye}, term)[0];
  const Tensor rounds = b.cast(b.reduce("ReduceMax", halvings, {}, false), DType::kInt64);
  const auto square = [&](const Tensor& round, const Tensors& state) -> Tensors {
    const Tensor more = b.compare("Less", b.cast(round, kWork), halvings);
    return {b.where(more, b.matmul(state[0], state[0]), state[0])};
  };
  b.bind(b.cast(b.loop(rounds, {series}, square)[0], b.result().dtype));
}

constexpr std::array kSpectralOps = {
    EmitEntry{"aten::_linalg_eigh", eigenvalues},
    EmitEntry{"aten::_linalg_svd", svd},
    EmitEntry{"aten::linalg_cond", cond},
    EmitEntry{"aten::linalg_cond.p_str", named_cond},
    EmitEntry{"aten::linalg_eigh", eigenvalues},
    EmitEntry{"aten::linalg_eigvalsh", eigenvalues},
    EmitEntry{"aten::linalg_lstsq", lstsq},
    EmitEntry{"aten::linalg_matrix_exp", matrix_exp},
    EmitEntry{"aten::linalg_matrix_rank", matrix_rank},
    EmitEntry{"aten::linalg_matrix_rank.atol_rtol_float", matrix_rank},
    EmitEntry{"aten::linalg_matrix_rank.atol_rtol_tensor", matrix_rank},
    EmitEntry{"aten::linalg_matrix_rank.tol_tensor", matrix_rank},
    EmitEntry{"aten::linalg_pinv", pinv},
    EmitEntry{"aten::linalg_pinv.atol_rtol_float", pinv},
    EmitEntry{"aten::linalg_pinv.atol_rtol_tensor", pinv},
    EmitEntry{"aten::linalg_pinv.rcond_tensor", pinv},
    EmitEntry{"aten::linalg_svd", svd},
    EmitEntry{"aten::linalg_svdvals", svdvals},
    EmitEntry{"aten::matrix_exp", matrix_exp},
    EmitEntry{"aten::pinverse", pinv},
    EmitEntry{"aten::svd", svd},
};

}  // namespace

Tensor spectral_norm(OpBuilder& b, const Tensor& x, const SpectralNorm& norm) {
  const Tensor values = singular_values(b, matrices_along(b, x, {norm.rows, norm.columns}));
  const std::string reduction = norm.nuclear ? "ReduceSum" : norm.smallest ? "ReduceMin" : "ReduceMax";
  return b.cast(b.reduce(reduction, values, {-1}, false), x.dtype);
}

EmitEntries spectral_ops() { return kSpectralOps; }

}  // namespace leapp::onnx_ops
