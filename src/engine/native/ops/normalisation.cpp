// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/native/op_table.h"
#include "engine/native/ops/arguments.h"
#include "engine/native/ops/matrices.h"

namespace leapp::native {
namespace {

using kernels::Binary;

constexpr Kernel kNormalise = kernel_of<&kernels::normalise>("normalise");

struct Results {
  ValueId y = kNoValue;
  ValueId mean = kNoValue;
  ValueId inverse_deviation = kNoValue;
};

void add_normalise(Lowering& b, kernels::Normalise args, ValueId x, ValueId scale, ValueId bias, const Results& to) {
  if (args.rows == 0 || args.columns == 0) refuse("of nothing");
  CallMaker make(kNormalise, args);
  // Of one row, the scale is as large as the result; only x may share its memory.
  make.read(args.x, x).read(args.scale, scale).read(args.bias, bias).write(args.y, to.y, args.rows > 1);
  b.add(make.write(args.mean, to.mean).write(args.inverse_deviation, to.inverse_deviation).take());
}

void lower_layer_norm(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  const bool root_mean_square = b.op() == "RMSNormalization";
  const std::int64_t axis = normal_axis(b.attr_int("axis", -1), b.rank(x));
  const std::span<const std::int64_t> dims = b.shape(x);
  const auto at = static_cast<std::size_t>(axis);
  kernels::Normalise args;
  args.rows = product(dims.first(at));
  args.columns = product(dims.subspan(at));
  args.epsilon = b.attr_float("epsilon", 1e-5F);
  args.root_mean_square = root_mean_square;
  const Shape row(dims.begin() + axis, dims.end());
  // A scale or bias that is one number for several columns is spread out first.
  const auto affine = [&](std::size_t i) {
    if (!b.has_input(i)) return kNoValue;
    const ValueId value = as_float32(b, b.input(i));
    if (b.elements(value) == args.columns && broadcast(b.shape(value), row) == row) return value;
    if (broadcast(b.shape(value), row) != row) refuse("a scale that is larger than a row");
    return expanded(b, value, row);
  };
  const ValueId scale = affine(1);
  const ValueId bias = root_mean_square ? kNoValue : affine(2);
  Results to{b.make(DType::kFloat32, b.shape(x))};
  Shape statistics(dims.begin(), dims.end());
  std::fill(statistics.begin() + axis, statistics.end(), 1);
  if (b.has_output(1)) to.mean = b.make(DType::kFloat32, statistics);
  if (b.has_output(2)) to.inverse_deviation = b.make(DType::kFloat32, statistics);
  add_normalise(b, args, x, scale, bias, to);
  bind_as(b, 0, to.y, b.dtype(given));
  if (to.mean != kNoValue) b.bind(1, to.mean);
  if (to.inverse_deviation != kNoValue) b.bind(2, to.inverse_deviation);
}

// Rows are channels (instance norm) or groups of them.
void lower_instance_norm(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  if (b.rank(x) < 3) refuse("expects channels of something");
  const std::span<const std::int64_t> dims = b.shape(x);
  kernels::Normalise args;
  args.rows = dims[0] * dims[1];
  args.columns = product(dims.subspan(2));
  args.epsilon = b.attr_float("epsilon", 1e-5F);
  args.affine_rows = dims[1];
  args.affine_row_stride = 1;
  args.affine_column_stride = 0;
  const ValueId scale = as_float32(b, b.input(1));
  const ValueId bias = as_float32(b, b.input(2));
  if (b.elements(scale) != dims[1] || b.elements(bias) != dims[1]) refuse("one scale and bias per channel expected");
  const ValueId y = b.make(DType::kFloat32, b.shape(x));
  add_normalise(b, args, x, scale, bias, {y});
  bind_as(b, 0, y, b.dtype(given));
}

/// [channels] seen as [channels, 1, ...] beside [batch, channels, ...].
ValueId per_channel(Lowering& b, ValueId value, std::int64_t rank) {
  Shape shape(static_cast<std::size_t>(rank - 1), 1);
  shape[0] = b.elements(value);
  return b.reshaped(value, shape);
}

void lower_group_norm(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  if (b.rank(x) < 2) refuse("expects channels");
  const std::span<const std::int64_t> dims = b.shape(x);
  const std::int64_t groups = b.attr_int("num_groups", 1);
  if (groups < 1 || dims[1] % groups != 0) refuse("groups that do not fit");
  kernels::Normalise args;
  args.rows = dims[0] * groups;
  args.columns = dims[1] / groups * product(dims.subspan(2));
  args.epsilon = b.attr_float("epsilon", 1e-5F);
  ValueId scale = as_float32(b, b.input(1));
  ValueId bias = as_float32(b, b.input(2));
  const ValueId y = b.make(DType::kFloat32, b.shape(x));
  add_normalise(b, args, x, kNoValue, kNoValue, {y});
  // Until opset 21 there is one scale per group.
  const auto spread = [&](ValueId value) {
    if (b.elements(value) == dims[1]) return value;
    if (b.elements(value) != groups) refuse("one scale per channel or group expected");
    return b.reshaped(expanded(b, b.reshaped(value, {groups, 1}), {groups, dims[1] / groups}), {dims[1]});
  };
  scale = per_channel(b, spread(scale), b.rank(x));
  bias = per_channel(b, spread(bias), b.rank(x));
  bind_as(b, 0, apply(b, Binary::kAdd, apply(b, Binary::kMul, y, scale), bias), b.dtype(given));
}

// With known statistics it is one factor and one term per channel.
void lower_batch_norm(Lowering& b) {
  const ValueId given = b.input(0);
  if (b.attr_int("training_mode", 0) != 0 || b.has_output(1)) refuse("training mode");
  const ValueId x = as_float32(b, given);
  if (b.rank(x) < 2) refuse("expects channels");
  const std::int64_t channels = b.shape(x)[1];
  std::array<ValueId, 4> parts{};
  bool known = true;
  for (std::size_t i = 0; i < 4; ++i) {
    parts[i] = as_float32(b, b.input(i + 1));
    if (b.elements(parts[i]) != channels) refuse("one number per channel expected");
    known = known && b.is_constant(b.input(i + 1));
  }
  const float epsilon = b.attr_float("epsilon", 1e-5F);
  if (known) {
    const auto numbers = [&](std::size_t i) { return b.numbers(b.input(i), "a statistic"); };
    const auto scale = numbers(1);
    const auto bias = numbers(2);
    const auto mean = numbers(3);
    const auto variance = numbers(4);
    std::vector<float> factor;
    std::vector<float> term;
    for (std::size_t i = 0; i < scale.size(); ++i) {
      const double f = scale[i] / std::sqrt(variance[i] + static_cast<double>(epsilon));
      factor.push_back(static_cast<float>(f));
      term.push_back(static_cast<float>(bias[i] - mean[i] * f));
    }
    const auto constant = [&](const std::vector<float>& v) {
      return per_channel(b, b.constant(DType::kFloat32, {channels}, onnx::Bytes::copy_of(std::as_bytes(std::span(v)))),
                         b.rank(x));
    };
    const ValueId y = apply(b, Binary::kAdd, apply(b, Binary::kMul, x, constant(factor)), constant(term));
    return bind_as(b, 0, y, b.dtype(given));
  }
  for (ValueId& part : parts) part = per_channel(b, part, b.rank(x));
  const ValueId variance = apply(b, Binary::kAdd, parts[3], b.constant_float(epsilon));
  const ValueId deviation = apply(b, kernels::Activation{kernels::Unary::kSqrt}, variance, DType::kFloat32);
  const ValueId factor = apply(b, Binary::kDiv, parts[0], deviation);
  const ValueId y = apply(b, Binary::kMul, apply(b, Binary::kSub, x, parts[2]), factor);
  bind_as(b, 0, apply(b, Binary::kAdd, y, parts[1]), b.dtype(given));
}

void local_response(const LocalResponse& args) noexcept {
  const std::int64_t behind = (args.size - 1) / 2;
  for (std::int64_t n = 0; n < args.batch; ++n) {
    for (std::int64_t c = 0; c < args.channels; ++c) {
      const std::int64_t first = std::max<std::int64_t>(0, c - behind);
      const std::int64_t last = std::min(args.channels - 1, c + args.size - 1 - behind);
      for (std::int64_t i = 0; i < args.inner; ++i) {
        float sum = 0;
        for (std::int64_t k = first; k <= last; ++k) {
          const float value = args.x[(n * args.channels + k) * args.inner + i];
          sum += value * value;
        }
        const std::int64_t at = (n * args.channels + c) * args.inner + i;
        args.y[at] = args.x[at] / std::pow(args.bias + args.alpha / static_cast<float>(args.size) * sum, args.beta);
      }
    }
  }
}
constexpr Kernel kLocalResponse = kernel_of<&local_response>("local response");

void lower_lrn(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  if (b.rank(x) < 3) refuse("expects channels of something");
  const std::span<const std::int64_t> dims = b.shape(x);
  LocalResponse args;
  args.batch = dims[0];
  args.channels = dims[1];
  args.inner = product(dims.subspan(2));
  args.size = b.attr_int("size", 1);
  if (args.size < 1 || args.size > (std::int64_t{1} << 40U)) refuse("a size out of range");
  args.alpha = b.attr_float("alpha", 0.0001F);
  args.beta = b.attr_float("beta", 0.75F);
  args.bias = b.attr_float("bias", 1);
  const ValueId y = b.make(DType::kFloat32, b.shape(x));
  CallMaker make(kLocalResponse, args);
  b.add(make.read(args.x, x).write(args.y, y).take());
  bind_as(b, 0, y, b.dtype(given));
}

constexpr std::array kNormalisationOps = {
    LowerEntry{"LayerNormalization", lower_layer_norm},       LowerEntry{"RMSNormalization", lower_layer_norm},
    LowerEntry{"InstanceNormalization", lower_instance_norm}, LowerEntry{"GroupNormalization", lower_group_norm},
    LowerEntry{"BatchNormalization", lower_batch_norm},       LowerEntry{"LRN", lower_lrn},
};

}  // namespace

LowerEntries normalisation_ops() { return kNormalisationOps; }

}  // namespace leapp::native
