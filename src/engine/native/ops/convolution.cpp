// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/matrices.h"
#include "engine/native/ops/windows.h"

namespace leapp::native {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 30U;
constexpr Kernel kPackConvolution = kernel_of<&kernels::pack_convolution>("pack convolution");
constexpr Kernel kConvolutionTransposed = kernel_of<&kernels::convolution_transposed>("convolution transposed");

std::vector<std::int64_t> per_axis(Lowering& b, std::string_view name, std::size_t count, std::int64_t otherwise) {
  std::vector<std::int64_t> numbers = b.attr_ints(name).value_or(std::vector<std::int64_t>{});
  if (numbers.empty()) numbers.assign(count, otherwise);
  if (numbers.size() != count) refuse(fmt::format("{} of another length", name));
  for (const std::int64_t number : numbers) {
    if (number < otherwise || number > kLargest) refuse(fmt::format("{} out of range", name));
  }
  return numbers;
}

struct Axis {
  std::int64_t in = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

std::int64_t same_padding(const Axis& axis) {
  const std::int64_t out = (axis.in + axis.stride - 1) / axis.stride;
  return std::max<std::int64_t>(0, (out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - axis.in);
}

std::int64_t result_extent(const Axis& axis, bool ceil) {
  const std::int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
  const std::int64_t room = axis.in + axis.begin + axis.end - reach;
  if (room < 0) refuse("a window that is larger than its input");
  std::int64_t out = (ceil ? (room + axis.stride - 1) / axis.stride : room / axis.stride) + 1;
  // A window that would begin behind the input is left out.
  if (ceil && (out - 1) * axis.stride >= axis.in + axis.begin) --out;
  return out;
}

}  // namespace

WindowShape window_of(Lowering& b, const Shape& kernel, std::span<const std::int64_t> spatial, bool ceil) {
  const std::size_t count = spatial.size();
  if (count < 1 || count > 2) refuse(fmt::format("{} spatial axes", count));
  if (kernel.size() != count) refuse("a kernel of another rank");
  const auto strides = per_axis(b, "strides", count, 1);
  const auto dilations = per_axis(b, "dilations", count, 1);
  const auto pads = per_axis(b, "pads", 2 * count, 0);
  const std::string mode = b.attr_string("auto_pad", "NOTSET");
  WindowShape result;
  result.axes = static_cast<int>(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (kernel[i] < 1 || kernel[i] > kLargest || spatial[i] > kLargest) refuse("extents out of range");
    Axis axis{spatial[i], kernel[i], strides[i], dilations[i], pads[i], pads[count + i]};
    if (mode == "VALID") axis.begin = axis.end = 0;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const std::int64_t total = same_padding(axis);
      axis.begin = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      axis.end = total - axis.begin;
    }
    const std::size_t at = i + 2 - count;
    result.window.kernel[at] = axis.kernel;
    result.window.stride[at] = axis.stride;
    result.window.dilation[at] = axis.dilation;
    result.window.pad[at] = axis.begin;
    result.pad_end[at] = axis.end;
    result.in[at] = axis.in;
    result.out[at] = result_extent(axis, ceil);
  }
  return result;
}

Shape result_shape(const WindowShape& window, std::int64_t batch, std::int64_t channels) {
  Shape shape = {batch, channels};
  if (window.axes == 2) shape.push_back(window.out[0]);
  shape.push_back(window.out[1]);
  return shape;
}

namespace {

ValueId packed_convolution(Lowering& b, const kernels::ConvolutionShape& shape, ValueId weights) {
  kernels::PackConvolution args;
  args.shape = shape;
  args.storage = storage_of(b.dtype(weights));
  const std::size_t bytes = kernels::packed_convolution_bytes(shape, args.storage);
  if (b.is_constant(weights)) {
    b.expect_room(bytes);
    args.source = b.aligned_bytes(weights);
    const ValueId packed = b.constant_bytes(bytes, [&](std::byte* to) {
      args.to = to;
      kernels::pack_convolution(args);
    });
    b.set_packed(packed, {.from = weights});
    return packed;
  }
  const ValueId packed = b.make_bytes(bytes);
  CallMaker make(kPackConvolution, args);
  b.add(make.read(args.source, weights).write(args.to, packed).take());
  return packed;
}

kernels::ConvolutionShape shape_of(const WindowShape& window, std::int64_t batch, std::int64_t in, std::int64_t out,
                                   std::int64_t groups) {
  kernels::ConvolutionShape shape;
  shape.batch = batch;
  shape.in_channels = in;
  shape.out_channels = out;
  shape.groups = groups;
  for (std::size_t i = 0; i < 2; ++i) {
    shape.in[i] = window.in[i];
    shape.out[i] = window.out[i];
  }
  shape.window = window.window;
  return shape;
}

ValueId bias_of(Lowering& b, std::int64_t channels) {
  if (!b.has_input(2)) return kNoValue;
  const ValueId bias = as_float32(b, b.input(2));
  if (b.elements(bias) != channels) refuse("one bias per channel expected");
  return bias;
}

void lower_conv(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  const ValueId weights = b.input(1);
  if (!is_single(b.dtype(weights))) refuse("weights of another type");
  if (b.rank(x) < 3 || b.rank(weights) != b.rank(x)) refuse("expects channels of something");
  const std::span<const std::int64_t> dims = b.shape(x);
  const std::span<const std::int64_t> kernel = b.shape(weights);
  const std::int64_t groups = b.attr_int("group", 1);
  if (groups < 1 || dims[1] % groups != 0 || kernel[0] % groups != 0 || kernel[1] * groups != dims[1]) {
    refuse("channels that do not go with its weights");
  }
  const WindowShape window = window_of(b, {kernel.begin() + 2, kernel.end()}, dims.subspan(2), false);
  kernels::Convolution args;
  args.shape = shape_of(window, dims[0], dims[1], kernel[0], groups);
  args.storage = storage_of(b.dtype(weights));
  const ValueId bias = bias_of(b, kernel[0]);
  const ValueId y = b.make(DType::kFloat32, result_shape(window, dims[0], kernel[0]));
  if (b.elements(y) == 0 || b.elements(x) == 0) refuse("of nothing");
  const ValueId packed = packed_convolution(b, args.shape, weights);
  const ValueId scratch = b.make_bytes(kernels::convolution_scratch_bytes(args.shape));
  CallMaker make(kConvolution, args);
  make.read(args.x, x).read(args.packed, packed).read(args.bias, bias).write(args.y, y);
  b.add(make.scratch(args.scratch, scratch).take());
  bind_as(b, 0, y, b.dtype(given));
}

void lower_conv_transpose(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  const ValueId weights = as_float32(b, b.input(1));
  if (b.rank(x) < 3 || b.rank(x) > 4 || b.rank(weights) != b.rank(x)) refuse("expects one or two spatial axes");
  const std::span<const std::int64_t> dims = b.shape(x);
  const std::span<const std::int64_t> kernel = b.shape(weights);
  const std::size_t count = dims.size() - 2;
  const std::int64_t groups = b.attr_int("group", 1);
  if (groups < 1 || kernel[0] != dims[1] || dims[1] % groups != 0) refuse("channels that do not go with its weights");
  if (b.has_attr("output_shape") || b.attr_string("auto_pad", "NOTSET") != "NOTSET") refuse("a given output shape");
  const auto strides = per_axis(b, "strides", count, 1);
  const auto dilations = per_axis(b, "dilations", count, 1);
  const auto pads = per_axis(b, "pads", 2 * count, 0);
  const auto extra = per_axis(b, "output_padding", count, 0);
  WindowShape window;
  window.axes = static_cast<int>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i + 2 - count;
    if (dims[2 + i] < 1 || dims[2 + i] > kLargest || kernel[2 + i] < 1 || kernel[2 + i] > kLargest)
      refuse("of nothing");
    window.in[at] = dims[2 + i];
    window.window.kernel[at] = kernel[2 + i];
    window.window.stride[at] = strides[i];
    window.window.dilation[at] = dilations[i];
    window.window.pad[at] = pads[i];
    window.out[at] =
        (dims[2 + i] - 1) * strides[i] + extra[i] + (kernel[2 + i] - 1) * dilations[i] + 1 - pads[i] - pads[count + i];
    if (window.out[at] < 1) refuse("nothing is left");
  }
  const std::int64_t channels = kernel[1] * groups;
  kernels::ConvolutionTransposed args;
  args.shape = shape_of(window, dims[0], dims[1], channels, groups);
  const ValueId bias = bias_of(b, channels);
  const ValueId y = b.make(DType::kFloat32, result_shape(window, dims[0], channels));
  CallMaker make(kConvolutionTransposed, args);
  b.add(make.read(args.x, x).read(args.weights, weights).read(args.bias, bias).write(args.y, y).take());
  bind_as(b, 0, y, b.dtype(given));
}

constexpr std::array kConvolutionOps = {LowerEntry{"Conv", lower_conv},
                                        LowerEntry{"ConvTranspose", lower_conv_transpose}};

}  // namespace

LowerEntries convolution_ops() { return kConvolutionOps; }

}  // namespace leapp::native
