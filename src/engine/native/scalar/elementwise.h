// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operators of the types that the vector kernels do not know: float64, integers, and choosing among
// elements of any type. One operator per call, any broadcast.
#pragma once

#include <cstdint>

#include "engine/native/kernels/kernels.h"
#include "engine/native/plan.h"
#include "engine/native/scalar/copy.h"

namespace leapp::native {

/// What integers can do besides Binary.
enum class Bits : std::uint8_t { kAnd, kOr, kXor, kNot, kShiftLeft, kShiftRight };

/// Two or three operands, walked with strides that count elements and are 0 where one is repeated.
struct Walk {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* y = nullptr;  ///< dense
  std::int32_t rank = 0;
  std::int32_t function = 0;  ///< a Unary, Binary or Bits
  double alpha = 0;
  double beta = 0;
  std::int64_t shape[kMaxRank] = {};
  std::int64_t a_stride[kMaxRank] = {};
  std::int64_t b_stride[kMaxRank] = {};
  std::int64_t c_stride[kMaxRank] = {};
};

/// The kernel for elements of a type; null when there is none.
[[nodiscard]] const Kernel* scalar_unary(kernels::Unary function, DType dtype);
[[nodiscard]] const Kernel* scalar_binary(kernels::Binary function, DType dtype);
[[nodiscard]] const Kernel* scalar_bits(Bits function, DType dtype);
[[nodiscard]] const Kernel* scalar_select(DType dtype);

/// One function of double-precision numbers.
[[nodiscard]] double evaluate(kernels::Unary function, double x, double alpha, double beta) noexcept;

}  // namespace leapp::native
