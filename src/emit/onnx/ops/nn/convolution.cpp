// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/nn/windows.h"

namespace leapp::onnx_ops {
namespace {

struct Convolution {
  Tensor x;       // [N, C, i...]
  Tensor weight;  // [O, C / groups, k...]; transposed: [C, O / groups, k...]
  Tensor bias;    // may be absent
  Ints stride;
  Ints before;  // padding
  Ints after;
  Ints dilation;
  Ints output_padding;  // transposed only
  std::int64_t groups = 1;
};

/// Everything but padding. A convolution without a batch gets one of 1.
Convolution arguments(OpBuilder& b, std::string_view input) {
  const DType dtype = b.result().dtype;
  Convolution c;
  c.x = b.operand(input, dtype);
  c.weight = b.operand("weight", dtype);
  if (b.has("bias")) c.bias = b.operand("bias", dtype);
  const std::int64_t dims = c.weight.rank() - 2;
  if (c.x.rank() == dims + 1) c.x = b.unsqueeze(c.x, {0});
  c.stride = per_dimension(b.integers("stride"), dims);
  c.dilation = per_dimension(b.integers("dilation"), dims);
  c.groups = b.integer("groups");
  return c;
}

Attributes attributes(const Convolution& c) {
  Ints pads = c.before;
  pads.insert(pads.end(), c.after.begin(), c.after.end());
  Attributes list = {{"dilations", c.dilation},
                     {"group", c.groups},
                     {"kernel_shape", Ints(c.weight.shape.begin() + 2, c.weight.shape.end())},
                     {"pads", pads},
                     {"strides", c.stride}};
  if (!c.output_padding.empty()) list.push_back({"output_padding", c.output_padding});
  return list;
}

/// The result's shape with the batch that the input has.
Shape batched_shape(const OpBuilder& b, const Convolution& c) {
  Shape shape = b.result().shape;
  if (std::ssize(shape) < c.x.rank()) shape.insert(shape.begin(), 1);
  return shape;
}

void bind_result(OpBuilder& b, const Tensor& value) { b.bind(b.reshape(value, b.result().shape)); }

Tensor along_channels(OpBuilder& b, const Tensor& bias, std::int64_t dims) {
  Shape along(static_cast<std::size_t>(dims + 1), 1);
  along[0] = bias.elements();
  return b.reshape(bias, along);
}

/// As a matrix product over gathered windows: for dtypes that Conv has no kernel of.
Tensor convolve_as_product(OpBuilder& b, const Convolution& c, const Shape& shape) {
  const std::int64_t dims = c.weight.rank() - 2;
  Ints before = {0, 0};
  Ints after = {0, 0};
  std::vector<WindowSpec> specs;
  std::int64_t outputs = 1;
  for (std::int64_t i = 0; i < dims; ++i) {
    before.push_back(at(c.before, i));
    after.push_back(at(c.after, i));
    specs.push_back({.size = c.x.size(i + 2),
                     .kernel = c.weight.size(i + 2),
                     .stride = at(c.stride, i),
                     .dilation = at(c.dilation, i),
                     .outputs = at(shape, i + 2)});
    outputs *= at(shape, i + 2);
  }
  const Tensor padded = b.pad(c.x, before, after, "constant", std::int64_t{0});
  const std::int64_t inner = c.weight.elements() / c.weight.size(0);
  const Tensor seen = b.reshape(gather_windows(b, padded, specs), {c.x.size(0), c.groups, inner, outputs});
  const Tensor weight = b.reshape(c.weight, {c.groups, c.weight.size(0) / c.groups, inner});
  const Tensor value = b.reshape(b.matmul(weight, seen), shape);
  if (!c.bias.present()) return value;
  return b.binary("Add", value, along_channels(b, c.bias, dims));
}

void convolve(OpBuilder& b, const Convolution& c) {
  const Shape shape = batched_shape(b, c);
  if (c.x.elements() == 0) {
    // No channels: nothing to add up but the bias.
    if (!c.bias.present()) return b.bind(b.full(0.0, b.result()));
    return b.refuse("a convolution over an empty input has no ONNX form");
  }
  if (c.x.dtype == DType::kFloat64 || is_integer(c.x.dtype)) return bind_result(b, convolve_as_product(b, c, shape));
  Tensors inputs = {c.x, c.weight};
  if (c.bias.present()) inputs.push_back(c.bias);
  bind_result(b, b.add("Conv", inputs, {c.x.dtype, shape}, attributes(c)));
}

/// The whole of it, then cut or padded: kernels refuse an output_padding as large as the stride.
Tensor transposed_then_cut(OpBuilder& b, Convolution c, const Shape& shape) {
  const std::int64_t dims = c.weight.rank() - 2;
  const Ints before = std::exchange(c.before, Ints(c.before.size(), 0));
  const Tensor bias = std::exchange(c.bias, Tensor{});
  c.after = c.before;
  c.output_padding.clear();
  Shape full = shape;
  for (std::int64_t i = 0; i < dims; ++i) {
    const auto index = static_cast<std::size_t>(i);
    full[index + 2] = (c.x.size(i + 2) - 1) * c.stride[index] + c.dilation[index] * (c.weight.size(i + 2) - 1) + 1;
  }
  Tensor value = b.add("ConvTranspose", {c.x, c.weight}, {c.x.dtype, full}, attributes(c));
  Ints missing(shape.size(), 0);
  for (std::int64_t i = 0; i < dims; ++i) {
    const std::int64_t end = at(before, i) + at(shape, i + 2);
    missing[static_cast<std::size_t>(i + 2)] = std::max<std::int64_t>(end - value.size(i + 2), 0);
    value = b.slice(value, i + 2, at(before, i), std::min(end, value.size(i + 2)));
  }
  value = b.pad(value, Ints(shape.size(), 0), missing, "constant", 0.0);
  return bias.present() ? b.binary("Add", value, along_channels(b, bias, dims)) : value;
}

void convolve_transposed(OpBuilder& b, const Convolution& c) {
  if (c.x.elements() == 0) return b.refuse("a convolution over an empty input has no ONNX form");
  const Shape shape = batched_shape(b, c);
  for (std::size_t i = 0; i < c.output_padding.size(); ++i) {
    if (c.output_padding[i] >= c.stride[i]) return bind_result(b, transposed_then_cut(b, c, shape));
  }
  Tensors inputs = {c.x, c.weight};
  if (c.bias.present()) inputs.push_back(c.bias);
  bind_result(b, b.add("ConvTranspose", inputs, {c.x.dtype, shape}, attributes(c)));
}

/// padding given as numbers, the same before and after.
void set_padding(OpBuilder& b, Convolution& c) {
  c.before = per_dimension(b.integers("padding"), c.weight.rank() - 2);
  c.after = c.before;
}

void conv(OpBuilder& b) {
  Convolution c = arguments(b, "input");
  set_padding(b, c);
  convolve(b, c);
}

void conv_transpose(OpBuilder& b) {
  Convolution c = arguments(b, "input");
  set_padding(b, c);
  c.output_padding = per_dimension(b.integers("output_padding"), c.weight.rank() - 2);
  convolve_transposed(b, c);
}

void convolution(OpBuilder& b) {
  if (b.flag("transposed")) return conv_transpose(b);
  conv(b);
}

/// padding="valid": none; "same": as many outputs as inputs, the odd one after.
void conv_named_padding(OpBuilder& b) {
  Convolution c = arguments(b, "input");
  const std::string padding = b.text("padding");
  const std::int64_t dims = c.weight.rank() - 2;
  for (std::int64_t i = 0; i < dims; ++i) {
    const std::int64_t total = padding == "same" ? at(c.dilation, i) * (c.weight.size(i + 2) - 1) : 0;
    c.before.push_back(total / 2);
    c.after.push_back(total - total / 2);
  }
  convolve(b, c);
}

/// Time, batch, channel; weight [k, in, out].
void conv_tbc(OpBuilder& b) {
  const DType dtype = b.result().dtype;
  const std::int64_t pad = b.integer("pad");
  Convolution c;
  c.x = b.transpose(b.operand("self", dtype), {1, 2, 0});
  c.weight = b.transpose(b.operand("weight", dtype), {2, 1, 0});
  c.bias = b.operand("bias", dtype);
  c.stride = {1};
  c.dilation = {1};
  c.before = {pad};
  c.after = {pad};
  const Shape& shape = b.result().shape;
  const Shape moved = {shape[1], shape[2], shape[0]};
  const Tensor value = dtype == DType::kFloat64 ? convolve_as_product(b, c, moved)
                                                : b.add("Conv", {c.x, c.weight, c.bias}, {dtype, moved}, attributes(c));
  b.bind(b.transpose(value, {2, 0, 1}));
}

// ---- patches ----

std::vector<WindowSpec> patch_specs(OpBuilder& b, const Shape& padded) {
  const Ints kernel = per_dimension(b.integers("kernel_size"), 2);
  const Ints stride = per_dimension(b.integers("stride"), 2);
  const Ints dilation = per_dimension(b.integers("dilation"), 2);
  std::vector<WindowSpec> specs;
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::int64_t extent = at(dilation, i) * (at(kernel, i) - 1) + 1;
    const std::int64_t size = padded[padded.size() - 2 + static_cast<std::size_t>(i)];
    specs.push_back({.size = size,
                     .kernel = at(kernel, i),
                     .stride = at(stride, i),
                     .dilation = at(dilation, i),
                     .outputs = (size - extent) / at(stride, i) + 1});
  }
  return specs;
}

/// Every window as a column.
void im2col(OpBuilder& b) {
  Tensor x = b.operand("self", b.result().dtype);
  if (x.rank() == 3) x = b.unsqueeze(x, {0});
  const Ints padding = per_dimension(b.integers("padding"), 2);
  const Ints around = {0, 0, padding[0], padding[1]};
  const Tensor padded = b.pad(x, around, around, "constant", std::int64_t{0});
  bind_result(b, gather_windows(b, padded, patch_specs(b, padded.shape)));
}

/// The sum of the columns where they came from: what a transposed convolution with unit kernels does.
void col2im(OpBuilder& b) {
  const Tensor x = b.operand("self", b.result().dtype);
  const Ints size = b.integers("output_size");
  const Ints padding = per_dimension(b.integers("padding"), 2);
  const Shape padded = {size[0] + 2 * padding[0], size[1] + 2 * padding[1]};
  const std::vector<WindowSpec> specs = patch_specs(b, padded);
  const std::int64_t taps = specs[0].kernel * specs[1].kernel;
  const std::int64_t rows = x.size(-2);
  Convolution c;
  c.x = b.reshape(x, {x.rank() == 3 ? x.size(0) : 1, rows, specs[0].outputs, specs[1].outputs});
  std::vector<Scalar> unit;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t tap = 0; tap < taps; ++tap) unit.emplace_back(row % taps == tap ? 1.0 : 0.0);
  }
  c.weight = b.constant(unit, {x.dtype, {rows, 1, specs[0].kernel, specs[1].kernel}});
  c.before = padding;
  c.after = padding;
  c.groups = rows / taps;
  for (std::int64_t i = 0; i < 2; ++i) {
    const WindowSpec& spec = specs[static_cast<std::size_t>(i)];
    c.stride.push_back(spec.stride);
    c.dilation.push_back(spec.dilation);
    const std::int64_t reached = (spec.outputs - 1) * spec.stride + spec.dilation * (spec.kernel - 1) + 1;
    c.output_padding.push_back(at(padded, i) - reached);
  }
  const Shape shape = {c.x.size(0), c.groups, size[0], size[1]};
  bind_result(b, b.add("ConvTranspose", {c.x, c.weight}, {x.dtype, shape}, attributes(c)));
}

constexpr std::array kConvolutionOps = {
    EmitEntry{"aten::_convolution", convolution},
    EmitEntry{"aten::_convolution.deprecated", convolution},
    EmitEntry{"aten::_convolution_mode", conv_named_padding},
    EmitEntry{"aten::col2im", col2im},
    EmitEntry{"aten::conv1d", conv},
    EmitEntry{"aten::conv1d.padding", conv_named_padding},
    EmitEntry{"aten::conv2d", conv},
    EmitEntry{"aten::conv2d.padding", conv_named_padding},
    EmitEntry{"aten::conv3d", conv},
    EmitEntry{"aten::conv3d.padding", conv_named_padding},
    EmitEntry{"aten::conv_tbc", conv_tbc},
    EmitEntry{"aten::conv_transpose1d", conv_transpose},
    EmitEntry{"aten::conv_transpose2d.input", conv_transpose},
    EmitEntry{"aten::conv_transpose3d.input", conv_transpose},
    EmitEntry{"aten::convolution", convolution},
    EmitEntry{"aten::im2col", im2col},
};

}  // namespace

EmitEntries convolution_ops() { return kConvolutionOps; }

}  // namespace leapp::onnx_ops
