// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One time step of the recurrent layers, as ONNX defines them: a product with the recurrent weights, then the gates in
// one loop.
#include <cstddef>
#include <cstdint>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/dispatch.h"
#include "engine/native/kernels/kernels.h"
#include "engine/native/kernels/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/kernels/recurrent.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/native/kernels/math_inl.h"

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::CappedTag<float, 16>;

/// f(d, i, load, store) for every vector of hidden units; the last is read and written in part. load(p) are p[i...].
template <class F>
HWY_INLINE void for_each_vector(std::int64_t n, F f) {
  const Floats d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    f(
        d, [i, d](const float* from) HWY_ATTR { return hn::LoadU(d, from + i); },
        [i, d](auto value, float* to) HWY_ATTR { hn::StoreU(value, d, to + i); });
  }
  if (i == n) return;
  f(
      d,
      [i, n, d](const float* from) HWY_ATTR {
        alignas(64) float part[16] = {};
        for (std::int64_t k = i; k < n; ++k) part[k - i] = from[k];
        return hn::Load(d, part);
      },
      [i, n, d](auto value, float* to) HWY_ATTR {
        alignas(64) float part[16];
        hn::Store(value, d, part);
        for (std::int64_t k = i; k < n; ++k) to[k] = part[k - i];
      });
}

/// h' = (1 - z) * tanh(candidate) + z * h, with x and r of the gates z r h one after the other.
void gru_linear_gates(const float* x, const float* r, const float* h, float* next, std::int64_t n) {
  for_each_vector(n, [=](auto d, auto load, auto store) HWY_ATTR {
    const auto update = sigmoid_of(d, hn::Add(load(x), load(r)));
    const auto reset = sigmoid_of(d, hn::Add(load(x + n), load(r + n)));
    const auto candidate = tanh_of(d, hn::MulAdd(reset, load(r + 2 * n), load(x + 2 * n)));
    store(hn::MulAdd(update, hn::Sub(load(h), candidate), candidate), next);
  });
}

/// The update gate in place of r's first part, and reset * h.
void gru_first_gates(const float* x, float* r, const float* h, float* reset_h, std::int64_t n) {
  for_each_vector(n, [=](auto d, auto load, auto store) HWY_ATTR {
    store(sigmoid_of(d, hn::Add(load(x), load(r))), r);
    const auto reset = sigmoid_of(d, hn::Add(load(x + n), load(r + n)));
    store(hn::Mul(reset, load(h)), reset_h);
  });
}

void gru_last_gate(const float* x, const float* update, const float* r, const float* h, float* next, std::int64_t n) {
  for_each_vector(n, [=](auto d, auto load, auto store) HWY_ATTR {
    const auto candidate = tanh_of(d, hn::Add(load(x), load(r)));
    store(hn::MulAdd(load(update), hn::Sub(load(h), candidate), candidate), next);
  });
}

