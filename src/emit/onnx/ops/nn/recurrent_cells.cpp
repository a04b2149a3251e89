// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/nn/recurrent_cells.h"

#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

Tensors gates_of(OpBuilder& b, const Tensor& x, std::int64_t count) {
  return b.split(x, -1, Ints(static_cast<std::size_t>(count), x.size(-1) / count));
}

CellState gru_gates(OpBuilder& b, const CellGates& gates, const CellState& state) {
  const Tensors from_input = gates_of(b, gates.input, 3);
  const Tensors from_hidden = gates_of(b, gates.hidden, 3);
  const Tensor reset = b.unary("Sigmoid", b.binary("Add", from_input[0], from_hidden[0]));
  const Tensor update = b.unary("Sigmoid", b.binary("Add", from_input[1], from_hidden[1]));
  const Tensor fresh = b.unary("Tanh", b.binary("Add", from_input[2], b.binary("Mul", reset, from_hidden[2])));
  // fresh + update * (h - fresh), which torch computes too
  return {b.binary("Add", fresh, b.binary("Mul", update, b.binary("Sub", state.hidden, fresh))), {}};
}

CellState lstm_gates(OpBuilder& b, const CellGates& gates, const CellState& state) {
  const Tensors parts = gates_of(b, b.binary("Add", gates.input, gates.hidden), 4);
  const Tensor input = b.unary("Sigmoid", parts[0]);
  const Tensor forget = b.unary("Sigmoid", parts[1]);
  const Tensor fresh = b.unary("Tanh", parts[2]);
  const Tensor output = b.unary("Sigmoid", parts[3]);
  const Tensor cell = b.binary("Add", b.binary("Mul", forget, state.cell), b.binary("Mul", input, fresh));
  return {b.binary("Mul", output, b.unary("Tanh", cell)), cell};
}

}  // namespace

Tensor gemm(OpBuilder& b, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Tensors inputs = {x, weight};
  if (bias.present()) inputs.push_back(bias);
  return b.add("Gemm", inputs, {x.dtype, {x.size(0), weight.size(0)}}, {{"transB", std::int64_t{1}}});
}

CellState cell_gates(OpBuilder& b, CellKind kind, const CellGates& gates, const CellState& state) {
  if (kind == CellKind::kGru) return gru_gates(b, gates, state);
  if (kind == CellKind::kLstm) return lstm_gates(b, gates, state);
  return {b.unary(kind == CellKind::kTanh ? "Tanh" : "Relu", b.binary("Add", gates.input, gates.hidden)), {}};
}

CellState cell_step(OpBuilder& b, const CellStep& cell, const Tensor& x, const CellState& state) {
  const CellGates gates = {gemm(b, x, cell.input, cell.input_bias),
                           gemm(b, state.hidden, cell.hidden, cell.hidden_bias)};
  CellState next = cell_gates(b, cell.kind, gates, state);
  if (cell.projection.present()) next.hidden = gemm(b, next.hidden, cell.projection, {});
  return next;
}

}  // namespace leapp::onnx_ops
