// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/nn/sampling.h"

#include <string>
#include <utility>

#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// One element for each place: where it stands in its plane, whether it is inside, its weight.
struct Corner {
  Tensor index;
  Tensor inside;
  Tensor weight;
};

Tensor joined(OpBuilder& b, const std::string& op, const Tensor& x, const Tensor& y) {
  if (!x.present()) return y;
  return y.present() ? b.binary(op, x, y) : x;
}

Corner extend(OpBuilder& b, const Corner& corner, const Tap& tap, std::int64_t size) {
  const Tensor last = b.constant(static_cast<double>(size - 1), tap.position.dtype);
  const Tensor inside = b.binary("And", compare_number(b, "GreaterOrEqual", tap.position, 0),
                                 b.compare("LessOrEqual", tap.position, last));
  const Tensor here = b.cast(clip_position(b, tap.position, size), DType::kInt64);
  const Tensor index = corner.index.present()
                           ? b.binary("Add", b.binary("Mul", corner.index, b.constant(size, DType::kInt64)), here)
                           : here;
  return {index, joined(b, "And", corner.inside, inside), joined(b, "Mul", corner.weight, tap.weight)};
}

/// `x` is [N, C, plane], the corner's tensors are [N, 1, places].
Tensor value_at(OpBuilder& b, const Tensor& x, const Corner& corner) {
  const Tensor index = b.expand(corner.index, {x.size(0), x.size(1), corner.index.size(2)});
  const Tensor found = b.gather_elements(x, index, 2);
  const Tensor value = b.where(corner.inside, found, b.constant(0.0, x.dtype));
  return corner.weight.present() ? b.binary("Mul", value, corner.weight) : value;
}

}  // namespace

SampleTaps neighbours_of(OpBuilder& b, const Tensor& position) {
  const Tensor first = b.unary("Floor", position);
  const Tensor rest = b.binary("Sub", position, first);
  return {{first, number_with(b, "Sub", 1, rest)}, {with_number(b, "Add", first, 1), rest}};
}

Tensor clip_position(OpBuilder& b, const Tensor& position, std::int64_t size) {
  const double last = static_cast<double>(size - 1);
  return b.clip(position, b.constant(0.0, position.dtype), b.constant(last, position.dtype));
}

Tensor sample_at(OpBuilder& b, const Tensor& x, const std::vector<SampleTaps>& taps) {
  std::vector<Corner> corners = {{}};
  std::int64_t plane = 1;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const std::int64_t size = x.size(static_cast<std::int64_t>(i) + 2);
    plane *= size;
    std::vector<Corner> next;
    for (const Corner& corner : corners) {
      for (const Tap& tap : taps[i]) next.push_back(extend(b, corner, tap, size));
    }
    corners = std::move(next);
  }
  const Tensor flat = b.reshape(x, {x.size(0), x.size(1), plane});
  Tensor sum;
  for (const Corner& corner : corners) sum = joined(b, "Add", sum, value_at(b, flat, corner));
  return sum;
}

}  // namespace leapp::onnx_ops
