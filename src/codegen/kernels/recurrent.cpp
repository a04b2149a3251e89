// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One time step of the recurrent layers, in ONNX's order of gates. What the input contributes is there already.
#include <array>

#include "codegen/kernel_table.h"

namespace leapp::codegen {
namespace {

using native::kernels::RecurrentCell;

constexpr std::array kRecurrentSnippets = {
    Snippet{"gate", "dot", R"(// What input, recurrent weights and bias make of one gate of one unit. bias may be null.
template <typename Weight>
inline float gate(const float* from_input, const Weight* r, const float* bias, const float* h, int32_t unit,
                  int32_t hidden) {
  const float sum = from_input[unit] + dot(h, r + unit * hidden, hidden);
  return bias != nullptr ? sum + bias[unit] : sum;
}
)"},
    Snippet{"gru_cell", "gate sigmoid tanh_of",
            R"(// GRU: gates z r h; r is [3 * hidden][hidden]. h_next may be h. scratch holds 4 * hidden numbers.
template <typename Weight>
inline void gru_cell(const float* from_input, const Weight* r, const float* bias, const float* h, float* h_next,
                     float* scratch, int32_t batch, int32_t hidden, bool linear_before_reset) {
  float* const update = scratch;
  float* const reset = scratch + hidden;
  float* const candidate = scratch + 2 * hidden;
  float* const reset_h = scratch + 3 * hidden;
  for (int32_t n = 0; n < batch; ++n, from_input += 3 * hidden, h += hidden, h_next += hidden) {
    for (int32_t i = 0; i < hidden; ++i) {
      update[i] = sigmoid(gate(from_input, r, bias, h, i, hidden));
      reset[i] = sigmoid(gate(from_input, r, bias, h, hidden + i, hidden));
      reset_h[i] = reset[i] * h[i];
    }
    for (int32_t i = 0; i < hidden; ++i) {
      const int32_t unit = 2 * hidden + i;
      if (linear_before_reset) {
        const float sum = dot(h, r + unit * hidden, hidden) + (bias != nullptr ? bias[unit] : 0.0F);
        candidate[i] = tanh_of(from_input[unit] + reset[i] * sum);
      } else {
        candidate[i] = tanh_of(gate(from_input, r, bias, reset_h, unit, hidden));
      }
    }
    for (int32_t i = 0; i < hidden; ++i) h_next[i] = candidate[i] + update[i] * (h[i] - candidate[i]);
  }
}
)"},
    Snippet{
        "lstm_cell", "gate sigmoid tanh_of",
        R"(// LSTM: gates i o f c; r is [4 * hidden][hidden]. h_next may be h and c_next c. peephole (i o f) may be null. scratch
// holds 4 * hidden numbers.
template <typename Weight>
inline void lstm_cell(const float* from_input, const Weight* r, const float* bias, const float* peephole, const float* h,
                      const float* c, float* h_next, float* c_next, float* scratch, int32_t batch, int32_t hidden) {
  for (int32_t n = 0; n < batch; ++n) {
    for (int32_t i = 0; i < 4 * hidden; ++i) scratch[i] = gate(from_input, r, bias, h, i, hidden);
    for (int32_t i = 0; i < hidden; ++i) {
      float input = scratch[i];
      float output = scratch[hidden + i];
      float forget = scratch[2 * hidden + i];
      if (peephole != nullptr) {
        input += peephole[i] * c[i];
        forget += peephole[2 * hidden + i] * c[i];
      }
      const float cell = sigmoid(forget) * c[i] + sigmoid(input) * tanh_of(scratch[3 * hidden + i]);
      if (peephole != nullptr) output += peephole[hidden + i] * cell;
      c_next[i] = cell;
      h_next[i] = sigmoid(output) * tanh_of(cell);
    }
    from_input += 4 * hidden;
    h += hidden;
    c += hidden;
    h_next += hidden;
    c_next += hidden;
  }
}
)"},
    Snippet{"rnn_cell", "gate", R"(// h_next may be h. scratch holds `hidden` numbers.
template <typename Weight, typename Function>
inline void rnn_cell(const float* from_input, const Weight* r, const float* bias, const float* h, float* h_next,
                     float* scratch, int32_t batch, int32_t hidden, Function function) {
  for (int32_t n = 0; n < batch; ++n, from_input += hidden, h += hidden, h_next += hidden) {
    for (int32_t i = 0; i < hidden; ++i) scratch[i] = function(gate(from_input, r, bias, h, i, hidden));
    for (int32_t i = 0; i < hidden; ++i) h_next[i] = scratch[i];
  }
}
)"},
};

void need_cell(Emitter& e, const native::KernelCall& call, std::string_view cell, std::int64_t gates) {
  const auto& args = call.as<RecurrentCell>();
  const native::ValueId weights = e.operand(call, &RecurrentCell::recurrent);
  if (e.dtype(weights) == DType::kFloat16) e.need("widened float16");
  if (e.dtype(weights) == DType::kBFloat16) e.need("widened bfloat16");
  if (args.from_input_stride != gates * args.hidden) e.refuse("rows that do not lie together");
  e.need(cell);
}

void emit_gru(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<RecurrentCell>();
  need_cell(e, call, "gru_cell", 3);
  e.call("gru_cell", {e.pointer(call, &RecurrentCell::from_input), e.pointer(call, &RecurrentCell::recurrent),
                      e.pointer(call, &RecurrentCell::recurrent_bias), e.pointer(call, &RecurrentCell::h),
                      e.pointer(call, &RecurrentCell::h_next), e.pointer(call, &RecurrentCell::scratch),
                      e.number(args.batch), e.number(args.hidden), args.linear_before_reset ? "true" : "false"});
}

void emit_lstm(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<RecurrentCell>();
  need_cell(e, call, "lstm_cell", 4);
  e.call("lstm_cell", {e.pointer(call, &RecurrentCell::from_input), e.pointer(call, &RecurrentCell::recurrent),
                       e.pointer(call, &RecurrentCell::recurrent_bias), e.pointer(call, &RecurrentCell::peephole),
                       e.pointer(call, &RecurrentCell::h), e.pointer(call, &RecurrentCell::c),
                       e.pointer(call, &RecurrentCell::h_next), e.pointer(call, &RecurrentCell::c_next),
                       e.pointer(call, &RecurrentCell::scratch), e.number(args.batch), e.number(args.hidden)});
}

void emit_rnn(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<RecurrentCell>();
  need_cell(e, call, "rnn_cell", 1);
  e.call("rnn_cell", {e.pointer(call, &RecurrentCell::from_input), e.pointer(call, &RecurrentCell::recurrent),
                      e.pointer(call, &RecurrentCell::recurrent_bias), e.pointer(call, &RecurrentCell::h),
                      e.pointer(call, &RecurrentCell::h_next), e.pointer(call, &RecurrentCell::scratch),
                      e.number(args.batch), e.number(args.hidden), e.lambda(args.activation)});
}

constexpr std::array kRecurrentKernels = {
    KernelEntry{"gru cell", emit_gru},
    KernelEntry{"lstm cell", emit_lstm},
    KernelEntry{"rnn cell", emit_rnn},
};

}  // namespace

Family recurrent_family() { return {kRecurrentKernels, kRecurrentSnippets}; }

}  // namespace leapp::codegen
