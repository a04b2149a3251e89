// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Max pooling over windows of one size whose places random numbers decide (Graham, 2014): one for each channel and
// dimension, drawn outside of the operator.
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

struct Along {
  std::int64_t size = 0;
  std::int64_t kernel = 0;
  std::int64_t outputs = 0;
};

/// Where the windows begin: [N, C, outputs]. `sample` is [N, C, 1]. The last one ends with the input.
Tensor starts(OpBuilder& b, const Tensor& sample, const Along& along) {
  const std::int64_t last = along.size - along.kernel;
  const Tensor end = b.full(last, {DType::kInt64, {sample.size(0), sample.size(1), 1}});
  const std::int64_t free = along.outputs - 1;
  if (free == 0) return end;
  const auto whole = [&](const Tensor& x) { return b.cast(truncate(b, x), DType::kInt64); };
  // The quotient in the input's dtype, as torch has it.
  const Tensor alpha = with_number(b, "Div", b.constant(last, sample.dtype), static_cast<double>(free));
  const Tensor number = b.binary("Add", b.cast(b.ints(iota(free)), sample.dtype), sample);
  const Tensor moved = b.binary("Sub", whole(b.binary("Mul", number, alpha)), whole(b.binary("Mul", sample, alpha)));
  return b.concat({moved, end}, 2);
}

/// Which elements of the flat input each window sees: [N, C, outputs..., kernel...].
Tensor window_positions(OpBuilder& b, const Tensor& samples, const std::vector<Along>& dims) {
  const auto count = dims.size();
  Tensor positions;
  for (std::size_t i = 0; i < count; ++i) {
    // torch draws for the width first in two dimensions, for the depth first in three.
    const std::size_t column = count == 2 ? 1 - i : i;
    const auto at = static_cast<std::int64_t>(column);
    const Along& along = dims[i];
    Shape shape(2 + 2 * count, 1);
    shape[0] = samples.size(0);
    shape[1] = samples.size(1);
    shape[2 + i] = along.outputs;
    const Tensor begin = b.reshape(starts(b, b.slice(samples, 2, at, at + 1), along), shape);
    Shape inner(2 + 2 * count, 1);
    inner[2 + count + i] = along.kernel;
    const Tensor place = b.binary("Add", begin, b.ints(iota(along.kernel), inner));
    positions = positions.present()
                    ? b.binary("Add", with_number(b, "Mul", positions, static_cast<double>(along.size)), place)
                    : place;
  }
  return positions;
}

void fractional_max_pool(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Ints kernel = b.integers("kernel_size");
  const Ints outputs = b.integers("output_size");
  const std::int64_t spatial = std::ssize(outputs);
  std::vector<Along> dims;
  std::int64_t seen = 1;
  std::int64_t all = 1;
  for (std::int64_t i = 0; i < spatial; ++i) {
    const auto at = static_cast<std::size_t>(i);
    dims.push_back({x.size(i - spatial), kernel[kernel.size() == 1 ? 0 : at], outputs[at]});
    seen *= dims.back().kernel;
    all *= dims.back().size;
  }
  const Tensor samples = b.operand("random_samples", x.dtype);
  const Shape outer = {samples.size(0), samples.size(1)};
  const Tensor positions = window_positions(b, samples, dims);
  const std::int64_t windows = positions.elements() / (outer[0] * outer[1] * seen);
  const Tensor flat = b.reshape(positions, {outer[0], outer[1], windows * seen});
  const Tensor found = b.gather_elements(b.reshape(x, {outer[0], outer[1], all}), flat, 2);
  const Shape grouped = {outer[0], outer[1], windows, seen};
  const Tensor values = b.reshape(found, grouped);
  b.bind(0, b.reshape(b.reduce("ReduceMax", values, {3}, false), b.result(0).shape));
  if (b.node().result(1)->unused()) return;
  const Tensor best = b.arg_reduce("ArgMax", values, 3, true);
  b.bind(1, b.reshape(b.gather_elements(b.reshape(flat, grouped), best, 3), b.result(1).shape));
}

constexpr std::array kFractionalPoolingOps = {
    EmitEntry{"aten::fractional_max_pool2d", fractional_max_pool},
    EmitEntry{"aten::fractional_max_pool3d", fractional_max_pool},
};

}  // namespace

EmitEntries fractional_pooling_ops() { return kFractionalPoolingOps; }

}  // namespace leapp::onnx_ops
