// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/nn/resize.h"
#include "emit/onnx/ops/nn/windows.h"

namespace leapp::onnx_ops {
namespace {

/// One pool over the last dimensions of `x`, which has a batch and a channel.
struct Pool {
  Tensor x;
  std::vector<WindowSpec> specs;
  Shape shape;              // of the result, with batch and channel
  bool says_valid = false;  // it has no padding, and has to say so
};

/// `x` as [N, C, i...]; torch may leave out the batch.
Tensor with_batch(OpBuilder& b, const Tensor& x, std::int64_t dims) {
  return x.rank() == dims + 1 ? b.unsqueeze(x, {0}) : x;
}

Shape batched_shape(const OpBuilder& b, const Tensor& x) {
  Shape shape = b.result().shape;
  if (std::ssize(shape) < x.rank()) shape.insert(shape.begin(), 1);
  return shape;
}

/// The number of pooled dimensions stands in the operator's name.
std::int64_t pooled_dims(OpBuilder& b) {
  const std::string& name = b.node().op();
  for (std::int64_t dims = 1; dims <= 3; ++dims) {
    if (name.find(std::to_string(dims) + "d") != std::string::npos) return dims;
  }
  b.fault("expected 1d, 2d or 3d in the operator's name");
  return 1;
}

Pool pool_arguments(OpBuilder& b) {
  const std::int64_t dims = pooled_dims(b);
  Pool pool;
  pool.x = with_batch(b, b.operand("self", b.result().dtype), dims);
  pool.shape = batched_shape(b, pool.x);
  const Ints kernel = per_dimension(b.integers("kernel_size"), dims);
  const Ints given = per_dimension(b.integers("stride"), dims);
  const Ints& stride = given.empty() ? kernel : given;
  const Ints padding = per_dimension(b.integers("padding"), dims);
  const Ints dilation = per_dimension(b.has("dilation") ? b.integers("dilation") : Ints{1}, dims);
  for (std::int64_t i = 0; i < dims; ++i) {
    pool.specs.push_back({.size = pool.x.size(i + 2),
                          .kernel = at(kernel, i),
                          .stride = at(stride, i),
                          .padding = at(padding, i),
                          .dilation = at(dilation, i),
                          .outputs = at(pool.shape, i + 2)});
  }
  return pool;
}

/// How far the last window reaches past the input: ceil_mode as padding, whose rounding no kernel can mistake.
std::int64_t padding_after(const WindowSpec& spec) {
  const std::int64_t reach = (spec.outputs - 1) * spec.stride + spec.dilation * (spec.kernel - 1) + 1;
  return std::max<std::int64_t>(reach - spec.size - spec.padding, 0);
}

Attributes pool_attributes(const Pool& pool, bool dilated) {
  Ints kernel;
  Ints strides;
  Ints pads;
  Ints dilations;
  for (const WindowSpec& spec : pool.specs) {
    kernel.push_back(spec.kernel);
    strides.push_back(spec.stride);
    pads.push_back(spec.padding);
    dilations.push_back(spec.dilation);
  }
  for (const WindowSpec& spec : pool.specs) pads.push_back(padding_after(spec));
  Attributes attributes = {{"kernel_shape", kernel}, {"strides", strides}};
  attributes.push_back(pool.says_valid ? onnx::AttributeProto{"auto_pad", std::string("VALID")}
                                       : onnx::AttributeProto{"pads", pads});
  if (dilated) attributes.push_back({"dilations", dilations});
  return attributes;
}

/// ONNX Runtime moves a Pad with zeros into the pool behind it, as if a maximum did not see them, and as if there were
/// no limit to a pool's padding. It leaves pools that have no padding of their own and say so.
Pool apart_from_pad(OpBuilder& b, const Pool& pool, double fill) {
  if (b.producer(b.behind(pool.x, {"Identity", "Expand", "Slice", "Cast"})) != "Pad") return pool;
  Pool apart = pool;
  Ints before = {0, 0};
  Ints after = {0, 0};
  for (WindowSpec& spec : apart.specs) {
    before.push_back(spec.padding);
    after.push_back(padding_after(spec));
    spec.size += before.back() + after.back();
    spec.padding = 0;
  }
  apart.x = b.pad(pool.x, before, after, "constant", fill);
  apart.says_valid = true;
  return apart;
}

/// Kernels refuse padding as wide as the window.
bool fits_kernel(const Pool& pool) {
  return std::all_of(pool.specs.begin(), pool.specs.end(), [](const WindowSpec& spec) {
    return spec.padding < spec.kernel && padding_after(spec) < spec.kernel;
  });
}

std::vector<Windows> windows_of_pool(const Pool& pool) {
  std::vector<Windows> windows;
  for (const WindowSpec& spec : pool.specs) windows.push_back(windows_of(spec));
  return windows;
}

void bind_shaped(OpBuilder& b, std::size_t index, const Tensor& value) {
  if (index < b.result_count()) b.bind(index, b.reshape(value, b.result(index).shape));
}

// ---- the largest ----

MaxResult max_pool_node(OpBuilder& b, const Pool& pool, bool indices) {
  if (!indices) {
    const Pool apart = apart_from_pad(b, pool, -std::numeric_limits<double>::infinity());
    return {b.add("MaxPool", {apart.x}, {pool.x.dtype, pool.shape}, pool_attributes(apart, true)), {}};
  }
  const std::vector<TensorType> types = {{pool.x.dtype, pool.shape}, {DType::kInt64, pool.shape}};
  const Tensors made = b.add_many("MaxPool", {pool.x}, types, pool_attributes(pool, true));
  // ONNX counts through the whole tensor, torch through one channel.
  std::int64_t plane = 1;
  for (const WindowSpec& spec : pool.specs) plane *= spec.size;
  return {made[0], b.binary("Mod", made[1], b.constant(plane, DType::kInt64))};
}

void bind_max(OpBuilder& b, const Pool& pool) {
  const bool indices = b.result_count() > 1 && !b.node().result(1)->unused();
  const bool values = !b.node().result(0)->unused();
  MaxResult made;
  if (is_floating(pool.x.dtype) && fits_kernel(pool)) {
    made = max_pool_node(b, pool, indices);
  } else {
    made = max_of_windows(b, pool.x, windows_of_pool(pool));
  }
  if (values) bind_shaped(b, 0, made.value);
  if (indices) bind_shaped(b, 1, made.indices);
}

void max_pool(OpBuilder& b) { bind_max(b, pool_arguments(b)); }

// ---- the mean ----

/// What torch divides the sum of each window by: [o...] of one dimension after the other.
std::vector<double> divisors(const Pool& pool, bool include_padding) {
  std::vector<double> all = {1.0};
  for (const WindowSpec& spec : pool.specs) {
    std::vector<double> next;
    for (const double before : all) {
      for (std::int64_t i = 0; i < spec.outputs; ++i) {
        const std::int64_t start = i * spec.stride - spec.padding;
        const std::int64_t low = include_padding ? start : std::max<std::int64_t>(start, 0);
        const std::int64_t limit = include_padding ? spec.size + spec.padding : spec.size;
        next.push_back(before * static_cast<double>(std::min(start + spec.kernel, limit) - low));
      }
    }
    all = std::move(next);
  }
  return all;
}

/// `numbers` for each output, as a constant that broadcasts against [N, C, o...].
Tensor per_output(OpBuilder& b, const Pool& pool, const std::vector<double>& numbers) {
  if (std::all_of(numbers.begin(), numbers.end(), [&](double n) { return n == numbers[0]; })) {
    return b.constant(numbers[0], pool.x.dtype);
  }
  return b.constant(std::vector<Scalar>(numbers.begin(), numbers.end()),
                    {pool.x.dtype, Shape(pool.shape.begin() + 2, pool.shape.end())});
}

Tensor plain_average(OpBuilder& b, const Pool& pool, bool include_padding) {
  const bool padded = std::any_of(pool.specs.begin(), pool.specs.end(),
                                  [](const WindowSpec& spec) { return spec.padding != 0 || padding_after(spec) != 0; });
  const Pool apart = include_padding || !padded ? apart_from_pad(b, pool, 0) : pool;
  Attributes attributes = pool_attributes(apart, false);
  if (include_padding) attributes.push_back({"count_include_pad", std::int64_t{1}});
  return b.add("AveragePool", {apart.x}, {pool.x.dtype, pool.shape}, std::move(attributes));
}

/// The kernel's mean over the whole window, put right where torch divides by something else.
Tensor average_node(OpBuilder& b, const Pool& pool, const std::vector<double>& wanted) {
  double taps = 1;
  for (const WindowSpec& spec : pool.specs) taps *= static_cast<double>(spec.kernel);
  const Tensor mean = plain_average(b, pool, true);
  std::vector<double> factors;
  for (const double divisor : wanted) factors.push_back(taps / divisor);
  if (std::all_of(factors.begin(), factors.end(), [](double f) { return f == 1; })) return mean;
  return b.binary("Mul", mean, per_output(b, pool, factors));
}

void avg_pool(OpBuilder& b) {
  const Pool pool = pool_arguments(b);
  if (!is_floating(pool.x.dtype)) return b.refuse("the mean of integers is computed in float32; cast before pooling");
  const bool include = b.flag("count_include_pad");
  const bool override = b.has("divisor_override");
  std::vector<double> wanted = divisors(pool, include);
  if (override) std::fill(wanted.begin(), wanted.end(), b.number("divisor_override"));
  if (pool.x.dtype == DType::kFloat64 || !fits_kernel(pool)) {
    const Tensor sum = sum_of_windows(b, pool.x, windows_of_pool(pool));
    return bind_shaped(b, 0, b.binary("Div", sum, per_output(b, pool, wanted)));
  }
  if (!include && !override) return bind_shaped(b, 0, plain_average(b, pool, false));
  bind_shaped(b, 0, average_node(b, pool, wanted));
}

// ---- adaptive ----

Pool adaptive_arguments(OpBuilder& b) {
  const std::int64_t dims = pooled_dims(b);
  Pool pool;
  pool.x = with_batch(b, b.operand("self", b.result().dtype), dims);
  pool.shape = batched_shape(b, pool.x);
  for (std::int64_t i = 0; i < dims; ++i) {
    const std::int64_t size = pool.x.size(i + 2);
    const std::int64_t outputs = at(pool.shape, i + 2);
    pool.specs.push_back({.size = size, .kernel = size / outputs, .stride = size / outputs, .outputs = outputs});
  }
  return pool;
}

bool evenly_divided(const Pool& pool) {
  return std::all_of(pool.specs.begin(), pool.specs.end(),
                     [](const WindowSpec& spec) { return spec.size % spec.outputs == 0; });
}

std::vector<Windows> windows_of_adaptive(const Pool& pool) {
  std::vector<Windows> windows;
  for (const WindowSpec& spec : pool.specs) windows.push_back(adaptive_windows(spec.size, spec.outputs));
  return windows;
}

void adaptive_max_pool(OpBuilder& b) {
  const Pool pool = adaptive_arguments(b);
  if (evenly_divided(pool)) return bind_max(b, pool);
  const MaxResult made = max_of_windows(b, pool.x, windows_of_adaptive(pool));
  if (!b.node().result(0)->unused()) bind_shaped(b, 0, made.value);
  if (!b.node().result(1)->unused()) bind_shaped(b, 1, made.indices);
}

void adaptive_avg_pool(OpBuilder& b) {
  const Pool pool = adaptive_arguments(b);
  const auto single = [](const WindowSpec& spec) { return spec.outputs == 1; };
  if (std::all_of(pool.specs.begin(), pool.specs.end(), single)) {
    Ints dims = iota(pool.x.rank());
    dims.erase(dims.begin(), dims.begin() + 2);
    return bind_shaped(b, 0, b.reduce("ReduceMean", pool.x, dims, true));
  }
  if (evenly_divided(pool) && pool.x.dtype != DType::kFloat64) {
    return bind_shaped(b, 0, plain_average(b, pool, false));
  }
  const std::vector<Windows> windows = windows_of_adaptive(pool);
  std::vector<double> counts = {1.0};
  for (const Windows& along : windows) {
    std::vector<double> next;
    for (const double before : counts) {
      for (const Ints& window : along) next.push_back(before * static_cast<double>(window.size()));
    }
    counts = std::move(next);
  }
  const Tensor sum = sum_of_windows(b, pool.x, windows);
  bind_shaped(b, 0, b.binary("Div", sum, per_output(b, pool, counts)));
}

// ---- unpooling ----

/// Each element to its index in the plane of its channel, zero elsewhere.
void max_unpool(OpBuilder& b) {
  const std::int64_t dims = pooled_dims(b);
  const Tensor x = b.operand("self", b.result().dtype);
  const std::int64_t planes = graph::element_count(Shape(x.shape.begin(), x.shape.end() - dims));
  const std::int64_t size = graph::element_count(b.result().shape) / std::max<std::int64_t>(planes, 1);
  if (x.elements() == 0) return b.bind(b.full(0.0, b.result()));
  const Shape flat = {planes, x.elements() / planes};
  const Tensor zeros = b.full(0.0, {x.dtype, {planes, size}});
  const Tensor indices = b.reshape(b.operand("indices", DType::kInt64), flat);
  bind_shaped(
      b, 0, b.add("ScatterElements", {zeros, indices, b.reshape(x, flat)}, zeros.type(), {{"axis", std::int64_t{1}}}));
}

/// The gradient to where the largest stood; windows that overlap add up.
void max_pool_backward(OpBuilder& b) {
  if (b.opset() < 16) return b.refuse("ScatterElements adds from opset 16 on; choose one of those");
  const Tensor gradient = b.operand("grad_output", b.result().dtype);
  const std::int64_t planes =
      graph::element_count(Shape(gradient.shape.begin(), gradient.shape.end() - pooled_dims(b)));
  const Tensor zeros = b.full(0.0, {gradient.dtype, {planes, graph::element_count(b.result().shape) / planes}});
  const Shape flat = {planes, gradient.elements() / planes};
  const Tensor indices = b.reshape(b.operand("indices", DType::kInt64), flat);
  bind_shaped(b, 0,
              b.add("ScatterElements", {zeros, indices, b.reshape(gradient, flat)}, zeros.type(),
                    {{"axis", std::int64_t{1}}, {"reduction", std::string("add")}}));
}

constexpr std::array kPoolingOps = {
    EmitEntry{"aten::_adaptive_avg_pool2d", adaptive_avg_pool},
    EmitEntry{"aten::_adaptive_avg_pool3d", adaptive_avg_pool},
    EmitEntry{"aten::_upsample_bicubic2d_aa", resize_antialiased, "cubic"},
    EmitEntry{"aten::_upsample_bicubic2d_aa.vec", resize_antialiased, "cubic"},
    EmitEntry{"aten::_upsample_bilinear2d_aa", resize_antialiased, "linear"},
    EmitEntry{"aten::_upsample_bilinear2d_aa.vec", resize_antialiased, "linear"},
    EmitEntry{"aten::_upsample_lanczos2d_aa", resize_antialiased, "lanczos"},
    EmitEntry{"aten::_upsample_lanczos2d_aa.vec", resize_antialiased, "lanczos"},
    EmitEntry{"aten::_upsample_nearest_exact1d", resize_nearest, "exact"},
    EmitEntry{"aten::_upsample_nearest_exact1d.vec", resize_nearest, "exact"},
    EmitEntry{"aten::_upsample_nearest_exact2d", resize_nearest, "exact"},
    EmitEntry{"aten::_upsample_nearest_exact2d.vec", resize_nearest, "exact"},
    EmitEntry{"aten::_upsample_nearest_exact3d", resize_nearest, "exact"},
    EmitEntry{"aten::_upsample_nearest_exact3d.vec", resize_nearest, "exact"},
    EmitEntry{"aten::adaptive_avg_pool1d", adaptive_avg_pool},
    EmitEntry{"aten::adaptive_avg_pool2d", adaptive_avg_pool},
    EmitEntry{"aten::adaptive_avg_pool3d", adaptive_avg_pool},
    EmitEntry{"aten::adaptive_max_pool1d", adaptive_max_pool},
    EmitEntry{"aten::adaptive_max_pool2d", adaptive_max_pool},
    EmitEntry{"aten::adaptive_max_pool3d", adaptive_max_pool},
    EmitEntry{"aten::affine_grid_generator", affine_grid},
    EmitEntry{"aten::avg_pool1d", avg_pool},
    EmitEntry{"aten::avg_pool2d", avg_pool},
    EmitEntry{"aten::avg_pool3d", avg_pool},
    EmitEntry{"aten::grid_sampler", grid_sample},
    EmitEntry{"aten::grid_sampler_2d", grid_sample},
    EmitEntry{"aten::grid_sampler_3d", grid_sample},
    EmitEntry{"aten::max_pool1d", max_pool},
    EmitEntry{"aten::max_pool1d_with_indices", max_pool},
    EmitEntry{"aten::max_pool2d", max_pool},
    EmitEntry{"aten::max_pool2d_with_indices", max_pool},
    EmitEntry{"aten::max_pool2d_with_indices_backward", max_pool_backward},
    EmitEntry{"aten::max_pool3d", max_pool},
    EmitEntry{"aten::max_pool3d_with_indices", max_pool},
    EmitEntry{"aten::max_unpool2d", max_unpool},
    EmitEntry{"aten::max_unpool3d", max_unpool},
    EmitEntry{"aten::upsample_bicubic2d", resize_smooth, "cubic"},
    EmitEntry{"aten::upsample_bicubic2d.vec", resize_smooth, "cubic"},
    EmitEntry{"aten::upsample_bilinear2d", resize_smooth, "linear"},
    EmitEntry{"aten::upsample_bilinear2d.vec", resize_smooth, "linear"},
    EmitEntry{"aten::upsample_linear1d", resize_smooth, "linear"},
    EmitEntry{"aten::upsample_linear1d.vec", resize_smooth, "linear"},
    EmitEntry{"aten::upsample_nearest1d", resize_nearest},
    EmitEntry{"aten::upsample_nearest1d.vec", resize_nearest},
    EmitEntry{"aten::upsample_nearest2d", resize_nearest},
    EmitEntry{"aten::upsample_nearest2d.vec", resize_nearest},
    EmitEntry{"aten::upsample_nearest3d", resize_nearest},
    EmitEntry{"aten::upsample_nearest3d.vec", resize_nearest},
    EmitEntry{"aten::upsample_trilinear3d", resize_smooth, "linear"},
    EmitEntry{"aten::upsample_trilinear3d.vec", resize_smooth, "linear"},
};

}  // namespace

EmitEntries pooling_ops() { return kPoolingOps; }

}  // namespace leapp::onnx_ops
