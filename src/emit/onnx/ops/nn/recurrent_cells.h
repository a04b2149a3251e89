// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One step of a recurrent network, in plain arithmetic: for the cells, and for dtypes that GRU, LSTM and RNN have no
// kernel of.
#pragma once

#include <cstdint>

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

enum class CellKind : std::uint8_t { kGru, kLstm, kTanh, kRelu };

/// One layer in one direction; weights, as torch has them: gates stacked along the rows.
struct CellStep {
  CellKind kind = CellKind::kTanh;
  Tensor input;   ///< [gates * hidden, features]
  Tensor hidden;  ///< [gates * hidden, hidden]; of a projection: [gates * hidden, projected]
  Tensor input_bias;
  Tensor hidden_bias;
  Tensor projection;  ///< [projected, hidden]; LSTM only, mostly absent
};

struct CellState {
  Tensor hidden;
  Tensor cell;  ///< LSTM only
};

/// `x` is [batch, features], states are [batch, hidden].
CellState cell_step(OpBuilder& b, const CellStep& cell, const Tensor& x, const CellState& state);

/// What follows the products with the weights.
struct CellGates {
  Tensor input;
  Tensor hidden;
};
CellState cell_gates(OpBuilder& b, CellKind kind, const CellGates& gates, const CellState& state);

/// x @ weight^T + bias of two-dimensional x; bias may be absent.
Tensor gemm(OpBuilder& b, const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace leapp::onnx_ops
