// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/native/op_table.h"
#include "engine/native/ops/common.h"
#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

using kernels::Reduction;

constexpr Kernel kReduce = kernel_of<&kernels::reduce>("reduce");
constexpr Kernel kSoftmax = kernel_of<&kernels::softmax>("softmax");

/// The same for the types that the vector kernels do not know.
template <typename T>
void scalar_reduce(const kernels::Reduce& args) noexcept {
  // Integers are added up, and multiplied, modulo their size.
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  const auto* x = reinterpret_cast<const T*>(args.x);
  auto* y = reinterpret_cast<T*>(args.y);
  const bool maximum = args.reduction == Reduction::kMax;
  for (std::int64_t o = 0; o < args.outer; ++o) {
    for (std::int64_t i = 0; i < args.inner; ++i) {
      const T* column = x + o * args.reduced * args.inner + i;
      Sum sum = args.reduction == Reduction::kProduct ? Sum{1} : Sum{0};
      T best = maximum ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
      if constexpr (std::is_floating_point_v<T>) {
        best = maximum ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
      }
      T shift = 0;
      if constexpr (std::is_floating_point_v<T>) {
        if (args.reduction == Reduction::kLogSumExp && args.reduced > 0) {
          shift = column[0];
          for (std::int64_t r = 1; r < args.reduced; ++r) shift = std::fmax(shift, column[r * args.inner]);
          if (!std::isfinite(shift)) shift = 0;
        }
      }
      for (std::int64_t r = 0; r < args.reduced; ++r) {
        const T number = column[r * args.inner];
        switch (args.reduction) {
          case Reduction::kProduct:
            sum *= static_cast<Sum>(number);
            break;
          case Reduction::kSumSquare:
          case Reduction::kL2:
            sum += static_cast<Sum>(number) * static_cast<Sum>(number);
            break;
          case Reduction::kL1:
            sum += number < T{0} ? Sum{0} - static_cast<Sum>(number) : static_cast<Sum>(number);
            break;
          case Reduction::kMax:
          case Reduction::kMin:
            if constexpr (std::is_floating_point_v<T>) {
              if (std::isnan(number)) best = number;
            }
            if (maximum ? number > best : number < best) best = number;
            break;
          case Reduction::kLogSumExp:
            if constexpr (std::is_floating_point_v<T>) sum += std::exp(number - shift);
            break;
          default:
            sum += static_cast<Sum>(number);
        }
      }
      T result = static_cast<T>(sum);
      if (args.reduction == Reduction::kMax || args.reduction == Reduction::kMin) result = best;
      if constexpr (std::is_floating_point_v<T>) {
        if (args.reduction == Reduction::kMean) result = static_cast<T>(sum / static_cast<T>(args.reduced));
        if (args.reduction == Reduction::kL2) result = std::sqrt(sum);
        if (args.reduction == Reduction::kLogSum) result = std::log(sum);
        if (args.reduction == Reduction::kLogSumExp) result = std::log(sum) + shift;
      } else {
        if (args.reduction == Reduction::kMean && args.reduced > 0) {
          result = static_cast<T>(static_cast<std::int64_t>(sum) / args.reduced);
        }
        // The root of a whole number is one that int64 has; what a narrower type keeps of it are the low bits.
        const double root = std::sqrt(static_cast<double>(sum));
        if (args.reduction == Reduction::kL2) result = static_cast<T>(static_cast<std::int64_t>(root));
      }
      y[o * args.inner + i] = result;
    }
  }
}

template <typename T>
inline constexpr Kernel kScalarReduce = kernel_of<&scalar_reduce<T>>("scalar reduce");

const Kernel* scalar_kernel(DType dtype, Reduction reduction) {
  const Kernel* kernel = nullptr;
  const bool logarithm = reduction == Reduction::kLogSum || reduction == Reduction::kLogSumExp;
  visit_arithmetic(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (std::is_floating_point_v<T> || !logarithm) kernel = &kScalarReduce<T>;
  });
  return kernel;
}

struct Axes {
  std::vector<std::int64_t> kept;
  std::vector<std::int64_t> reduced;
  Shape result;  ///< with what keepdims leaves
};

Axes split_axes(Lowering& b, ValueId x) {
  Axes axes;
  const auto given = axes_of(b, 1);
  const bool keep = b.attr_int("keepdims", 1) != 0;
  std::vector<bool> gone(b.shape(x).size(), !given || given->empty());
  for (const std::int64_t axis : given.value_or(std::vector<std::int64_t>{})) {
    gone[static_cast<std::size_t>(normal_axis(axis, b.rank(x)))] = true;
  }
  for (std::size_t i = 0; i < gone.size(); ++i) {
    (gone[i] ? axes.reduced : axes.kept).push_back(static_cast<std::int64_t>(i));
    if (!gone[i] || keep) axes.result.push_back(gone[i] ? 1 : b.shape(x)[i]);
  }
  return axes;
}

