// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The numbers are what bench/operators.py measured, rounded up: nanoseconds that a kernel needs more than ONNX
// Runtime's, for each piece of its work. A kernel that is as fast or faster has none.
#include "engine/native/speed.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "engine/native/ops/arguments.h"
#include "engine/native/ops/common.h"

namespace leapp::native {
namespace {

/// What ONNX Runtime spends around a run, and around each node of a model: checks, tensors, memory, calls through its
/// tables.
constexpr double kPerRun = 800;
constexpr double kPerNode = 300;

/// Of kernels whose work is the elements that they read or write, whichever are more.
struct Loss {
  std::string_view kernel;
  double per_element;
};
constexpr std::array kLosses = {
    Loss{"arg best", 0.35},     Loss{"cast", 0.2},         Loss{"normalise", -0.3},       Loss{"gather elements", 4.5},
    Loss{"grid sample", 4.5},   Loss{"interpolate", 2},    Loss{"local response", 1},     Loss{"one hot", 2.5},
    Loss{"scalar binary", 0.3}, Loss{"scalar bits", 0.3},  Loss{"scalar reduce", 2},      Loss{"scalar softmax", 7},
    Loss{"scalar unary", 0.2},  Loss{"scalar where", 0.3}, Loss{"scatter elements", 0.5}, Loss{"scatter nd", 0.5},
    Loss{"softmax", 0.45},      Loss{"top k", 2},
};

double elements_of(const Plan& plan, const KernelCall& call) {
  double count = 0;
  for (const Operand& operand : call.operands) {
    if (operand.access == Access::kScratch) continue;
    const PlanValue& value = plan.values[operand.value];
    count = std::max(count, static_cast<double>(value.bytes) / static_cast<double>(dtype_size(value.dtype)));
  }
  return count;
}

double product_of(std::initializer_list<std::int64_t> extents) {
  double product = 1;
  for (const std::int64_t extent : extents) product *= static_cast<double>(extent);
  return product;
}

/// One row is bound by memory, and read once. Of many that fit into no cache, weights are read again, but for long
/// rows, which are multiplied in slices.
double loss_of(const kernels::MatMulPacked& args, bool bias) {
  const double products = product_of({args.m, args.k, args.n});
  if (args.m == 1) return -0.003 * products;
  const bool sliced = args.k > 512;
  const bool again = !sliced && product_of({args.m, args.k}) > 131072 && product_of({args.k, args.n}) > 262144;
  // What ONNX Runtime does in passes of its own.
  const double fused = (bias ? 0.15 : 0) + (args.activation.function != kernels::Unary::kIdentity ? 0.1 : 0);
  return (again ? 0.01 : 0.0015) * products - fused * product_of({args.m, args.n});
}

double loss_of(const kernels::MatMul& args) { return 0.01 * product_of({args.batch, args.m, args.k, args.n}); }

double products_of(const kernels::ConvolutionShape& shape, const std::int64_t (&places)[2]) {
  return product_of({shape.batch, shape.out_channels, shape.in_channels / std::max<std::int64_t>(shape.groups, 1),
                     places[0], places[1], shape.window.kernel[0], shape.window.kernel[1]});
}

/// Small pictures are as fast, and so is what strides over them; what fits into no cache is not.
double loss_of(const kernels::Convolution& args) {
  const kernels::ConvolutionShape& shape = args.shape;
  const double products = products_of(shape, shape.out);
  if (shape.groups > 1 && shape.groups == shape.in_channels) return 0.12 * products;
  if (products > 3e7) return 0.01 * products;
  const bool small = product_of({shape.out[0], shape.out[1]}) < 256 || shape.window.stride[1] > 1;
  return small ? 0 : 0.003 * products;
}

double loss_of(const kernels::Pooling& args) {
  return 1.25 * product_of({args.planes, args.out[0], args.out[1], args.window.kernel[0], args.window.kernel[1]});
}

double loss_of(const kernels::Reduce& args) {
  const double elements = product_of({args.outer, args.reduced, args.inner});
  return (args.reduction == kernels::Reduction::kLogSumExp ? 3 : 0.05) * elements;
}

double loss_of(const kernels::ElementwiseOp& op) {
  if (op.kind != kernels::ElementwiseOp::Kind::kUnary) return 0;
  switch (op.unary) {
    case kernels::Unary::kExp:
    case kernels::Unary::kTanh:
    case kernels::Unary::kSigmoid:
      return 0.25;
    case kernels::Unary::kErf:
    case kernels::Unary::kGelu:
    case kernels::Unary::kGeluTanh:
      return 0.5;
    case kernels::Unary::kAsin:
    case kernels::Unary::kAcos:
      return 0.75;
    default:
      return 0;
  }
}

double loss_of(const kernels::Elementwise& args) {
  double loss = 0;
  for (std::size_t i = 0; i < args.op_count; ++i) loss += loss_of(args.ops[i]);
  for (std::size_t i = 0; i < args.input_count; ++i) loss += args.operands[i].column_stride == 0 ? 0.1 : 0;
  return loss * product_of({args.rows, args.columns});
}

/// Rows that lie together are moved as such; single elements that stand apart are slow.
double loss_of(const StridedCopy& args) {
  double elements = 1;
  for (int i = 0; i < args.rank; ++i) elements *= static_cast<double>(args.shape[i]);
  const int last = args.rank - 1;
  const bool together = args.rank == 0 || (args.from_stride[last] == args.width && args.to_stride[last] == args.width);
  return (together ? -0.2 : 0.4) * elements;
}

bool has_operand(const KernelCall& call, std::size_t field) {
  return std::any_of(call.operands.begin(), call.operands.end(),
                     [&](const Operand& operand) { return operand.field == field; });
}

double loss_of(const Plan& plan, const KernelCall& call) {
  const std::string_view kernel = call.kernel->name;
  if (kernel == "matmul packed") {
    return loss_of(call.as<kernels::MatMulPacked>(), has_operand(call, offsetof(kernels::MatMulPacked, bias)));
  }
  if (kernel == "copy") return loss_of(call.as<StridedCopy>());
  if (kernel == "matmul") return loss_of(call.as<kernels::MatMul>());
  if (kernel == "convolution") return loss_of(call.as<kernels::Convolution>());
  if (kernel == "pooling") return loss_of(call.as<kernels::Pooling>());
  if (kernel == "reduce") return loss_of(call.as<kernels::Reduce>());
  if (kernel == "elementwise") return loss_of(call.as<kernels::Elementwise>());
  if (kernel == "convolution transposed") {
    const auto& shape = call.as<kernels::ConvolutionTransposed>().shape;
    return 0.6 * products_of(shape, shape.in);
  }
  if (kernel == "scalar matmul") {
    const auto& args = call.as<ScalarMatMul>();
    return product_of({args.batch, args.m, args.k, args.n});
  }
  if (kernel == "lstm cell" || kernel == "gru cell" || kernel == "rnn cell") {
    const auto& args = call.as<kernels::RecurrentCell>();
    return args.batch > 1 ? 0.06 * product_of({args.batch, args.hidden, args.hidden}) : 0;
  }
  for (const Loss& loss : kLosses) {
    if (loss.kernel == kernel) return loss.per_element * elements_of(plan, call);
  }
  return 0;
}

/// How often the body of a loop runs, if that is known; once is as good a guess as any else.
double rounds_of(const Plan& plan, const KernelCall& call) {
  if (std::string_view(call.kernel->name) != "loop") return 1;
  for (const Operand& operand : call.operands) {
    const PlanValue& value = plan.values[operand.value];
    if (operand.field != offsetof(Rounds, limit) || !value.constant) continue;
    std::int64_t limit = 1;
    std::memcpy(&limit, value.constant->view.data(), sizeof(limit));
    return static_cast<double>(std::clamp<std::int64_t>(limit, 0, 1'000'000));
  }
  return 1;
}

/// What the products of matrices alone take.
double work_of(const KernelCall& call) {
  constexpr double kPerProduct = 0.02;
  const std::string_view kernel = call.kernel->name;
  if (kernel == "matmul packed") {
    const auto& args = call.as<kernels::MatMulPacked>();
    return kPerProduct * product_of({args.m, args.k, args.n});
  }
  if (kernel == "matmul") {
    const auto& args = call.as<kernels::MatMul>();
    return kPerProduct * product_of({args.batch, args.m, args.k, args.n});
  }
  if (kernel != "convolution") return 0;
  const auto& shape = call.as<kernels::Convolution>().shape;
  return kPerProduct * products_of(shape, shape.out);
}

void add(const Plan& plan, const Block& block, double times, Speed& speed) {
  for (const KernelCall& call : block) {
    const double loss = times * loss_of(plan, call);
    speed.lost += loss;
    speed.work += times * work_of(call);
    if (loss > speed.most) {
      speed.most = loss;
      speed.slowest = call.node;
    }
    const double rounds = rounds_of(plan, call);
    for (const Block& inner : call.blocks) {
      add(plan, inner, times * rounds, speed);
      // Around the nodes of a body there is ONNX Runtime's work in every round.
      speed.saved += times * (rounds - 1) * kPerNode * static_cast<double>(inner.size());
    }
  }
}

}  // namespace

Speed compare_speed(const Plan& plan, std::size_t nodes) {
  Speed speed;
  speed.saved = kPerRun + kPerNode * static_cast<double>(nodes);
  add(plan, plan.calls, 1, speed);
  return speed;
}

}  // namespace leapp::native
