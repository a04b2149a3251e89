// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/linalg/householder.h"

#include <algorithm>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/linalg/matrices.h"

namespace leapp::onnx_ops {
namespace {

Tensor one(OpBuilder& b, const Tensor& like) { return b.constant(1.0, like.dtype); }

/// One reflector: v with a one in row k and zeros above, its tau, and what becomes of the element in row k.
struct Reflector {
  Tensor v;
  Tensor tau;
  Tensor beta;
};

/// LAPACK's larfg: beta has the other sign than the element, and a column that is zero below needs no reflection.
Reflector reflector_of(OpBuilder& b, const Tensor& m, const Tensor& k) {
  const Tensor rows = row_numbers(b, m);
  const Tensor column = column_at(b, m, k);
  const Tensor alpha = row_at(b, column, k);
  const Tensor below = b.compare("Greater", rows, k);
  const Tensor tail = b.where(below, column, zero(b, m));
  const Tensor size = b.reduce("ReduceL2", tail, {-2}, true);
  const Tensor norm = b.reduce("ReduceL2", b.concat({alpha, size}, -2), {-2}, true);
  const Tensor beta = b.where(compare_number(b, "Less", alpha, 0), norm, b.unary("Neg", norm));
  const Tensor nothing = compare_number(b, "Equal", size, 0);
  const Tensor safe = b.where(nothing, one(b, m), beta);
  const Tensor divisor = b.where(nothing, one(b, m), b.binary("Sub", alpha, beta));
  const Tensor v = b.where(b.compare("Equal", rows, k), one(b, m), b.binary("Div", tail, divisor));
  const Tensor tau = b.where(nothing, zero(b, m), b.binary("Div", b.binary("Sub", safe, alpha), safe));
  return {v, tau, b.where(nothing, alpha, beta)};
}

/// m - tau v (v^T m)
Tensor reflected_by(OpBuilder& b, const Tensor& v, const Tensor& tau, const Tensor& m) {
  return b.binary("Sub", m, b.binary("Mul", b.binary("Mul", tau, v), b.matmul(transposed(b, v), m)));
}

}  // namespace

Reflectors reflectors_of(OpBuilder& b, const Tensor& a) {
  const std::int64_t steps = std::min(a.size(-2), a.size(-1));
  Shape tau_shape = batch_of(a);
  tau_shape.push_back(1);
  tau_shape.push_back(steps);
  const Tensor rows = row_numbers(b, a);
  const Tensor columns = column_numbers(b, a);
  const Tensor numbers = b.ints(iota(steps));
  const auto step = [&](const Tensor& k, const Tensors& state) -> Tensors {
    const Tensor& m = state[0];
    const Reflector next = reflector_of(b, m, k);
    const Tensor here = b.where(b.compare("Equal", rows, k), next.beta, next.v);
    const Tensor in_column = b.binary("And", b.compare("Equal", columns, k), b.compare("GreaterOrEqual", rows, k));
    const Tensor kept = b.where(in_column, here, m);
    const Tensor packed = b.where(b.compare("Greater", columns, k), reflected_by(b, next.v, next.tau, m), kept);
    return {packed, b.where(b.compare("Equal", numbers, k), next.tau, state[1])};
  };
  const Tensors found = b.repeat(steps, {a, b.full(0.0, {a.dtype, tau_shape})}, step);
  return {found[0], b.squeeze(found[1], {-2})};
}

Tensor reflected(OpBuilder& b, const Reflectors& q, const Tensor& m, bool transpose) {
  const std::int64_t count = q.tau.size(-1);
  const Tensor tau = b.unsqueeze(q.tau, {-2});
  const Tensor rows = row_numbers(b, q.packed);
  // Q = H0 H1 ...: the last one acts first.
  const auto step = [&](const Tensor& round, const Tensors& state) -> Tensors {
    const Tensor k = transpose ? round : b.binary("Sub", b.ints({count - 1}), round);
    const Tensor below = b.where(b.compare("Greater", rows, k), column_at(b, q.packed, k), zero(b, m));
    const Tensor v = b.where(b.compare("Equal", rows, k), one(b, m), below);
    return {reflected_by(b, v, column_at(b, tau, k), state[0])};
  };
  return b.repeat(count, {m}, step)[0];
}

}  // namespace leapp::onnx_ops
