// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A product of matrices in groups of rows: mixtures of experts. Where each group ends depends on data, so every row is
// told which matrix it is for.
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// For each row the group it is in: how many groups end at or before it.
Tensor group_of_rows(OpBuilder& b, const Tensor& ends, std::int64_t rows) {
  const Tensor row = b.ints(iota(rows), {rows, 1});
  const Tensor behind = b.compare("GreaterOrEqual", row, b.reshape(ends, {1, ends.elements()}));
  const Tensor group = b.reduce("ReduceSum", b.cast(behind, DType::kInt64), {1}, false);
  return b.binary("Min", group, b.constant(ends.elements() - 1, DType::kInt64));
}

/// Fewer rows than matrices: each row brings its own. Else all rows with all matrices, of which one result is taken.
Tensor rows_times_their_matrices(OpBuilder& b, const Tensor& x, const Tensor& matrices, const Tensor& group) {
  const std::int64_t rows = x.size(0);
  const std::int64_t wide = matrices.size(2);
  if (rows < matrices.size(0)) {
    const Tensor own = b.gather(matrices, group, 0);
    return b.reshape(b.matmul(b.unsqueeze(x, {1}), own), {rows, wide});
  }
  const Tensor all = b.matmul(b.unsqueeze(x, {0}), matrices);
  const Tensor which = b.expand(b.reshape(group, {1, rows, 1}), {1, rows, wide});
  return b.reshape(b.gather_elements(all, which, 0), {rows, wide});
}

void grouped_mm(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const Tensor x = b.operand("self", dtype);
  const Tensor matrices = b.operand("mat2", dtype);
  if (b.has("bias")) return b.refuse("a bias of grouped products");
  if (!b.has("offs")) {
    if (x.rank() != 3 || matrices.rank() != 3) return b.refuse("grouped products without offsets of matrices");
    return b.bind(b.matmul(x, matrices));
  }
  if (x.rank() != 2 || matrices.rank() != 3)
    return b.refuse("groups of anything but rows: expected a matrix of rows and one matrix for each group");
  const Tensor group = group_of_rows(b, b.operand("offs", DType::kInt64), x.size(0));
  b.bind(rows_times_their_matrices(b, x, matrices, group));
}

constexpr std::array kGroupedProductOps = {
    EmitEntry{"aten::_grouped_mm", grouped_mm},
};

}  // namespace

EmitEntries grouped_product_ops() { return kGroupedProductOps; }

}  // namespace leapp::onnx_ops
