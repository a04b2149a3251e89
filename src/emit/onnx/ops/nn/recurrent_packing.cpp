// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/nn/recurrent_packing.h"

#include <algorithm>

#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// Exchanges the first two dimensions.
Tensor swapped(OpBuilder& b, const Tensor& x) { return b.swap_dims(x, 0, 1); }

/// [a, b, c...] to [a * b, c...]
Tensor rows_of(OpBuilder& b, const Tensor& x) {
  Shape shape(x.shape.begin() + 1, x.shape.end());
  shape[0] *= x.size(0);
  return b.reshape(x, shape);
}

/// The sequences stay padded, and it is known how long each is.
void keep_padded(OpBuilder& b, const Tensor& lengths) {
  const Tensor x = b.flag("batch_first") ? swapped(b, b.tensor("input")) : b.tensor("input");
  b.bind(0, PaddedSequence{x, lengths});
  b.bind(1, PaddedSequence{x, lengths});
}

/// What lies behind the end of each sequence is overwritten.
void pad_again(OpBuilder& b, const PaddedSequence& sequence) {
  const std::int64_t total = b.has("total_length") ? b.integer("total_length") : 0;
  if (total <= 0) {
    return b.refuse("how long the longest sequence is depends on an input: give pad_packed_sequence a total_length");
  }
  Tensor value = sequence.data;
  const std::int64_t missing = total - value.size(0);
  const Ints none(static_cast<std::size_t>(value.rank()), 0);
  Ints behind = none;
  behind[0] = std::max<std::int64_t>(missing, 0);
  if (missing < 0) value = b.slice(value, 0, 0, total);
  if (missing > 0) value = b.pad(value, none, behind, "constant", std::int64_t{0});
  Shape shape(static_cast<std::size_t>(value.rank()), 1);
  shape[0] = total;
  const Tensor step = b.ints(iota(total), shape);
  shape[0] = 1;
  shape[1] = sequence.lengths.elements();
  const Tensor inside = b.compare("Less", step, b.reshape(sequence.lengths, shape));
  value = b.where(inside, value, b.constant(b.scalar("padding_value"), value.dtype));
  b.bind(0, b.flag("batch_first") ? swapped(b, value) : value);
  b.bind(1, sequence.lengths);
}

}  // namespace

Packing packing_of(const Ints& batch_sizes) {
  Packing packing;
  packing.steps = std::ssize(batch_sizes);
  packing.batch = batch_sizes.empty() ? 0 : batch_sizes.front();
  packing.lengths.assign(static_cast<std::size_t>(packing.batch), 0);
  std::int64_t next = 0;
  for (std::int64_t step = 0; step < packing.steps; ++step) {
    const std::int64_t size = batch_sizes[static_cast<std::size_t>(step)];
    for (std::int64_t i = 0; i < packing.batch; ++i) {
      packing.padded_from_packed.push_back(i < size ? next + i : 0);
      if (i >= size) continue;
      packing.packed_from_padded.push_back(step * packing.batch + i);
      ++packing.lengths[static_cast<std::size_t>(i)];
    }
    next += size;
  }
  return packing;
}

Ints known_lengths(OpBuilder& b, std::string_view name) {
  Ints numbers;
  if (const auto known = b.known_values(b.tensor(name))) {
    for (const Scalar& value : *known) numbers.push_back(to_int64(value));
  }
  if (numbers.empty()) b.refuse("the lengths of the sequences depend on an input; ONNX needs to know them");
  return numbers;
}

void pack_sequence(OpBuilder& b) {
  const Tensor given = b.operand("lengths", DType::kInt64);
  if (!b.known_values(given)) return keep_padded(b, given);
  const Ints lengths = known_lengths(b, "lengths");
  if (!b.ok()) return;
  Ints batch_sizes;
  for (std::int64_t step = 0; step < lengths.front(); ++step) {
    batch_sizes.push_back(std::count_if(lengths.begin(), lengths.end(), [&](std::int64_t n) { return n > step; }));
  }
  const Packing packing = packing_of(batch_sizes);
  const Tensor x = b.flag("batch_first") ? swapped(b, b.tensor("input")) : b.tensor("input");
  b.bind(0, b.gather(rows_of(b, x), b.ints(packing.packed_from_padded), 0));
  b.bind(1, b.ints(batch_sizes));
}

void pad_sequence(OpBuilder& b) {
  if (const PaddedSequence* sequence = b.padded("data")) return pad_again(b, *sequence);
  const Ints batch_sizes = known_lengths(b, "batch_sizes");
  if (!b.ok()) return;
  Packing packing = packing_of(batch_sizes);
  const std::int64_t steps = std::max(packing.steps, b.has("total_length") ? b.integer("total_length") : 0);
  packing.padded_from_packed.resize(static_cast<std::size_t>(steps * packing.batch), 0);
  const Tensor data = b.tensor("data");
  Tensor value = b.gather(data, b.ints(packing.padded_from_packed, {steps, packing.batch}), 0);
  std::vector<Scalar> inside;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (const std::int64_t length : packing.lengths) inside.emplace_back(step < length);
  }
  Shape shape(static_cast<std::size_t>(value.rank()), 1);
  shape[0] = steps;
  shape[1] = packing.batch;
  const Tensor padding = b.constant(b.scalar("padding_value"), data.dtype);
  if (packing.ragged() || steps > packing.steps) {
    value = b.where(b.constant(inside, {DType::kBool, shape}), value, padding);
  }
  b.bind(0, b.flag("batch_first") ? swapped(b, value) : value);
  b.bind(1, b.ints(packing.lengths));
}

}  // namespace leapp::onnx_ops
