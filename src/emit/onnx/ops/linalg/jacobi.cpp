// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Hestenes' method: columns are rotated two by two until all are orthogonal. Half the columns meet the other half at
// once; then they change places as at a round-robin tournament, so that each pair has met after columns - 1 rounds.
#include "emit/onnx/ops/linalg/jacobi.h"

#include <algorithm>

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/linalg/householder.h"
#include "emit/onnx/ops/linalg/matrices.h"

namespace leapp::onnx_ops {
namespace {

/// Where each column comes from in the next round: the first stays, the others go round.
Ints next_places(std::int64_t columns) {
  const std::int64_t half = columns / 2;
  Ints from = iota(columns);
  if (half < 2) return from;
  const auto set = [&](std::int64_t place, std::int64_t source) { from[static_cast<std::size_t>(place)] = source; };
  set(1, half);
  for (std::int64_t i = 2; i < half; ++i) set(i, i - 1);
  for (std::int64_t i = half; i + 1 < columns; ++i) set(i, i + 1);
  set(columns - 1, half - 1);
  return from;
}

/// Sine and cosine that make two columns orthogonal, and how far they were from it (0 to 1).
struct Rotation {
  Tensor cosine;
  Tensor sine;
  Tensor apart;
};

Rotation rotation_of(OpBuilder& b, const Tensor& left, const Tensor& right) {
  const Tensor one = b.constant(1.0, kWork);
  const auto dot = [&](const Tensor& x, const Tensor& y) {
    return b.reduce("ReduceSum", b.binary("Mul", x, y), {-2}, true);
  };
  const Tensor alpha = dot(left, left);
  const Tensor beta = dot(right, right);
  const Tensor gamma = dot(left, right);
  const Tensor nothing = compare_number(b, "Equal", gamma, 0);
  const Tensor divisor = b.where(nothing, one, with_number(b, "Mul", gamma, 2));
  const Tensor zeta = b.binary("Div", b.binary("Sub", beta, alpha), divisor);
  const Tensor root = b.unary("Sqrt", with_number(b, "Add", b.binary("Mul", zeta, zeta), 1));
  const Tensor size = b.binary("Div", one, b.binary("Add", b.unary("Abs", zeta), root));
  const Tensor tangent = b.where(compare_number(b, "Less", zeta, 0), b.unary("Neg", size), size);
  const Tensor turned = b.where(nothing, b.constant(0.0, kWork), tangent);
  const Tensor cosine =
      b.binary("Div", one, b.unary("Sqrt", with_number(b, "Add", b.binary("Mul", turned, turned), 1)));
  const Tensor lengths = b.unary("Sqrt", b.binary("Mul", alpha, beta));
  const Tensor apart = b.binary("Div", b.unary("Abs", gamma), b.where(nothing, one, lengths));
  return {cosine, b.binary("Mul", cosine, turned), b.reduce("ReduceMax", apart, {}, false)};
}

/// One round: `m` holds the columns of W and, below them, those of V.
Tensors rotated(OpBuilder& b, const Tensors& state, std::int64_t rows) {
  const Tensor& m = state[0];
  const std::int64_t half = m.size(-1) / 2;
  const Tensors sides = b.split(m, -1, {half, half});
  const Rotation turn = rotation_of(b, b.slice(sides[0], -2, 0, rows), b.slice(sides[1], -2, 0, rows));
  const auto times = [&](const Tensor& x, const Tensor& y) { return b.binary("Mul", x, y); };
  const Tensor left = b.binary("Sub", times(turn.cosine, sides[0]), times(turn.sine, sides[1]));
  const Tensor right = b.binary("Add", times(turn.sine, sides[0]), times(turn.cosine, sides[1]));
  const Tensor next = b.gather(b.concat({left, right}, -1), b.ints(next_places(m.size(-1))), -1);
  return {next, b.binary("Max", state[1], turn.apart)};
}

Tensor largest_element(OpBuilder& b, const Tensor& a) {
  const Tensor largest = b.reduce("ReduceMax", b.unary("Abs", a), {-2, -1}, true);
  return b.where(compare_number(b, "Greater", largest, 0), largest, b.constant(1.0, kWork));
}

}  // namespace

OrthogonalColumns orthogonal_columns(OpBuilder& b, const Tensor& a, bool with_v) {
  const std::int64_t rows = a.size(-2);
  Tensor m = b.cast(a, kWork);
  const Tensor scale = largest_element(b, m);
  m = b.binary("Div", m, scale);
  if (with_v) {
    Shape square = m.shape;
    square[square.size() - 2] = a.size(-1);
    m = b.concat({m, identity(b, {kWork, square})}, -2);
  }
  if (m.size(-1) % 2 != 0) {
    Ints after(m.shape.size(), 0);
    after.back() = 1;
    m = b.pad(m, Ints(m.shape.size(), 0), after, "constant", 0.0);
  }
  // Once all pairs are this close before their rotation, they are orthogonal to rounding after it.
  constexpr double kClose = 1e-11;
  constexpr std::int64_t kSweeps = 40;  // five to ten are usual
  const Tensor pairs = b.constant(std::max<std::int64_t>(1, m.size(-1) - 1), DType::kInt64);
  const auto sweep = [&](const Tensor&, const Tensors& state) -> Tensors {
    const auto round = [&](const Tensor&, const Tensors& before) { return rotated(b, before, rows); };
    const Tensors after = b.loop(pairs, {state[0], b.constant(0.0, kWork)}, round);
    return {compare_number(b, "Greater", after[1], kClose), after[0]};
  };
  m = b.loop_while(kSweeps, {m}, sweep)[0];
  // After whole sweeps all columns are back in their places, the added one last.
  m = b.slice(m, -1, 0, a.size(-1));
  OrthogonalColumns found;
  found.w = b.binary("Mul", b.slice(m, -2, 0, rows), scale);
  if (with_v) found.v = b.slice(m, -2, rows, m.size(-2));
  found.sizes = b.reduce("ReduceL2", found.w, {-2}, true);
  return found;
}

namespace {

/// Values in order, and the places they were in.
struct Sorted {
  Tensor values;
  Tensor places;
};

Sorted sorted(OpBuilder& b, const Tensor& values, bool largest_first) {
  const Tensors found =
      b.add_many("TopK", {values, b.ints({values.size(-1)})}, {values.type(), {DType::kInt64, values.shape}},
                 {{"axis", std::int64_t{-1}}, {"largest", std::int64_t{largest_first}}});
  return {found[0], found[1]};
}

Tensor columns_in(OpBuilder& b, const Tensor& m, const Tensor& places) {
  return b.gather_elements(m, b.expand(b.unsqueeze(places, {-2}), m.shape), -1);
}

/// Q of A = Q R with a positive diagonal of R: unit columns along A's if those are orthogonal, and others to complete
/// them where A's are zero, or end.
Tensor unit_columns(OpBuilder& b, const Tensor& a, std::int64_t count) {
  const Reflectors q = reflectors_of(b, a);
  Shape shape = a.shape;
  shape.back() = count;
  const Tensor unsigned_q = reflected(b, q, identity(b, {a.dtype, shape}), false);
  const Tensor diagonal = b.unsqueeze(take_diagonal(b, q.packed, {0, -2, -1}), {-2});
  const Tensor one = b.constant(1.0, a.dtype);
  Tensor sign = b.where(compare_number(b, "Less", diagonal, 0), b.constant(-1.0, a.dtype), one);
  Shape rest = sign.shape;
  rest.back() = count - sign.size(-1);
  if (rest.back() > 0) sign = b.concat({sign, b.full(1.0, {a.dtype, rest})}, -1);
  return b.binary("Mul", unsigned_q, sign);
}

/// The symmetric matrix with all eigenvalues moved to between one and three times a bound of them, where they are its
/// singular values and its eigenvectors the right singular vectors.
struct Shifted {
  Tensor matrix;
  Tensor shift;  // [batch, 1, 1]
};

Shifted shifted(OpBuilder& b, const Tensor& a) {
  const Tensor m = b.cast(a, kWork);
  const Tensor sums = b.reduce("ReduceL1", m, {-1}, true);
  const Tensor shift = with_number(b, "Mul", b.reduce("ReduceMax", sums, {-2}, true), 2);
  return {b.binary("Add", m, b.binary("Mul", identity_like(b, m), shift)), shift};
}

}  // namespace

Tensor singular_values(OpBuilder& b, const Tensor& a) {
  const Tensor sizes = orthogonal_columns(b, a.size(-2) < a.size(-1) ? transposed(b, a) : a, false).sizes;
  return sorted(b, b.squeeze(sizes, {-2}), true).values;
}

SingularVectors singular_vectors(OpBuilder& b, const Tensor& a, bool full) {
  if (a.size(-2) < a.size(-1)) {
    const SingularVectors flipped = singular_vectors(b, transposed(b, a), full);
    return {flipped.v, flipped.values, flipped.u};
  }
  const OrthogonalColumns c = orthogonal_columns(b, a, true);
  const Sorted order = sorted(b, b.squeeze(c.sizes, {-2}), true);
  const Tensor w = columns_in(b, c.w, order.places);
  return {unit_columns(b, w, full ? a.size(-2) : a.size(-1)), order.values, columns_in(b, c.v, order.places)};
}

Tensor symmetric_eigenvalues(OpBuilder& b, const Tensor& a) {
  const Shifted moved = shifted(b, a);
  const Tensor values = b.binary("Sub", singular_values(b, moved.matrix), b.squeeze(moved.shift, {-1}));
  return b.slice(values, -1, -1, -1 - values.size(-1), -1);
}

Eigenvectors symmetric_eigenvectors(OpBuilder& b, const Tensor& a) {
  const Shifted moved = shifted(b, a);
  const OrthogonalColumns c = orthogonal_columns(b, moved.matrix, true);
  const Sorted order = sorted(b, b.squeeze(c.sizes, {-2}), false);
  return {b.binary("Sub", order.values, b.squeeze(moved.shift, {-1})), columns_in(b, c.v, order.places)};
}

PseudoInverse pseudo_inverse(OpBuilder& b, const Tensor& a, const Tensor& atol, const Tensor& rtol) {
  const bool wide = a.size(-2) < a.size(-1);
  const OrthogonalColumns c = orthogonal_columns(b, wide ? transposed(b, a) : a, true);
  const Tensor largest = b.reduce("ReduceMax", c.sizes, {-1}, true);
  const Tensor limit = b.binary("Max", atol, b.binary("Mul", rtol, largest));
  const Tensor counts = b.compare("Greater", c.sizes, limit);
  // A = W V^T, so that the inverse is V S^-2 W^T.
  const Tensor one = b.constant(1.0, kWork);
  const Tensor squares = b.where(counts, b.binary("Mul", c.sizes, c.sizes), one);
  const Tensor weights = b.where(counts, b.binary("Div", one, squares), b.constant(0.0, kWork));
  const Tensor inverse = b.matmul(b.binary("Mul", c.v, weights), transposed(b, c.w));
  PseudoInverse found;
  found.inverse = wide ? transposed(b, inverse) : inverse;
  found.rank = b.reduce("ReduceSum", b.cast(counts, DType::kInt64), {-2, -1}, false);
  found.values = sorted(b, b.squeeze(c.sizes, {-2}), true).values;
  return found;
}

}  // namespace leapp::onnx_ops
