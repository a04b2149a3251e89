// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "codegen/kernel_table.h"
#include "codegen/text.h"
#include "engine/native/ops/arguments.h"

namespace leapp::codegen {
namespace {

using native::LocalResponse;
using native::kernels::Normalise;
using native::kernels::Softmax;

constexpr std::array kRowSnippets = {
    Snippet{"softmax", "exp_of", R"(// y may be x.
template <typename T>
inline void softmax(const T* x, T* y, int32_t rows, int32_t columns) {
  for (int32_t r = 0; r < rows; ++r, x += columns, y += columns) {
    T largest = T(-INFINITY);
    for (int32_t i = 0; i < columns; ++i) {
      if (x[i] > largest || x[i] != x[i]) largest = x[i];
    }
    T sum = 0;
    for (int32_t i = 0; i < columns; ++i) {
      y[i] = exp_of(x[i] - largest);
      sum += y[i];
    }
    for (int32_t i = 0; i < columns; ++i) y[i] /= sum;
  }
}
)"},
    Snippet{"log_softmax", "exp_of log_of", R"(// y may be x.
template <typename T>
inline void log_softmax(const T* x, T* y, int32_t rows, int32_t columns) {
  for (int32_t r = 0; r < rows; ++r, x += columns, y += columns) {
    T largest = T(-INFINITY);
    for (int32_t i = 0; i < columns; ++i) {
      if (x[i] > largest || x[i] != x[i]) largest = x[i];
    }
    T sum = 0;
    for (int32_t i = 0; i < columns; ++i) sum += exp_of(x[i] - largest);
    const T shift = log_of(sum);
    for (int32_t i = 0; i < columns; ++i) y[i] = x[i] - largest - shift;
  }
}
)"},
    Snippet{
        "Affine", "",
        R"(// Where row r finds its scale and bias: at r % rows * row_stride, one number for each column or one for the row.
struct Affine {
  const float* scale;  // null: 1
  const float* bias;   // null: 0
  int32_t rows;
  int32_t row_stride;
  int32_t column_stride;
};
)"},
    Snippet{
        "normalise", "Affine",
        R"(// (x - mean) / sqrt(variance + epsilon) * scale + bias along the columns; y may be x. `mean` and `inverse` may be null.
inline void normalise(const float* x, float* y, float* mean, float* inverse, int32_t rows, int32_t columns,
                      const Affine& affine, float epsilon, bool root_mean_square) {
  for (int32_t r = 0; r < rows; ++r, x += columns, y += columns) {
    float middle = 0.0F;
    if (!root_mean_square) {
      for (int32_t i = 0; i < columns; ++i) middle += x[i];
      middle /= static_cast<float>(columns);
    }
    float variance = 0.0F;
    for (int32_t i = 0; i < columns; ++i) variance += (x[i] - middle) * (x[i] - middle);
    const float factor = 1.0F / sqrtf(variance / static_cast<float>(columns) + epsilon);
    if (mean != nullptr) mean[r] = middle;
    if (inverse != nullptr) inverse[r] = factor;
    const int32_t at = r % affine.rows * affine.row_stride;
    for (int32_t i = 0; i < columns; ++i) {
      const int32_t place = at + i * affine.column_stride;
      const float scale = affine.scale != nullptr ? affine.scale[place] : 1.0F;
      const float bias = affine.bias != nullptr ? affine.bias[place] : 0.0F;
      y[i] = (x[i] - middle) * factor * scale + bias;
    }
  }
}
)"},
    Snippet{"local_response", "",
            R"(// Each number is divided by a power of the squares of its neighbours in the channels.
inline void local_response(const float* x, float* y, int32_t batch, int32_t channels, int32_t inner, int32_t size,
                           float alpha, float beta, float bias) {
  const int32_t behind = (size - 1) / 2;
  for (int32_t n = 0; n < batch; ++n, x += channels * inner, y += channels * inner) {
    for (int32_t c = 0; c < channels; ++c) {
      const int32_t first = c > behind ? c - behind : 0;
      for (int32_t i = 0; i < inner; ++i) {
        float sum = 0.0F;
        for (int32_t k = first; k < channels && k <= c + size - 1 - behind; ++k) sum += x[k * inner + i] * x[k * inner + i];
        y[c * inner + i] = x[c * inner + i] / powf(bias + alpha / static_cast<float>(size) * sum, beta);
      }
    }
  }
}
)"},
};

void emit_softmax(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Softmax>();
  const char* name = args.log ? "log_softmax" : "softmax";
  e.need(name);
  e.call(name,
         {e.pointer(call, &Softmax::x), e.pointer(call, &Softmax::y), e.number(args.rows), e.number(args.columns)});
}

void emit_normalise(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Normalise>();
  e.need("normalise");
  const std::string affine = "Affine{" + e.pointer(call, &Normalise::scale) + ", " + e.pointer(call, &Normalise::bias) +
                             ", " + e.number(args.affine_rows) + ", " + e.number(args.affine_row_stride) + ", " +
                             e.number(args.affine_column_stride) + "}";
  e.call("normalise",
         {e.pointer(call, &Normalise::x), e.pointer(call, &Normalise::y), e.pointer(call, &Normalise::mean),
          e.pointer(call, &Normalise::inverse_deviation), e.number(args.rows), e.number(args.columns), affine,
          literal(args.epsilon), args.root_mean_square ? "true" : "false"});
}

void emit_local_response(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<LocalResponse>();
  e.need("local_response");
  e.call("local_response", {e.pointer(call, &LocalResponse::x), e.pointer(call, &LocalResponse::y),
                            e.number(args.batch), e.number(args.channels), e.number(args.inner), e.number(args.size),
                            literal(args.alpha), literal(args.beta), literal(args.bias)});
}

constexpr std::array kRowKernels = {
    KernelEntry{"softmax", emit_softmax},
    KernelEntry{"scalar softmax", emit_softmax},
    KernelEntry{"normalise", emit_normalise},
    KernelEntry{"local response", emit_local_response},
};

}  // namespace

Family row_family() { return {kRowKernels, kRowSnippets}; }

}  // namespace leapp::codegen
