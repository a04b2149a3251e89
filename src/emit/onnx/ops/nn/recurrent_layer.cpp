// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/nn/recurrent_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace leapp::onnx_ops {
namespace {

// Each step is about ten nodes; a model of more would be slow to load and to run.
constexpr std::int64_t kMostUnrolledSteps = 256;

/// Where ONNX's gates stand in torch's order.
Ints gate_order(CellKind kind) {
  switch (kind) {
    case CellKind::kGru:
      return {1, 0, 2};  // z r h out of r z n
    case CellKind::kLstm:
      return {0, 3, 1, 2};  // i o f c out of i f g o
    default:
      return {0};
  }
}

std::string operator_of(CellKind kind) {
  if (kind == CellKind::kGru) return "GRU";
  return kind == CellKind::kLstm ? "LSTM" : "RNN";
}

/// Some rows of a tensor.
struct RowBlock {
  Tensor source;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The blocks of `part` in ONNX's order; an absent bias counts as zeros.
void append_gates(OpBuilder& b, const CellStep& cell, Tensor part, std::vector<RowBlock>& blocks) {
  const Ints order = gate_order(cell.kind);
  const std::int64_t rows = cell.input.size(0) / std::ssize(order);
  if (!part.present()) part = b.full(0.0, {cell.input.dtype, {cell.input.size(0)}});
  for (const std::int64_t gate : order) blocks.push_back({part, gate * rows, rows});
}

std::span<const std::byte> bytes_of(const graph::Constant& constant, const RowBlock& block) {
  const std::size_t row = constant.byte_size() / static_cast<std::size_t>(block.source.size(0));
  return constant.bytes().subspan(static_cast<std::size_t>(block.first) * row,
                                  static_cast<std::size_t>(block.count) * row);
}

/// The blocks below each other, as `shape`: one initializer when all of them are constants.
Tensor stack_rows(OpBuilder& b, const std::vector<RowBlock>& blocks, const Shape& shape) {
  const auto known = [&](const RowBlock& block) { return b.constant_of(block.source) != nullptr; };
  const DType dtype = blocks[0].source.dtype;
  if (!std::all_of(blocks.begin(), blocks.end(), known)) {
    Tensors parts;
    for (const RowBlock& block : blocks)
      parts.push_back(b.slice(block.source, 0, block.first, block.first + block.count));
    return b.reshape(b.concat(parts, 0), shape);
  }
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const RowBlock& block : blocks) {
    const auto part = bytes_of(*b.constant_of(block.source), block);
    bytes->insert(bytes->end(), part.begin(), part.end());
  }
  const void* data = bytes->data();
  return b.constant(graph::Constant{{dtype, shape}, std::shared_ptr<const void>(std::move(bytes), data), true});
}

struct PackedWeights {
  Tensor input;
  Tensor hidden;
  Tensor bias;
};

PackedWeights pack_weights(OpBuilder& b, const std::vector<CellStep>& cells) {
  std::vector<RowBlock> input;
  std::vector<RowBlock> hidden;
  std::vector<RowBlock> bias;
  for (const CellStep& cell : cells) {
    append_gates(b, cell, cell.input, input);
    append_gates(b, cell, cell.hidden, hidden);
    append_gates(b, cell, cell.input_bias, bias);
    append_gates(b, cell, cell.hidden_bias, bias);
  }
  const CellStep& first = cells[0];
  const std::int64_t count = std::ssize(cells);
  const std::int64_t rows = first.input.size(0);
  PackedWeights packed = {stack_rows(b, input, {count, rows, first.input.size(1)}),
                          stack_rows(b, hidden, {count, rows, first.hidden.size(1)}),
                          {}};
  if (first.input_bias.present()) packed.bias = stack_rows(b, bias, {count, 2 * rows});
  return packed;
}

/// Absent when it is known to be zero, which is what ONNX assumes.
Tensor unless_zero(OpBuilder& b, const Tensor& state) {
  const graph::Constant* constant = b.constant_of(state);
  if (constant == nullptr) return state;
  const auto bytes = constant->bytes();
  const bool zero = std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  return zero ? Tensor{} : state;
}

Tensors without_absent_tail(Tensors inputs) {
  while (!inputs.back().present()) inputs.pop_back();
  return inputs;
}

Attributes layer_attributes(const Layer& layer, std::int64_t hidden) {
  const CellKind kind = layer.directions[0].kind;
  Attributes attributes = {{"hidden_size", hidden}};
  if (layer.directions.size() == 2) attributes.push_back({"direction", std::string("bidirectional")});
  if (kind == CellKind::kGru) attributes.push_back({"linear_before_reset", std::int64_t{1}});
  if (kind == CellKind::kRelu) {
    attributes.push_back({"activations", std::vector<std::string>(layer.directions.size(), "Relu")});
  }
  return attributes;
}

LayerResult run_as_operator(OpBuilder& b, const Layer& layer, const Tensor& x) {
  const CellKind kind = layer.directions[0].kind;
  const std::int64_t count = std::ssize(layer.directions);
  const std::int64_t hidden = layer.directions[0].hidden.size(1);
  const PackedWeights weights = pack_weights(b, layer.directions);
  Tensors inputs = {
      x, weights.input, weights.hidden, weights.bias, layer.lengths, unless_zero(b, layer.initial.hidden)};
  const TensorType state{x.dtype, {count, x.size(1), hidden}};
  std::vector<TensorType> types = {{x.dtype, {x.size(0), count, x.size(1), hidden}}, state};
  if (kind == CellKind::kLstm) {
    inputs.push_back(unless_zero(b, layer.initial.cell));
    types.push_back(state);
  }
  const Tensors made =
      b.add_many(operator_of(kind), without_absent_tail(inputs), types, layer_attributes(layer, hidden));
  const Tensor by_batch = count == 1 ? made[0] : b.transpose(made[0], {0, 2, 1, 3});
  LayerResult result{b.reshape(by_batch, {x.size(0), x.size(1), count * hidden}), {made[1], {}}};
  if (kind == CellKind::kLstm) result.last.cell = made[2];
  return result;
}

struct DirectionResult {
  Tensors outputs;  // by step
  CellState last;
};

DirectionResult run_direction(OpBuilder& b, const CellStep& cell, const Tensor& x, CellState state) {
  const std::int64_t steps = x.size(0);
  DirectionResult result;
  for (std::int64_t step = 0; step < steps; ++step) {
    state = cell_step(b, cell, b.select(x, 0, step), state);
    result.outputs.push_back(b.unsqueeze(state.hidden, {0}));
  }
  result.last = {b.unsqueeze(state.hidden, {0}), state.cell.present() ? b.unsqueeze(state.cell, {0}) : Tensor{}};
  return result;
}

LayerResult run_step_by_step(OpBuilder& b, const Layer& layer, const Tensor& x) {
  const std::int64_t steps = x.size(0);
  if (steps > kMostUnrolledSteps) {
    b.refuse(fmt::format("has no ONNX operator in this form, and {} steps are too many to spell out (at most {})",
                         steps, kMostUnrolledSteps));
  }
  if (layer.lengths.present()) b.refuse("sequences of several lengths need a form that ONNX has an operator for");
  if (!b.ok()) return {x, layer.initial};
  Tensors outputs;
  Tensors hidden;
  Tensors cells;
  for (std::int64_t i = 0; i < std::ssize(layer.directions); ++i) {
    const bool backward = i == 1;
    // Down to the first step: an end of -1 would count from the back.
    const Tensor input = backward ? b.slice(x, 0, steps - 1, -1 - steps, -1) : x;
    const CellState& all = layer.initial;
    const CellState initial = {b.select(all.hidden, 0, i), all.cell.present() ? b.select(all.cell, 0, i) : Tensor{}};
    DirectionResult made = run_direction(b, layer.directions[static_cast<std::size_t>(i)], input, initial);
    if (backward) std::reverse(made.outputs.begin(), made.outputs.end());
    outputs.push_back(b.concat(made.outputs, 0));
    hidden.push_back(made.last.hidden);
    cells.push_back(made.last.cell);
  }
  return {b.concat(outputs, 2), {b.concat(hidden, 0), cells[0].present() ? b.concat(cells, 0) : Tensor{}}};
}

}  // namespace

LayerResult run_layer(OpBuilder& b, const Layer& layer, const Tensor& x) {
  const bool projected = layer.directions[0].projection.present();
  if (projected || x.dtype == DType::kFloat64) return run_step_by_step(b, layer, x);
  return run_as_operator(b, layer, x);
}

Tensor swap_first_dims(OpBuilder& b, const Tensor& x) {
  if (x.size(0) == 1 || x.size(1) == 1) return b.reshape(x, {x.size(1), x.size(0), x.size(2)});
  return b.transpose(x, {1, 0, 2});
}

}  // namespace leapp::onnx_ops