ValueId reduced(Lowering& b, Reduction reduction, ValueId x, const Axes& axes) {
  const DType dtype = b.dtype(x);
  if (is_single(dtype)) x = as_float32(b, x);
  kernels::Reduce args;
  args.reduction = reduction;
  // Axes that stand together are reduced where they are; else they are moved to the end.
  const bool together = axes.reduced.empty() || axes.reduced.back() - axes.reduced.front() + 1 ==
                                                    static_cast<std::int64_t>(axes.reduced.size());
  if (!together) {
    std::vector<std::int64_t> order = axes.kept;
    order.insert(order.end(), axes.reduced.begin(), axes.reduced.end());
    x = transposed(b, x, order);
  }
  const std::span<const std::int64_t> dims = b.shape(x);
  const std::size_t first = !together              ? axes.kept.size()
                            : axes.reduced.empty() ? dims.size()
                                                   : static_cast<std::size_t>(axes.reduced.front());
  args.outer = product(dims.first(first));
  args.reduced = product(dims.subspan(first, axes.reduced.size()));
  args.inner = product(dims.subspan(first + axes.reduced.size()));
  if (args.reduced == 0 &&
      (reduction == Reduction::kMax || reduction == Reduction::kMin || reduction == Reduction::kMean)) {
    refuse("nothing to reduce");
  }
  const Kernel* kernel = b.dtype(x) == DType::kFloat32 ? &kReduce : scalar_kernel(b.dtype(x), reduction);
  if (kernel == nullptr) refuse(fmt::format("not for {}", dtype_name(dtype)));
  const ValueId y = b.make(b.dtype(x), axes.result);
  CallMaker make(*kernel, args);
  b.add(make.read(args.x, x).write(args.y, y).take());
  return cast(b, y, dtype);
}

void lower_reduce(Lowering& b) {
  const ValueId x = b.input(0);
  const bool no_axes = b.has_input(1) ? b.elements(b.input(1)) == 0 : !b.has_attr("axes");
  if (no_axes && b.attr_int("noop_with_empty_axes", 0) != 0) {
    return b.bind(0, reduced(b, static_cast<Reduction>(b.entry().detail), x, Axes{{}, {}, b.shape(x)}));
  }
  if (b.dtype(x) == DType::kBool) refuse("not for bool");
  b.bind(0, reduced(b, static_cast<Reduction>(b.entry().detail), x, split_axes(b, x)));
}

template <typename T>
void scalar_softmax(const kernels::Softmax& args) noexcept {
  const auto* x = reinterpret_cast<const T*>(args.x);
  auto* y = reinterpret_cast<T*>(args.y);
  for (std::int64_t row = 0; row < args.rows; ++row, x += args.columns, y += args.columns) {
    T largest = -std::numeric_limits<T>::infinity();
    for (std::int64_t i = 0; i < args.columns; ++i) largest = std::fmax(largest, x[i]);
    T sum = 0;
    for (std::int64_t i = 0; i < args.columns; ++i) sum += std::exp(x[i] - largest);
    for (std::int64_t i = 0; i < args.columns; ++i) {
      y[i] = args.log ? x[i] - largest - std::log(sum) : std::exp(x[i] - largest) / sum;
    }
  }
}
constexpr Kernel kSoftmaxDouble = kernel_of<&scalar_softmax<double>>("scalar softmax");

void lower_softmax(Lowering& b) {
  ValueId x = b.input(0);
  const DType dtype = b.dtype(x);
  const Shape shape = b.shape(x);
  const bool old = b.opset() < 13;
  if (shape.empty()) refuse("of a number");
  const std::int64_t axis = normal_axis(b.attr_int("axis", old ? 1 : -1), b.rank(x));
  if (is_single(dtype)) x = as_float32(b, x);
  if (!is_float(dtype)) refuse(fmt::format("not for {}", dtype_name(dtype)));
  // Before opset 13 all axes from this one on are one row.
  std::vector<std::int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = static_cast<std::size_t>(axis);
  if (!old) std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  const ValueId moved = transposed(b, x, order);
  kernels::Softmax args;
  args.columns = old ? product(std::span(shape).subspan(at)) : shape[at];
  args.rows = args.columns == 0 ? 0 : b.elements(x) / args.columns;
  args.log = b.op() == "LogSoftmax";
  const ValueId y = b.make_like(moved);
  CallMaker make(b.dtype(x) == DType::kFloat64 ? kSoftmaxDouble : kSoftmax, args);
  b.add(make.read(args.x, moved).write(args.y, y, true).take());
  std::vector<std::int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  bind_as(b, 0, transposed(b, y, back), dtype);
}

constexpr LowerEntry reduce(std::string_view name, Reduction reduction) {
  return {name, lower_reduce, static_cast<std::int32_t>(reduction)};
}

constexpr std::array kReductionOps = {
    reduce("ReduceSum", Reduction::kSum),       reduce("ReduceMean", Reduction::kMean),
    reduce("ReduceMax", Reduction::kMax),       reduce("ReduceMin", Reduction::kMin),
    reduce("ReduceProd", Reduction::kProduct),  reduce("ReduceL1", Reduction::kL1),
    reduce("ReduceL2", Reduction::kL2),         reduce("ReduceSumSquare", Reduction::kSumSquare),
    reduce("ReduceLogSum", Reduction::kLogSum), reduce("ReduceLogSumExp", Reduction::kLogSumExp),
    LowerEntry{"Softmax", lower_softmax},       LowerEntry{"LogSoftmax", lower_softmax},
};

}  // namespace

LowerEntries reduction_ops() { return kReductionOps; }

}  // namespace leapp::native
