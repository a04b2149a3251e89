// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/work.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "engine/native/ops/arguments.h"
#include "engine/native/ops/common.h"

namespace leapp::native {
namespace {

double extent_product(std::initializer_list<std::int64_t> extents) {
  double product = 1;
  for (const std::int64_t extent : extents) product *= static_cast<double>(extent);
  return product;
}

double window_products(const kernels::ConvolutionShape& shape, const std::int64_t (&places)[2]) {
  const kernels::Window& window = shape.window;
  return extent_product({shape.batch, shape.out_channels, shape.in_channels, places[0], places[1], window.kernel[0],
                         window.kernel[1]}) /
         static_cast<double>(std::max<std::int64_t>(shape.groups, 1));
}

/// What is done beyond looking at each element once.
double products_in(const KernelCall& call) {
  const std::string_view kernel = call.kernel->name;
  if (kernel == "matmul packed") {
    const auto& args = call.as<kernels::MatMulPacked>();
    return extent_product({args.m, args.k, args.n});
  }
  if (kernel == "matmul") {
    const auto& args = call.as<kernels::MatMul>();
    return extent_product({args.batch, args.m, args.k, args.n});
  }
  if (kernel == "scalar matmul") {
    const auto& args = call.as<ScalarMatMul>();
    return extent_product({args.batch, args.m, args.k, args.n});
  }
  if (kernel == "convolution") {
    const auto& shape = call.as<kernels::Convolution>().shape;
    return window_products(shape, shape.out);
  }
  if (kernel == "convolution transposed") {
    const auto& shape = call.as<kernels::ConvolutionTransposed>().shape;
    return window_products(shape, shape.in);
  }
  if (kernel == "pooling") {
    const auto& args = call.as<kernels::Pooling>();
    return extent_product({args.planes, args.out[0], args.out[1], args.window.kernel[0], args.window.kernel[1]});
  }
  if (kernel == "interpolate") {
    const auto& args = call.as<Taps>();
    return extent_product({args.outer, args.out, args.inner, args.taps});
  }
  if (kernel == "local response") {
    const auto& args = call.as<LocalResponse>();
    return extent_product({args.batch, args.channels, args.inner, args.size});
  }
  if (kernel == "determinant") {
    const auto& args = call.as<Determinant>();
    return extent_product({args.batch, args.n, args.n, args.n});
  }
  if (kernel == "gru cell" || kernel == "lstm cell" || kernel == "rnn cell") {
    const auto& args = call.as<kernels::RecurrentCell>();
    return 4 * extent_product({args.batch, args.hidden, args.hidden});
  }
  return 0;
}

/// Of sorting, of sixteen places around each, of functions that are long.
double per_element(std::string_view kernel) {
  return kernel == "top k" ? 32 : kernel == "grid sample" ? 16 : kernel.starts_with("scalar") ? 4 : 1;
}

}  // namespace

double work_of(const Plan& plan, const Block& block) {
  double work = 0;
  for (const KernelCall& call : block) {
    double elements = 0;
    for (const Operand& operand : call.operands) {
      const PlanValue& value = plan.values[operand.value];
      elements += static_cast<double>(value.bytes) / static_cast<double>(dtype_size(value.dtype));
    }
    work += elements * per_element(call.kernel->name) + products_in(call);
    for (const Block& inner : call.blocks) work += work_of(plan, inner);
  }
  return work;
}

}  // namespace leapp::native
