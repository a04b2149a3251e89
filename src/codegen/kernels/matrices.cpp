// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "codegen/kernel_table.h"
#include "codegen/text.h"
#include "engine/native/ops/arguments.h"

namespace leapp::codegen {
namespace {

using native::kernels::MatMul;
using native::kernels::MatMulPacked;

constexpr std::array kMatrixSnippets = {
    Snippet{"dot", "widened", R"(// The sum of x[i] * w[i].
template <typename Weight>
inline float dot(const float* x, const Weight* w, int32_t count) {
  float sum = 0.0F;
  for (int32_t i = 0; i < count; ++i) sum += x[i] * widened(w[i]);
  return sum;
}
)"},
    Snippet{"dense", "dot",
            R"(// A dense layer: y[r][j] = function(sum over i of x[r][i] * w[j][i] + bias[j]). bias may be null.
template <typename Weight, typename Function>
inline void dense(const float* x, const Weight* w, const float* bias, float* y, int32_t rows, int32_t inputs,
                  int32_t outputs, Function function) {
  for (int32_t r = 0; r < rows; ++r) {
    for (int32_t j = 0; j < outputs; ++j) {
      const float sum = dot(x + r * inputs, w + j * inputs, inputs);
      y[r * outputs + j] = function(bias != nullptr ? sum + bias[j] : sum);
    }
  }
}
)"},
    Snippet{"Strides", "", R"(// From product to product, row to row and column to column.
struct Strides {
  int32_t batch;
  int32_t row;
  int32_t column;
};
)"},
    Snippet{"product", "Strides", R"(// y[n][i][j] = function(scale * sum over k of a[n][i][k] * b[n][k][j])
template <typename Function>
inline void product(const float* a, const float* b, float* y, int32_t batch, int32_t rows, int32_t inner,
                    int32_t columns, Strides of_a, Strides of_b, Strides of_y, float scale, Function function) {
  for (int32_t n = 0; n < batch; ++n) {
    for (int32_t i = 0; i < rows; ++i) {
      for (int32_t j = 0; j < columns; ++j) {
        float sum = 0.0F;
        for (int32_t k = 0; k < inner; ++k) {
          sum += a[n * of_a.batch + i * of_a.row + k * of_a.column] * b[n * of_b.batch + k * of_b.row + j * of_b.column];
        }
        y[n * of_y.batch + i * of_y.row + j] = function(scale * sum);
      }
    }
  }
}
)"},
    Snippet{"scalar_product", "", R"(// The same for other types; Sum is what their products are added up in.
template <typename Sum, typename T>
inline void scalar_product(const T* a, const T* b, T* y, int32_t batch, int32_t rows, int32_t inner, int32_t columns,
                           int32_t a_batch, int32_t b_batch) {
  for (int32_t n = 0; n < batch; ++n) {
    for (int32_t i = 0; i < rows; ++i) {
      for (int32_t j = 0; j < columns; ++j) {
        Sum sum = 0;
        for (int32_t k = 0; k < inner; ++k) {
          sum += static_cast<Sum>(a[n * a_batch + i * inner + k]) * static_cast<Sum>(b[n * b_batch + k * columns + j]);
        }
        *y++ = static_cast<T>(sum);
      }
    }
  }
}
)"},
};

void need_weights(Emitter& e, native::ValueId weights) {
  if (e.dtype(weights) == DType::kFloat16) e.need("widened float16");
  if (e.dtype(weights) == DType::kBFloat16) e.need("widened bfloat16");
}

void emit_packed(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<MatMulPacked>();
  if (args.x_stride != args.k || args.y_stride != args.n) e.refuse("rows that do not lie together");
  need_weights(e, e.operand(call, &MatMulPacked::packed));
  if (e.operand(call, &MatMulPacked::addend) != native::kNoValue) e.refuse("a product that is added to another value");
  e.need("dense");
  e.call("dense", {e.pointer(call, &MatMulPacked::x), e.pointer(call, &MatMulPacked::packed),
                   e.pointer(call, &MatMulPacked::bias), e.pointer(call, &MatMulPacked::y), e.number(args.m),
                   e.number(args.k), e.number(args.n), e.lambda(args.activation)});
}

void emit_matmul(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<MatMul>();
  e.need("product");
  const auto strides = [&](std::int64_t batch, std::int64_t row, std::int64_t column) {
    return "Strides{" + e.number(batch) + ", " + e.number(row) + ", " + e.number(column) + "}";
  };
  e.call("product", {e.pointer(call, &MatMul::a), e.pointer(call, &MatMul::b), e.pointer(call, &MatMul::y),
                     e.number(args.batch), e.number(args.m), e.number(args.k), e.number(args.n),
                     strides(args.a_batch_stride, args.a_row_stride, args.a_column_stride),
                     strides(args.b_batch_stride, args.b_row_stride, args.b_column_stride),
                     strides(args.y_batch_stride, args.y_stride, 1), literal(args.scale), e.lambda(args.activation)});
}

void emit_scalar_matmul(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<native::ScalarMatMul>();
  e.need("scalar_product");
  const DType dtype = e.dtype(e.operand(call, &native::ScalarMatMul::y));
  const char* sum = dtype == DType::kFloat64   ? "scalar_product<double>"
                    : dtype == DType::kFloat32 ? "scalar_product<float>"
                                               : "scalar_product<uint64_t>";
  e.call(sum, {e.pointer(call, &native::ScalarMatMul::a), e.pointer(call, &native::ScalarMatMul::b),
               e.pointer(call, &native::ScalarMatMul::y), e.number(args.batch), e.number(args.m), e.number(args.k),
               e.number(args.n), e.number(args.a_batch_stride), e.number(args.b_batch_stride)});
}

constexpr std::array kMatrixKernels = {
    KernelEntry{"matmul packed", emit_packed},
    KernelEntry{"matmul", emit_matmul},
    KernelEntry{"scalar matmul", emit_scalar_matmul},
};

}  // namespace

Family matrix_family() { return {kMatrixKernels, kMatrixSnippets}; }

}  // namespace leapp::codegen
