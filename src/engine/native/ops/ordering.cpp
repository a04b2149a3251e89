// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that compare the elements along an axis with each other or add them up one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/native/op_table.h"
#include "engine/native/ops/arguments.h"
#include "engine/native/ops/common.h"
#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

Along along(Lowering& b, ValueId x, std::int64_t axis) {
  const std::span<const std::int64_t> dims = b.shape(x);
  const auto at = static_cast<std::size_t>(axis);
  Along args;
  args.outer = product(dims.first(at));
  args.extent = dims[at];
  args.inner = product(dims.subspan(at + 1));
  return args;
}

/// Whether a comes before b; NaN is the largest of all.
template <typename T>
bool before(T a, T b, bool largest) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return largest ? std::isnan(a) && !std::isnan(b) : std::isnan(b) && !std::isnan(a);
  }
  return largest ? a > b : a < b;
}

// Like ONNX Runtime's, which compares with < alone: NaN is chosen only if it comes first.
template <typename T>
void arg_best(const Along& args) noexcept {
  const auto* x = static_cast<const T*>(args.x);
  for (std::int64_t o = 0; o < args.outer; ++o) {
    for (std::int64_t i = 0; i < args.inner; ++i) {
      const T* column = x + o * args.extent * args.inner + i;
      std::int64_t best = 0;
      for (std::int64_t r = 1; r < args.extent; ++r) {
        const T number = column[r * args.inner];
        const T so_far = column[best * args.inner];
        if ((args.largest ? number > so_far : number < so_far) || (args.last && number == so_far)) best = r;
      }
      args.indices[o * args.inner + i] = best;
    }
  }
}

template <typename T>
void top_k(const Along& args) noexcept {
  const auto* x = static_cast<const T*>(args.x);
  auto* y = static_cast<T*>(args.y);
  for (std::int64_t o = 0; o < args.outer; ++o) {
    for (std::int64_t i = 0; i < args.inner; ++i) {
      const T* column = x + o * args.extent * args.inner + i;
      for (std::int64_t r = 0; r < args.extent; ++r) args.scratch[r] = r;
      // Equal ones in the order in which they stand, which makes the order one of its own: no memory is needed.
      const auto first = [&](std::int64_t p, std::int64_t q) {
        const T a = column[p * args.inner];
        const T b = column[q * args.inner];
        return before(a, b, args.largest) || (!before(b, a, args.largest) && p < q);
      };
      std::partial_sort(args.scratch, args.scratch + args.k, args.scratch + args.extent, first);
      for (std::int64_t r = 0; r < args.k; ++r) {
        y[(o * args.k + r) * args.inner + i] = column[args.scratch[r] * args.inner];
        args.indices[(o * args.k + r) * args.inner + i] = args.scratch[r];
      }
    }
  }
}

template <typename T>
void cumulate(const Along& args) noexcept {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  const auto* x = static_cast<const T*>(args.x);
  auto* y = static_cast<T*>(args.y);
  for (std::int64_t o = 0; o < args.outer; ++o) {
    for (std::int64_t i = 0; i < args.inner; ++i) {
      Sum sum = 0;
      for (std::int64_t r = 0; r < args.extent; ++r) {
        const std::int64_t at = (o * args.extent + (args.reverse ? args.extent - 1 - r : r)) * args.inner + i;
        const auto number = static_cast<Sum>(x[at]);
        if (!args.exclusive) sum += number;
        y[at] = static_cast<T>(sum);
        if (args.exclusive) sum += number;
      }
    }
  }
}

template <typename T>
inline constexpr Kernel kArgBest = kernel_of<&arg_best<T>>("arg best");
template <typename T>
inline constexpr Kernel kTopK = kernel_of<&top_k<T>>("top k");
template <typename T>
inline constexpr Kernel kCumulate = kernel_of<&cumulate<T>>("cumulative sum");

[[noreturn]] void refuse_type(DType dtype) { refuse(fmt::format("not for {}", dtype_name(dtype))); }

void lower_arg(Lowering& b) {
  ValueId x = b.input(0);
  if (is_single(b.dtype(x))) x = as_float32(b, x);
  if (b.rank(x) < 1) refuse("of a number");
  const std::int64_t axis = normal_axis(b.attr_int("axis", 0), b.rank(x));
  Along args = along(b, x, axis);
  if (args.extent == 0) refuse("of nothing");
  args.largest = b.op() == "ArgMax";
  args.last = b.attr_int("select_last_index", 0) != 0;
  Shape shape = b.shape(x);
  shape[static_cast<std::size_t>(axis)] = 1;
  if (b.attr_int("keepdims", 1) == 0) shape.erase(shape.begin() + axis);
  const Kernel* kernel = nullptr;
  visit_arithmetic(b.dtype(x), [&](auto tag) { kernel = &kArgBest<typename decltype(tag)::type>; });
  if (kernel == nullptr) refuse_type(b.dtype(x));
  const ValueId y = b.make(DType::kInt64, shape);
  CallMaker make(*kernel, args);
  b.add(make.read(args.x, x).write(args.indices, y).take());
  b.bind(0, y);
}

