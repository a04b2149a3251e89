// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// L D L^T of symmetric matrices with Bunch's and Kaufman's pivots, as LAPACK's sytrf with the lower triangle: D has
// blocks of one or two rows. Which, each matrix of a batch decides for itself, so both are computed in every step.
#include <algorithm>
#include <array>
#include <cmath>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/linalg/matrices.h"

namespace leapp::onnx_ops {
namespace {

Tensor zero(OpBuilder& b) { return b.constant(0.0, kWork); }
Tensor size_of(OpBuilder& b, const Tensor& x) { return b.unary("Abs", x); }
Tensor times(OpBuilder& b, const Tensor& x, const Tensor& y) { return b.binary("Mul", x, y); }
Tensor minus(OpBuilder& b, const Tensor& x, const Tensor& y) { return b.binary("Sub", x, y); }

/// k + 1, but never past the last row: where it would be, the result is not used.
Tensor row_after(OpBuilder& b, const Tensor& k, std::int64_t size) {
  return b.binary("Min", with_number(b, "Add", k, 1), b.ints({size - 1}));
}

/// The rows 0, 1, ... with two of them exchanged (int64[batch, 1, 1] each): [batch, size].
Tensor exchanged(OpBuilder& b, std::int64_t size, const Tensor& one, const Tensor& other) {
  const Tensor numbers = b.ints(iota(size), {1, size});
  const Tensor moved = b.where(b.compare("Equal", numbers, other), one, numbers);
  return b.squeeze(b.where(b.compare("Equal", numbers, one), other, moved), {-2});
}

/// A block of one row at k, or of two from k on; which row comes there. All [batch, 1, 1].
struct Choice {
  Tensor from;
  Tensor two;
};

Choice choose_pivot(OpBuilder& b, const Tensor& s, const Tensor& k) {
  const double alpha = (1 + std::sqrt(17.0)) / 8;
  const Tensor columns = column_numbers(b, s);
  const Tensor column = column_at(b, s, k);
  const Tensor below = b.where(b.compare("Greater", row_numbers(b, s), k), size_of(b, column), zero(b));
  const Tensor other = b.arg_reduce("ArgMax", below, -2, true);
  const Tensor largest = b.reduce("ReduceMax", below, {-2}, true);
  const Tensor here = size_of(b, row_at(b, column, k));
  const Tensor its_row = b.gather_elements(s, b.expand(other, row_at(b, s, k).shape), -2);
  const Tensor beside =
      b.binary("And", b.compare("GreaterOrEqual", columns, k), b.logical_not(b.compare("Equal", columns, other)));
  const Tensor its_largest = b.reduce("ReduceMax", b.where(beside, size_of(b, its_row), zero(b)), {-1}, true);
  const Tensor its_own = size_of(b, b.gather_elements(its_row, other, -1));
  const auto at_least = [&](const Tensor& x, const Tensor& y) {
    return b.compare("GreaterOrEqual", x, with_number(b, "Mul", y, alpha));
  };
  const Tensor stays =
      b.binary("Or", at_least(here, largest), at_least(times(b, here, its_largest), times(b, largest, largest)));
  const Tensor two = b.logical_not(b.binary("Or", stays, at_least(its_own, its_largest)));
  return {b.where(stays, k, other), two};
}

/// What a block makes of the matrix: the columns of L with D in them, and the rest without the block's part.
struct Block {
  Tensor first;
  Tensor second;  // of a block of two
  Tensor rest;
};

Block one_row(OpBuilder& b, const Tensor& s, const Tensor& k) {
  const Tensor rows = row_numbers(b, s);
  const Tensor column = column_at(b, s, k);
  const Tensor d = row_at(b, column, k);
  const Tensor below = b.where(b.compare("Greater", rows, k), column, zero(b));
  const Tensor divisor = b.where(compare_number(b, "Equal", d, 0), b.constant(1.0, kWork), d);
  const Tensor l = b.binary("Div", below, divisor);
  return {b.where(b.compare("Equal", rows, k), d, l), {}, minus(b, s, times(b, l, transposed(b, below)))};
}

/// The three numbers of a symmetric block, and its determinant.
struct Square {
  Tensor first, side, second, determinant;
};

Square square_at(OpBuilder& b, const Tensor& m, const Tensor& k, const Tensor& next) {
  const Tensor first = row_at(b, column_at(b, m, k), k);
  const Tensor side = row_at(b, column_at(b, m, k), next);
  const Tensor second = row_at(b, column_at(b, m, next), next);
  return {first, side, second, minus(b, times(b, first, second), times(b, side, side))};
}

Block two_rows(OpBuilder& b, const Tensor& s, const Tensor& k) {
  const Tensor next = row_after(b, k, s.size(-1));
  const Tensor rows = row_numbers(b, s);
  const Tensor open = b.compare("Greater", rows, next);
  const Tensor p = b.where(open, column_at(b, s, k), zero(b));
  const Tensor q = b.where(open, column_at(b, s, next), zero(b));
  const Square d = square_at(b, s, k, next);
  const Tensor v = b.binary("Div", minus(b, times(b, p, d.second), times(b, q, d.side)), d.determinant);
  const Tensor w = b.binary("Div", minus(b, times(b, q, d.first), times(b, p, d.side)), d.determinant);
  const Tensor here = b.compare("Equal", rows, k);
  const Tensor after = b.compare("Equal", rows, next);
  const Tensor rest = minus(b, minus(b, s, times(b, v, transposed(b, p))), times(b, w, transposed(b, q)));
  return {b.where(here, d.first, b.where(after, d.side, v)), b.where(after, d.second, w), rest};
}

struct LdlFactors {
  Tensor packed;
  Tensor pivots;  // as LAPACK's: from one, negative for blocks of two; int64[batch, n]
};

/// State: what is left of the matrix, L with D, pivots, and whether the row is the second of a block.
Tensors ldl_step(OpBuilder& b, const Tensor& k, const Tensors& state) {
  const std::int64_t size = state[0].size(-1);
  const Tensor& done = state[3];
  const Choice choice = choose_pivot(b, state[0], k);
  const Tensor place = b.binary("Add", k, b.cast(choice.two, DType::kInt64));
  const Tensor order = exchanged(b, size, place, choice.from);
  const Tensor by_rows = with_rows_in(b, state[0], order);
  const Tensor s = transposed(b, with_rows_in(b, transposed(b, by_rows), order));
  const Block one = one_row(b, s, k);
  const Block two = two_rows(b, s, k);
  const Tensor now = b.logical_not(done);
  const Tensor pair = b.binary("And", now, choice.two);
  const Tensor rest = b.where(done, state[0], b.where(choice.two, two.rest, one.rest));
  const Tensor columns = column_numbers(b, s);
  const Tensor here = b.binary("And", b.compare("Equal", columns, k), now);
  const Tensor after = b.binary("And", b.compare("Equal", columns, row_after(b, k, size)), pair);
  const Tensor first = b.where(choice.two, two.first, one.first);
  const Tensor packed = b.where(after, two.second, b.where(here, first, state[1]));
  const Tensor from_one = with_number(b, "Add", choice.from, 1);
  const Tensor pivot = b.where(choice.two, b.unary("Neg", from_one), from_one);
  return {rest, packed, b.where(b.binary("Or", here, after), pivot, state[2]), pair};
}

LdlFactors ldl_factors(OpBuilder& b, const Tensor& a) {
  Shape row = a.shape;
  row[row.size() - 2] = 1;
  Shape single = row;
  single.back() = 1;
  const Tensor s = b.cast(symmetric_from(b, a, false), kWork);
  const Tensors found = b.repeat(
      a.size(-1),
      {s, b.full(0.0, s.type()), b.full(std::int64_t{0}, {DType::kInt64, row}), b.full(false, {DType::kBool, single})},
      [&](const Tensor& k, const Tensors& state) { return ldl_step(b, k, state); });
  return {found[1], b.squeeze(found[2], {-2})};
}

void ldl_factor(OpBuilder& b) {
  const LdlFactors found = ldl_factors(b, b.tensor("self"));
  b.bind(0, b.cast(found.packed, b.result(0).dtype));
  b.bind(1, b.cast(found.pivots, DType::kInt32));
  if (b.result_count() < 3 || b.node().result(2)->unused()) return;
  const Tensor diagonal = take_diagonal(b, found.packed, {0, -2, -1});
  const Tensor single = compare_number(b, "Greater", found.pivots, 0);
  b.bind(2, first_true(b, b.binary("And", compare_number(b, "Equal", diagonal, 0), single)));
}

/// Which row a pivot names, whether it is one of a block of two, and whether that block's other row was before this.
struct Pivot {
  Tensor from;
  Tensor pair;
};

Pivot pivot_at(OpBuilder& b, const Tensor& pivots, const Tensor& k, const Tensor& other_was) {
  const Tensor pivot = column_at(b, pivots, k);
  const Tensor pair = b.binary("And", compare_number(b, "Less", pivot, 0), b.logical_not(other_was));
  return {with_number(b, "Sub", b.unary("Abs", pivot), 1), pair};
}

/// Y of L D Y = P B: row by row from above. State: B, and whether the row is the second of a block.
Tensors ldl_forward(OpBuilder& b, const LdlFactors& f, const Tensor& k, const Tensors& state) {
  const std::int64_t size = f.packed.size(-1);
  const Tensor next = row_after(b, k, size);
  const Pivot pivot = pivot_at(b, f.pivots, k, state[1]);
  const Tensor place = b.binary("Add", k, b.cast(pivot.pair, DType::kInt64));
  const Tensor x = with_rows_in(b, state[0], exchanged(b, size, place, pivot.from));
  const Tensor rows = row_numbers(b, x);
  const Tensor one = row_at(b, x, k);
  const Tensor two = row_at(b, x, next);
  const Tensor here = b.compare("Equal", rows, k);
  const Tensor after = b.compare("Equal", rows, next);
  const Square d = square_at(b, f.packed, k, next);
  const Tensor less_one = minus(b, x, times(b, column_at(b, f.packed, k), one));
  const Tensor less_two = minus(b, less_one, times(b, column_at(b, f.packed, next), two));
  const Tensor single =
      b.where(here, b.binary("Div", one, d.first), b.where(b.compare("Greater", rows, k), less_one, x));
  const Tensor first = b.binary("Div", minus(b, times(b, one, d.second), times(b, two, d.side)), d.determinant);
  const Tensor second = b.binary("Div", minus(b, times(b, two, d.first), times(b, one, d.side)), d.determinant);
  const Tensor below = b.where(b.compare("Greater", rows, next), less_two, x);
  const Tensor both = b.where(here, first, b.where(after, second, below));
  return {b.where(state[1], state[0], b.where(pivot.pair, both, single)), pivot.pair};
}

/// X of L^T P^T X = Y: from below. A block is solved at its second row, which comes first here.
Tensors ldl_backward(OpBuilder& b, const LdlFactors& f, const Tensor& k, const Tensors& state) {
  const std::int64_t size = f.packed.size(-1);
  const Tensor& y = state[0];
  const Tensor rows = row_numbers(b, y);
  const Pivot pivot = pivot_at(b, f.pivots, k, state[1]);
  const Tensor before = b.binary("Max", with_number(b, "Sub", k, 1), b.ints({0}));
  const Tensor open = b.compare("Greater", rows, k);
  const auto solved_row = [&](const Tensor& row) {
    const Tensor below = b.where(open, column_at(b, f.packed, row), zero(b));
    return minus(b, row_at(b, y, row), b.matmul(transposed(b, below), y));
  };
  const Tensor one = b.where(b.compare("Equal", rows, k), solved_row(k), y);
  const Tensor first = b.binary("And", b.compare("Equal", rows, before), pivot.pair);
  const Tensor both = b.where(first, solved_row(before), one);
  const Tensor x = with_rows_in(b, both, exchanged(b, size, b.reshape(k, Shape(y.shape.size(), 1)), pivot.from));
  return {b.where(state[1], y, x), pivot.pair};
}

void ldl_solve(OpBuilder& b) {
  const Tensor packed = b.cast(b.tensor("LD"), kWork);
  const Tensor right = b.cast(b.tensor("B"), kWork);
  const Shape batch = broadcast_shapes(batch_of(packed), batch_of(right));
  const std::int64_t size = packed.size(-1);
  const Tensor pivots = b.unsqueeze(b.cast(b.tensor("pivots"), DType::kInt64), {-2});
  const LdlFactors f{with_batch(b, packed, batch), with_batch(b, pivots, batch)};
  Shape single = batch;
  single.insert(single.end(), {1, 1});
  const Tensor no = b.full(false, {DType::kBool, single});
  const Tensor half = b.repeat(size, {with_batch(b, right, batch), no},
                               [&](const Tensor& k, const Tensors& state) { return ldl_forward(b, f, k, state); })[0];
  b.bind(b.cast(b.repeat(size, {half, no},
                         [&](const Tensor& round, const Tensors& state) {
                           return ldl_backward(b, f, minus(b, b.ints({size - 1}), round), state);
                         })[0],
                b.result().dtype));
}

constexpr std::array kLdlOps = {
    EmitEntry{"aten::linalg_ldl_factor", ldl_factor},
    EmitEntry{"aten::linalg_ldl_factor_ex", ldl_factor},
    EmitEntry{"aten::linalg_ldl_solve", ldl_solve},
};

}  // namespace

EmitEntries ldl_ops() { return kLdlOps; }

}  // namespace leapp::onnx_ops
