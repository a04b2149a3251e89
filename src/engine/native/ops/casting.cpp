// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "engine/native/op_table.h"
#include "engine/native/ops/arguments.h"
#include "engine/native/ops/common.h"
#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

template <typename From, typename To>
void cast_elements(const CastArgs& args) noexcept {
  // A byte of a bool that a caller wrote need not be 0 or 1.
  using Read = std::conditional_t<std::is_same_v<From, bool>, std::uint8_t, From>;
  const auto* x = static_cast<const Read*>(args.x);
  auto* y = static_cast<To*>(args.y);
  for (std::int64_t i = 0; i < args.count; ++i) {
    if constexpr (std::is_same_v<From, bool>) {
      y[i] = convert<To>(x[i] != 0);
    } else {
      y[i] = convert<To>(x[i]);
    }
  }
}

template <typename From, typename To>
inline constexpr Kernel kCast = kernel_of<&cast_elements<From, To>>("cast");

const Kernel* cast_kernel(DType from, DType to) {
  const Kernel* kernel = nullptr;
  visit_dtype(from, [&](auto source) {
    visit_dtype(
        to, [&](auto target) { kernel = &kCast<typename decltype(source)::type, typename decltype(target)::type>; });
  });
  return kernel;
}

void lower_cast(Lowering& b) {
  const auto to = onnx::dtype_of(static_cast<std::int32_t>(b.attr_int("to", 0)));
  if (!to) refuse("the type it makes is not known here");
  const ValueId x = b.input(0);
  b.bind(0, b.dtype(x) == *to ? b.reshaped(x, b.shape(x)) : cast(b, x, *to));
}

void lower_cast_like(Lowering& b) {
  const ValueId x = b.input(0);
  const DType to = b.dtype(b.input(1));
  b.bind(0, b.dtype(x) == to ? b.reshaped(x, b.shape(x)) : cast(b, x, to));
}

constexpr std::array kCastingOps = {LowerEntry{"Cast", lower_cast}, LowerEntry{"CastLike", lower_cast_like}};

bool is_vector_type(DType dtype) { return is_single(dtype); }

}  // namespace

ValueId cast(Lowering& b, ValueId x, DType to) {
  const DType from = b.dtype(x);
  if (from == to) return x;
  if ((is_vector_type(from) && is_vector_type(to)) || (from == DType::kBool && is_vector_type(to))) {
    return apply(b, kernels::Activation{}, x, to);
  }
  const Kernel* kernel = cast_kernel(from, to);
  if (kernel == nullptr) refuse(fmt::format("{} cannot become {} here", dtype_name(from), dtype_name(to)));
  const ValueId y = b.make(to, b.shape(x));
  CastArgs args;
  args.count = b.elements(x);
  CallMaker make(*kernel, args);
  b.add(make.read(args.x, x).write(args.y, y).take());
  return y;
}

LowerEntries casting_ops() { return kCastingOps; }

}  // namespace leapp::native