void lower_top_k(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = is_single(b.dtype(given)) ? as_float32(b, given) : given;
  const std::int64_t axis = normal_axis(b.attr_int("axis", -1), b.rank(x));
  Along args = along(b, x, axis);
  const auto k = b.has_input(1) ? b.ints(b.input(1), "k") : std::vector{b.attr_int("k", -1)};
  if (k.size() != 1 || k[0] < 0 || k[0] > args.extent) refuse("k out of range");
  args.k = k[0];
  args.largest = b.attr_int("largest", 1) != 0;
  Shape shape = b.shape(x);
  shape[static_cast<std::size_t>(axis)] = args.k;
  const Kernel* kernel = nullptr;
  visit_arithmetic(b.dtype(x), [&](auto tag) { kernel = &kTopK<typename decltype(tag)::type>; });
  if (kernel == nullptr) refuse_type(b.dtype(x));
  const ValueId y = b.make(b.dtype(x), shape);
  const ValueId indices = b.make(DType::kInt64, shape);
  const ValueId scratch = b.make(DType::kInt64, {args.extent});
  CallMaker make(*kernel, args);
  b.add(make.read(args.x, x).write(args.y, y).write(args.indices, indices).scratch(args.scratch, scratch).take());
  bind_as(b, 0, y, b.dtype(given));
  b.bind(1, indices);
}

void lower_cumulative_sum(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = is_single(b.dtype(given)) ? as_float32(b, given) : given;
  const auto axis = b.ints(b.input(1), "the axis");
  if (axis.size() != 1) refuse("expects one axis");
  Along args = along(b, x, normal_axis(axis[0], b.rank(x)));
  args.exclusive = b.attr_int("exclusive", 0) != 0;
  args.reverse = b.attr_int("reverse", 0) != 0;
  const Kernel* kernel = nullptr;
  visit_arithmetic(b.dtype(x), [&](auto tag) { kernel = &kCumulate<typename decltype(tag)::type>; });
  if (kernel == nullptr) refuse_type(b.dtype(x));
  const ValueId y = b.make_like(x);
  CallMaker make(*kernel, args);
  b.add(make.read(args.x, x).write(args.y, y).take());
  bind_as(b, 0, y, b.dtype(given));
}

void determinant(const Determinant& args) noexcept {
  const std::int64_t n = args.n;
  double* m = args.scratch;
  for (std::int64_t item = 0; item < args.batch; ++item) {
    for (std::int64_t i = 0; i < n * n; ++i) m[i] = args.x[item * n * n + i];
    double result = 1;
    for (std::int64_t column = 0; column < n; ++column) {
      std::int64_t pivot = column;
      for (std::int64_t row = column + 1; row < n; ++row) {
        if (std::fabs(m[row * n + column]) > std::fabs(m[pivot * n + column])) pivot = row;
      }
      if (pivot != column) {
        std::swap_ranges(m + pivot * n, m + pivot * n + n, m + column * n);
        result = -result;
      }
      const double head = m[column * n + column];
      result *= head;
      if (head == 0) break;
      for (std::int64_t row = column + 1; row < n; ++row) {
        const double factor = m[row * n + column] / head;
        for (std::int64_t i = column; i < n; ++i) m[row * n + i] -= factor * m[column * n + i];
      }
    }
    args.y[item] = static_cast<float>(result);
  }
}
constexpr Kernel kDeterminant = kernel_of<&determinant>("determinant");

void lower_det(Lowering& b) {
  const ValueId given = b.input(0);
  const ValueId x = as_float32(b, given);
  if (b.rank(x) < 2 || b.shape(x).back() != b.shape(x)[b.shape(x).size() - 2]) refuse("expects square matrices");
  Determinant args;
  args.n = b.shape(x).back();
  const Shape shape(b.shape(x).begin(), b.shape(x).end() - 2);
  args.batch = product(shape);
  const ValueId y = b.make(DType::kFloat32, shape);
  const ValueId scratch = b.make(DType::kFloat64, {args.n, args.n});
  CallMaker make(kDeterminant, args);
  b.add(make.read(args.x, x).write(args.y, y).scratch(args.scratch, scratch).take());
  bind_as(b, 0, y, b.dtype(given));
}

constexpr std::array kOrderingOps = {
    LowerEntry{"ArgMax", lower_arg}, LowerEntry{"ArgMin", lower_arg},
    LowerEntry{"TopK", lower_top_k}, LowerEntry{"CumSum", lower_cumulative_sum},
    LowerEntry{"Det", lower_det},
};

}  // namespace

LowerEntries ordering_ops() { return kOrderingOps; }

}  // namespace leapp::native
