// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/native/ops/common.h"
#include "engine/native/program.h"

namespace leapp::native {

/// A matrix [k, n] inside a constant, strides and offset in elements.
struct MatrixLayout {
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  std::int64_t offset = 0;
};

/// The constant in panels, for kernels::matmul_packed and the recurrent cells. REQUIRES: a single-precision type.
ValueId packed_matrix(Lowering& b, ValueId matrix, const MatrixLayout& layout);

struct PackedProduct {
  ValueId x = kNoValue;       ///< float32, m rows of k
  ValueId packed = kNoValue;  ///< packed_matrix
  ValueId bias = kNoValue;    ///< float32[n], or none
  ValueId addend = kNoValue;  ///< float32, m rows of n, or none
  kernels::Storage storage = kernels::Storage::kFloat32;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  Shape shape;  ///< of the result: m * n elements
};
ValueId add_packed(Lowering& b, const PackedProduct& product);

/// ONNX's MatMul.
ValueId multiplied(Lowering& b, ValueId a, ValueId other);

/// A constant as another type, now.
ValueId cast_constant(Lowering& b, ValueId x, DType to);
/// [count, 1], every element 1.
ValueId filled_with_one(Lowering& b, DType dtype, std::int64_t count);

}  // namespace leapp::native
