// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/windows.h"

namespace leapp::native {
namespace {

constexpr Kernel kPooling = kernel_of<&kernels::pooling>("pooling");
constexpr Kernel kReduceWindow = kernel_of<&kernels::reduce>("reduce");

void lower_pool(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  if (b.has_output(1)) refuse("the places of the maxima");
  const std::span<const std::int64_t> dims = b.shape(x);
  if (dims.size() < 3) refuse("expects channels of something");
  const WindowShape window =
      window_of(b, b.attr_ints("kernel_shape").value_or(Shape{}), dims.subspan(2), b.attr_int("ceil_mode", 0) != 0);
  kernels::Pooling args;
  args.planes = dims[0] * dims[1];
  for (std::size_t i = 0; i < 2; ++i) {
    args.in[i] = window.in[i];
    args.out[i] = window.out[i];
    args.pad_end[i] = window.pad_end[i];
  }
  args.window = window.window;
  args.average = b.op() == "AveragePool";
  args.count_padding = b.attr_int("count_include_pad", 0) != 0;
  const ValueId y = b.make(DType::kFloat32, result_shape(window, dims[0], dims[1]));
  if (b.elements(y) == 0 || b.elements(x) == 0) refuse("of nothing");
  CallMaker make(kPooling, args);
  b.add(make.read(args.x, x).write(args.y, y).take());
  bind_as(b, 0, y, b.dtype(given));
}

void lower_global_pool(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  const std::span<const std::int64_t> dims = b.shape(x);
  if (dims.size() < 3) refuse("expects channels of something");
  kernels::Reduce args;
  args.reduction = b.op() == "GlobalAveragePool" ? kernels::Reduction::kMean : kernels::Reduction::kMax;
  args.outer = dims[0] * dims[1];
  args.reduced = product(dims.subspan(2));
  if (args.reduced == 0) refuse("of nothing");
  Shape shape(dims.size(), 1);
  shape[0] = dims[0];
  shape[1] = dims[1];
  const ValueId y = b.make(DType::kFloat32, shape);
  CallMaker make(kReduceWindow, args);
  b.add(make.read(args.x, x).write(args.y, y).take());
  bind_as(b, 0, y, b.dtype(given));
}

constexpr std::array kPoolingOps = {
    LowerEntry{"MaxPool", lower_pool},
    LowerEntry{"AveragePool", lower_pool},
    LowerEntry{"GlobalMaxPool", lower_global_pool},
    LowerEntry{"GlobalAveragePool", lower_global_pool},
};

}  // namespace

LowerEntries pooling_ops() { return kPoolingOps; }

}  // namespace leapp::native
