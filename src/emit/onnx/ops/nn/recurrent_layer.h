// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One layer over a whole sequence: as GRU, LSTM or RNN, or step by step where those cannot say it.
#pragma once

#include <vector>

#include "emit/onnx/ops/nn/recurrent_cells.h"

namespace leapp::onnx_ops {

struct Layer {
  std::vector<CellStep> directions;  ///< forward, and backward if there are two
  CellState initial;                 ///< [directions, batch, hidden]
  Tensor lengths;                    ///< int32[batch]; absent: all sequences are as long as the input
};

struct LayerResult {
  Tensor output;  ///< [steps, batch, directions * hidden]
  CellState last;
};

/// `x` is [steps, batch, features].
LayerResult run_layer(OpBuilder& b, const Layer& layer, const Tensor& x);

/// Exchanges the first two dimensions of [a, b, c]; without moving data when one of them is 1.
Tensor swap_first_dims(OpBuilder& b, const Tensor& x);

}  // namespace leapp::onnx_ops