void lstm_gates(const RecurrentCell& args, std::int64_t row) {
  const std::int64_t n = args.hidden;
  const float* x = args.from_input + row * args.from_input_stride;
  const float* r = args.scratch + row * 4 * n;
  const float* peephole = args.peephole;
  const float* before = args.c + row * n;
  float* c_next = args.c_next + row * n;
  float* h_next = args.h_next + row * n;
  for_each_vector(n, [=](auto d, auto load, auto store) HWY_ATTR {
    const auto c = load(before);
    auto input = hn::Add(load(x), load(r));
    auto output = hn::Add(load(x + n), load(r + n));
    auto forget = hn::Add(load(x + 2 * n), load(r + 2 * n));
    const auto cell = hn::Add(load(x + 3 * n), load(r + 3 * n));
    if (peephole != nullptr) {
      input = hn::MulAdd(load(peephole), c, input);
      forget = hn::MulAdd(load(peephole + 2 * n), c, forget);
    }
    const auto next = hn::MulAdd(sigmoid_of(d, forget), c, hn::Mul(sigmoid_of(d, input), tanh_of(d, cell)));
    if (peephole != nullptr) output = hn::MulAdd(load(peephole + n), next, output);
    store(next, c_next);
    store(hn::Mul(sigmoid_of(d, output), tanh_of(d, next)), h_next);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::native::kernels {

LEAPP_KERNEL_TABLE(gru_linear_gates);
LEAPP_KERNEL_TABLE(gru_first_gates);
LEAPP_KERNEL_TABLE(gru_last_gate);
LEAPP_KERNEL_TABLE(lstm_gates);

namespace {

constexpr std::int64_t kPanelWidth = 16;

/// rows x * R + bias for the columns [first, end) of R. The first panel may begin before them: the result of column c
/// is at y[c - first / 16 * 16]. Rows of y are as long as that makes them.
std::int64_t multiply_columns(const RecurrentCell& args, const float* x, std::int64_t first, std::int64_t end,
                              float* y) noexcept {
  const std::int64_t start = first / kPanelWidth * kPanelWidth;
  const auto skipped = static_cast<std::size_t>(start * args.hidden) * storage_size(args.storage);
  matmul_packed({.x = x,
                 .packed = static_cast<const char*>(args.recurrent) + skipped,
                 .storage = args.storage,
                 .bias = args.recurrent_bias == nullptr ? nullptr : args.recurrent_bias + start,
                 .y = y,
                 .m = args.batch,
                 .k = args.hidden,
                 .n = end - start,
                 .x_stride = args.hidden,
                 .y_stride = end - start});
  return end - start;
}

void multiply_all(const RecurrentCell& args, std::int64_t gates) noexcept {
  matmul_packed({.x = args.h,
                 .packed = args.recurrent,
                 .storage = args.storage,
                 .bias = args.recurrent_bias,
                 .y = args.scratch,
                 .m = args.batch,
                 .k = args.hidden,
                 .n = gates * args.hidden,
                 .x_stride = args.hidden,
                 .y_stride = gates * args.hidden});
}

/// The reset gate acts on h before the product, which so is two.
void gru_reset_first(const RecurrentCell& args) noexcept {
  const std::int64_t n = args.hidden;
  float* gates = args.scratch;
  float* reset_h = gates + args.batch * 2 * n;
  float* product = reset_h + args.batch * n;
  multiply_columns(args, args.h, 0, 2 * n, gates);
  for (std::int64_t row = 0; row < args.batch; ++row) {
    LEAPP_KERNEL(gru_first_gates)
    (args.from_input + row * args.from_input_stride, gates + row * 2 * n, args.h + row * n, reset_h + row * n, n);
  }
  const std::int64_t width = multiply_columns(args, reset_h, 2 * n, 3 * n, product);
  for (std::int64_t row = 0; row < args.batch; ++row) {
    LEAPP_KERNEL(gru_last_gate)
    (args.from_input + row * args.from_input_stride + 2 * n, gates + row * 2 * n, product + row * width + (width - n),
     args.h + row * n, args.h_next + row * n, n);
  }
}

}  // namespace

void gru_cell(const RecurrentCell& args) noexcept {
  const std::int64_t n = args.hidden;
  if (!args.linear_before_reset) {
    gru_reset_first(args);
    return;
  }
  multiply_all(args, 3);
  for (std::int64_t row = 0; row < args.batch; ++row) {
    LEAPP_KERNEL(gru_linear_gates)
    (args.from_input + row * args.from_input_stride, args.scratch + row * 3 * n, args.h + row * n,
     args.h_next + row * n, n);
  }
}

void lstm_cell(const RecurrentCell& args) noexcept {
  multiply_all(args, 4);
  for (std::int64_t row = 0; row < args.batch; ++row) LEAPP_KERNEL(lstm_gates)(args, row);
}

void simple_cell(const RecurrentCell& args) noexcept {
  const std::int64_t n = args.hidden;
  multiply_all(args, 1);
  for (std::int64_t row = 0; row < args.batch; ++row) {
    float* sum = args.scratch + row * n;
    apply_binary(Binary::kAdd, args.from_input + row * args.from_input_stride, sum, sum, static_cast<std::size_t>(n));
    apply_unary(args.activation, sum, args.h_next + row * n, static_cast<std::size_t>(n));
  }
}

}  // namespace leapp::native::kernels
#endif
