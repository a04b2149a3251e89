// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The inside of recurrent layers, for which torch calls one kernel on devices and many on the CPU. Not for gradients.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

namespace leapp::annex {
namespace {

at::Tensor with_bias(const at::Tensor& gates, const std::optional<at::Tensor>& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                                            const at::Tensor& hidden, const std::optional<at::Tensor>& input_bias,
                                            const std::optional<at::Tensor>& hidden_bias) {
  const auto of_input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto of_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor reset = at::sigmoid(of_input[0] + of_hidden[0]);
  const at::Tensor update = at::sigmoid(of_input[1] + of_hidden[1]);
  const at::Tensor fresh = at::tanh(of_input[2] + reset * of_hidden[2]);
  return {fresh + update * (hidden - fresh), at::empty({0}, hidden.options())};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor& input_gates, const at::Tensor& hidden_gates,
                                                         const at::Tensor& cell,
                                                         const std::optional<at::Tensor>& input_bias,
                                                         const std::optional<at::Tensor>& hidden_bias) {
  const auto gates = (with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias)).chunk(4, 1);
  const at::Tensor next = at::sigmoid(gates[1]) * cell + at::sigmoid(gates[0]) * at::tanh(gates[2]);
  return {at::sigmoid(gates[3]) * at::tanh(next), next, at::empty({0}, cell.options())};
}

}  // namespace
}  // namespace leapp::annex

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_gru_cell", &leapp::annex::gru_cell);
  m.impl("_thnn_fused_lstm_cell", &leapp::annex::lstm_cell);
}
