// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers and dtypes as torch sees them: conversion, categories, promotion.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype_kind.h"
#include "graph/graph.h"

namespace leapp::onnx_ops {

/// Of the parts of a complex dtype; others as they are.
[[nodiscard]] DType part_dtype(DType dtype);
[[nodiscard]] bool is_unsigned(DType dtype);
/// float16 and bfloat16, which torch computes in float32 and rounds.
[[nodiscard]] bool is_half(DType dtype);

/// Smallest and largest finite number, as doubles (exact but for the ends of 64-bit integers).
[[nodiscard]] double lowest_of(DType dtype);
[[nodiscard]] double highest_of(DType dtype);

[[nodiscard]] double to_double(const graph::Scalar& scalar);
[[nodiscard]] std::int64_t to_int64(const graph::Scalar& scalar);

/// Appends `scalar` as one element of `dtype`, converted as C converts.
/// REQUIRES: `dtype` is neither complex nor an eight-bit float.
void append_number(const graph::Scalar& scalar, DType dtype, std::vector<std::byte>& bytes);

/// Element `index` of the bytes of a tensor, as a number: int64 for integers, double for floats.
[[nodiscard]] graph::Scalar read_number(DType dtype, std::span<const std::byte> bytes, std::size_t index);

/// The dtype that holds both, as torch.promote_types.
[[nodiscard]] DType promote_types(DType a, DType b);

/// One operand of an operator, as far as promotion looks at it.
struct PromotedOperand {
  DType dtype;
  bool zero_dim = false;  ///< a tensor without dimensions
  bool number = false;    ///< a Python number
};

/// As torch.result_type over any number of operands: a number does not promote within its category, a 0-d tensor only
/// against others of its kind.
[[nodiscard]] DType result_type(const std::vector<PromotedOperand>& operands);

/// dtype of a Python number: bool, int64 or float32 (torch's default).
[[nodiscard]] DType number_dtype(const graph::Scalar& scalar);

}  // namespace leapp::onnx_ops
