// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <utility>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/nn/normalisation.h"
#include "emit/onnx/ops/nn/recurrent_layer.h"
#include "emit/onnx/ops/nn/recurrent_packing.h"

namespace leapp::onnx_ops {
namespace {

CellKind kind_of(OpBuilder& b) {
  if (b.onnx_op() == "GRU") return CellKind::kGru;
  if (b.onnx_op() == "LSTM") return CellKind::kLstm;
  return b.onnx_op() == "Relu" ? CellKind::kRelu : CellKind::kTanh;
}

Tensors cast_all(OpBuilder& b, Tensors values, DType dtype) {
  for (Tensor& value : values) value = b.cast(value, dtype);
  return values;
}

/// The initial state over all layers; LSTM has two tensors.
CellState initial_state(OpBuilder& b, CellKind kind, DType dtype) {
  if (kind != CellKind::kLstm) return {b.operand("hx", dtype), {}};
  const Tensors both = cast_all(b, b.tensors("hx"), dtype);
  if (both.size() == 2) return {both[0], both[1]};
  b.fault("expected two tensors of state");
  return {};
}

/// What every layer of the network shares.
struct Network {
  CellKind kind = CellKind::kTanh;
  std::int64_t layers = 1;
  std::int64_t directions = 1;
  bool biases = true;
  Tensors params;
};

Network network_arguments(OpBuilder& b, DType dtype) {
  Network network{kind_of(b), b.integer("num_layers"), b.flag("bidirectional") ? 2 : 1, b.flag("has_biases"),
                  cast_all(b, b.tensors("params"), dtype)};
  if (b.flag("train") && b.number("dropout") > 0 && network.layers > 1) {
    b.refuse("dropout between the layers is random; put the module in eval mode");
  }
  if (network.layers < 1 ||
      network.params.size() % static_cast<std::size_t>(network.layers * network.directions) != 0) {
    b.fault("the number of parameters does not fit the number of layers");
  }
  return network;
}

CellStep cell_of(const Network& network, std::int64_t index) {
  const auto each = network.params.size() / static_cast<std::size_t>(network.layers * network.directions);
  const Tensor* params = network.params.data() + static_cast<std::size_t>(index) * each;
  CellStep cell{.kind = network.kind,
                .input = params[0],
                .hidden = params[1],
                .input_bias = {},
                .hidden_bias = {},
                .projection = {}};
  if (network.biases) {
    cell.input_bias = params[2];
    cell.hidden_bias = params[3];
  }
  const std::size_t plain = network.biases ? 4 : 2;
  if (each > plain) cell.projection = params[plain];
  return cell;
}

/// The states of one layer. Of a constant without a node, so that zeros are seen as such.
Tensor rows(OpBuilder& b, const Tensor& state, std::int64_t first, std::int64_t count) {
  if (!state.present()) return state;
  const graph::Constant* known = b.constant_of(state);
  if (known == nullptr) return b.slice(state, 0, first, first + count);
  const std::size_t row = known->byte_size() / static_cast<std::size_t>(state.size(0));
  const void* data = known->bytes().subspan(static_cast<std::size_t>(first) * row).data();
  TensorType type = state.type();
  type.shape[0] = count;
  return b.constant(graph::Constant{std::move(type), std::shared_ptr<const void>(known->data, data), false});
}

/// Every layer after the other; `x` is [steps, batch, features].
LayerResult run_network(OpBuilder& b, const Network& network, const Tensor& x, const Tensor& lengths) {
  const CellState initial = initial_state(b, network.kind, x.dtype);
  LayerResult result{x, initial};
  Tensors hidden;
  Tensors cells;
  for (std::int64_t i = 0; i < network.layers && b.ok(); ++i) {
    const std::int64_t first = i * network.directions;
    Layer layer;
    layer.lengths = lengths;
    layer.initial = {rows(b, initial.hidden, first, network.directions),
                     rows(b, initial.cell, first, network.directions)};
    for (std::int64_t d = 0; d < network.directions; ++d) layer.directions.push_back(cell_of(network, first + d));
    result = run_layer(b, layer, result.output);
    hidden.push_back(result.last.hidden);
    cells.push_back(result.last.cell);
  }
  if (!b.ok()) return result;
  result.last = {b.concat(hidden, 0), initial.cell.present() ? b.concat(cells, 0) : Tensor{}};
  return result;
}

void bind_last(OpBuilder& b, const LayerResult& made) {
  const DType dtype = b.result().dtype;
  b.bind(1, b.cast(made.last.hidden, dtype));
  if (made.last.cell.present()) b.bind(2, b.cast(made.last.cell, dtype));
}

void bind_all(OpBuilder& b, const LayerResult& made) {
  b.bind(0, b.cast(made.output, b.result().dtype));
  bind_last(b, made);
}

Tensor int32s(OpBuilder& b, const Ints& values) {
  return b.constant(std::vector<Scalar>(values.begin(), values.end()), {DType::kInt32, {std::ssize(values)}});
}

void sequence(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const Network network = network_arguments(b, dtype);
  if (!b.ok()) return;
  const bool batch_first = b.flag("batch_first");
  const Tensor x = b.operand("input", dtype);
  LayerResult made = run_network(b, network, batch_first ? swap_first_dims(b, x) : x, {});
  if (!b.ok()) return;
  if (batch_first) made.output = swap_first_dims(b, made.output);
  bind_all(b, made);
}

/// Lengths that are not known: the sequences are padded, and stay so.
void padded_sequence(OpBuilder& b, const PaddedSequence& sequence) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const Network network = network_arguments(b, dtype);
  if (!b.ok()) return;
  const Tensor lengths = b.cast(sequence.lengths, DType::kInt32);
  const LayerResult made = run_network(b, network, b.cast(sequence.data, dtype), lengths);
  if (!b.ok()) return;
  b.bind(0, PaddedSequence{b.cast(made.output, b.result().dtype), sequence.lengths});
  bind_last(b, made);
}

void packed_sequence(OpBuilder& b) {
  if (const PaddedSequence* sequence = b.padded("data")) return padded_sequence(b, *sequence);
  const DType dtype = statistics_dtype(b.result().dtype);
  const Network network = network_arguments(b, dtype);
  const Ints batch_sizes = known_lengths(b, "batch_sizes");
  if (!b.ok()) return;
  const Packing packing = packing_of(batch_sizes);
  Tensor data = b.operand("data", dtype);
  if (packing.ragged()) data = b.gather(data, b.ints(packing.padded_from_packed), 0);
  LayerResult made = run_network(b, network, b.reshape(data, {packing.steps, packing.batch, data.size(-1)}),
                                 packing.ragged() ? int32s(b, packing.lengths) : Tensor{});
  if (!b.ok()) return;
  made.output = b.reshape(made.output, {packing.steps * packing.batch, made.output.size(-1)});
  if (packing.ragged()) made.output = b.gather(made.output, b.ints(packing.packed_from_padded), 0);
  bind_all(b, made);
}

// ---- cells ----

void cell_op(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const CellKind kind = kind_of(b);
  const CellStep cell{.kind = kind,
                      .input = b.operand("w_ih", dtype),
                      .hidden = b.operand("w_hh", dtype),
                      .input_bias = b.has("b_ih") ? b.operand("b_ih", dtype) : Tensor{},
                      .hidden_bias = b.has("b_hh") ? b.operand("b_hh", dtype) : Tensor{},
                      .projection = {}};
  Tensor x = b.operand("input", dtype);
  CellState state = initial_state(b, kind, dtype);
  if (!b.ok()) return;
  if (x.rank() == 1) x = b.unsqueeze(x, {0});
  if (state.hidden.rank() == 1) {
    state.hidden = b.unsqueeze(state.hidden, {0});
    if (state.cell.present()) state.cell = b.unsqueeze(state.cell, {0});
  }
  const CellState next = cell_step(b, cell, x, state);
  b.bind(0, b.cast(b.reshape(next.hidden, b.result().shape), b.result().dtype));
  if (kind == CellKind::kLstm) b.bind(1, b.cast(b.reshape(next.cell, b.result(1).shape), b.result(1).dtype));
}

constexpr std::array kRecurrentOps = {
    EmitEntry{"aten::_pack_padded_sequence", pack_sequence},
    EmitEntry{"aten::_pad_packed_sequence", pad_sequence},
    EmitEntry{"aten::gru.data", packed_sequence, "GRU"},
    EmitEntry{"aten::gru.input", sequence, "GRU"},
    EmitEntry{"aten::gru_cell", cell_op, "GRU"},
    EmitEntry{"aten::lstm.data", packed_sequence, "LSTM"},
    EmitEntry{"aten::lstm.input", sequence, "LSTM"},
    EmitEntry{"aten::lstm_cell", cell_op, "LSTM"},
    EmitEntry{"aten::rnn_relu.data", packed_sequence, "Relu"},
    EmitEntry{"aten::rnn_relu.input", sequence, "Relu"},
    EmitEntry{"aten::rnn_relu_cell", cell_op, "Relu"},
    EmitEntry{"aten::rnn_tanh.data", packed_sequence, "Tanh"},
    EmitEntry{"aten::rnn_tanh.input", sequence, "Tanh"},
    EmitEntry{"aten::rnn_tanh_cell", cell_op, "Tanh"},
};

}  // namespace

EmitEntries recurrent_ops() { return kRecurrentOps; }

}  // namespace leapp::onnx_ops
