// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the families share: parts of a lowering that more than one operator is made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/native/kernels/kernels.h"
#include "engine/native/lowering.h"
#include "engine/native/scalar/copy.h"

namespace leapp::native {

inline constexpr Kernel kElementwise = kernel_of<&kernels::elementwise>("elementwise");
inline constexpr Kernel kMatMulPacked = kernel_of<&kernels::matmul_packed>("matmul packed");
inline constexpr Kernel kMatMul = kernel_of<&kernels::matmul>("matmul");
inline constexpr Kernel kConvolution = kernel_of<&kernels::convolution>("convolution");

/// float32, float16 and bfloat16: what the kernels calculate with.
[[nodiscard]] bool is_single(DType dtype);
[[nodiscard]] bool is_float(DType dtype);
[[nodiscard]] bool is_integer(DType dtype);
/// How the kernels call it. REQUIRES: is_single or bool.
[[nodiscard]] kernels::Storage storage_of(DType dtype);

/// The shape that NumPy's rules give. Refuses shapes that do not go together.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b);

/// Results of the functions that kernels.h lists; operands are broadcast, results are of `result`.
ValueId apply(Lowering& b, kernels::Activation function, ValueId x, DType result);
ValueId apply(Lowering& b, kernels::Binary function, ValueId x, ValueId y);
ValueId select(Lowering& b, ValueId condition, ValueId x, ValueId y);

/// Another element type; itself when it is of that type.
ValueId cast(Lowering& b, ValueId x, DType to);
/// float32 for the kernels that know nothing else. Refuses what is no single-precision float.
ValueId as_float32(Lowering& b, ValueId x);
/// Binds result `i`: `x`, as the type that the node's first input has.
void bind_as(Lowering& b, std::size_t i, ValueId x, DType dtype);

/// x with its axes in another order.
ValueId transposed(Lowering& b, ValueId x, const std::vector<std::int64_t>& order);
/// The axes of an attribute, or of an input since the opset that made it one; nothing when neither is there.
[[nodiscard]] std::optional<std::vector<std::int64_t>> axes_of(Lowering& b, std::size_t input,
                                                               std::string_view attribute = "axes");

/// The bytes of an element of a constant scalar, or of 0 if `id` is kNoValue.
[[nodiscard]] std::vector<std::byte> element_bytes(Lowering& b, ValueId id, DType dtype);
/// A tensor with one value in every element.
ValueId filled(Lowering& b, DType dtype, const Shape& shape, std::span<const std::byte> element);

}  // namespace leapp::native
