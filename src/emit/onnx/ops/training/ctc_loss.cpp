// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Connectionist temporal classification (Graves et al., ICML 2006): the forward variables, in logarithms, as a loop
// over time. Labels stand between blanks: position 2 i + 1 is label i, the others are blank.
#include <algorithm>
#include <array>
#include <limits>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Lengths {
  Tensor inputs;   // [N], int64
  Tensor targets;  // [N], int64
};

Tensor lengths(OpBuilder& b, std::string_view name, std::int64_t batch) {
  const bool list = b.node().overload() == "IntList";
  const Tensor given = list ? b.ints(b.integers(name)) : b.operand(name, DType::kInt64);
  return b.expand(b.reshape(given, {given.elements()}), {batch});
}

/// The labels as [N, S]. One after the other in one dimension, those of a sequence begin where the lengths before end.
Tensor padded_targets(OpBuilder& b, const Lengths& by, std::int64_t batch) {
  const Tensor given = b.operand("targets", DType::kInt64);
  if (given.rank() == 2) return given;
  const Tensor axis = b.constant(std::int64_t{0}, DType::kInt64);
  const Tensor ends = b.add("CumSum", {by.targets, axis}, by.targets.type());
  const Tensor starts = b.reshape(b.binary("Sub", ends, by.targets), {batch, 1});
  const std::int64_t most = given.size(0);
  const Tensor places = b.binary("Add", starts, b.ints(iota(most), {1, most}));
  return b.gather(given, b.binary("Min", places, b.constant(most - 1, DType::kInt64)), 0);
}

/// [N, S] to [N, 2 S + 1], with blanks around.
Tensor with_blanks(OpBuilder& b, const Tensor& labels, std::int64_t blank) {
  const std::int64_t batch = labels.size(0);
  const std::int64_t count = labels.size(1);
  const Tensor blanks = b.full(blank, {DType::kInt64, {batch, count, 1}});
  const Tensor pairs = b.concat({blanks, b.unsqueeze(labels, {2})}, 2);
  return b.concat({b.reshape(pairs, {batch, 2 * count}), b.full(blank, {DType::kInt64, {batch, 1}})}, 1);
}

/// The last dimension moved up by `count`, `fill` coming in.
Tensor moved_up(OpBuilder& b, const Tensor& x, std::int64_t count, const Scalar& fill) {
  const Tensor kept = b.slice(x, 1, 0, x.size(1) - count);
  return b.concat({b.full(fill, {x.dtype, {x.size(0), count}}), kept}, 1);
}

/// ln(sum of e^x) of three, all of which may be ln 0.
Tensor log_sum(OpBuilder& b, const Tensors& terms) {
  const Tensor largest = b.binary("Max", b.binary("Max", terms[0], terms[1]), terms[2]);
  const Tensor base = b.where(compare_number(b, "Equal", largest, kNever), b.constant(0.0, largest.dtype), largest);
  Tensor sum;
  for (const Tensor& term : terms) {
    const Tensor part = b.unary("Exp", b.binary("Sub", term, base));
    sum = sum.present() ? b.binary("Add", sum, part) : part;
  }
  return b.binary("Add", base, b.unary("Log", sum));
}

/// A label may follow the one before it without a blank between, unless they are the same.
Tensor may_skip(OpBuilder& b, const Tensor& positions, std::int64_t blank) {
  const Tensor is_label = b.logical_not(compare_number(b, "Equal", positions, static_cast<double>(blank)));
  const Tensor other = b.logical_not(b.compare("Equal", positions, moved_up(b, positions, 2, blank)));
  return b.binary("And", is_label, other);
}

/// ln P of all ways to be at each position after each sequence's last step: [N, 2 S + 1].
Tensor forward(OpBuilder& b, const Tensor& logs, const Tensor& positions, const Tensor& steps) {
  const std::int64_t width = positions.size(1);
  const std::int64_t batch = positions.size(0);
  const std::int64_t blank = b.integer("blank");
  const Tensor indices = b.expand(b.unsqueeze(positions, {0}), {logs.size(0), batch, width});
  const Tensor chosen = b.gather_elements(logs, indices, 2);
  const Tensor skip =
      b.where(may_skip(b, positions, blank), b.constant(0.0, logs.dtype), b.constant(kNever, logs.dtype));
  const Tensor start =
      b.concat({b.full(0.0, {logs.dtype, {batch, 1}}), b.full(kNever, {logs.dtype, {batch, width - 1}})}, 1);
  const Tensor lengths = b.reshape(steps, {batch, 1});
  const auto step = [&](const Tensor& round, const Tensors& values) -> Tensors {
    const Tensor& now = values[0];
    const Tensor skipped = b.binary("Add", moved_up(b, now, 2, kNever), skip);
    const Tensor arrived = log_sum(b, {now, moved_up(b, now, 1, kNever), skipped});
    const Tensor next = b.binary("Add", arrived, b.gather(chosen, b.reshape(round, {}), 0));
    return {b.where(b.compare("Less", round, lengths), next, now)};
  };
  return b.loop(b.constant(logs.size(0), DType::kInt64), {start}, step)[0];
}

/// The last label, or the blank after it.
Tensor negative_log_likelihood(OpBuilder& b, const Tensor& alpha, const Tensor& counts) {
  const Tensor last = with_number(b, "Mul", b.reshape(counts, {counts.size(0), 1}), 2);
  const Tensor after = b.gather_elements(alpha, last, 1);
  const Tensor label = b.binary("Max", with_number(b, "Sub", last, 1), b.constant(std::int64_t{0}, DType::kInt64));
  const Tensor never = b.constant(kNever, alpha.dtype);
  const Tensor at = b.where(compare_number(b, "Equal", last, 0), never, b.gather_elements(alpha, label, 1));
  return b.unary("Neg", b.squeeze(log_sum(b, {after, at, never}), {1}));
}

void ctc_loss(OpBuilder& b) {
  const Tensor given = b.operand("log_probs", b.result().dtype);
  const bool batched = given.rank() == 3;
  const Tensor logs = batched ? given : b.unsqueeze(given, {1});
  const std::int64_t batch = logs.size(1);
  const Lengths by{lengths(b, "input_lengths", batch), lengths(b, "target_lengths", batch)};
  if (b.node().find("targets") == nullptr || !b.ok()) return;
  if (b.operand("targets", DType::kInt64).elements() == 0) return b.refuse("no sequence has a label");
  const Tensor labels = padded_targets(b, by, batch);
  const Tensor zero = b.constant(std::int64_t{0}, DType::kInt64);
  // What pads the labels may be anything.
  const Tensor safe = b.clip(labels, zero, b.constant(logs.size(2) - 1, DType::kInt64));
  const Tensor positions = with_blanks(b, safe, b.integer("blank"));
  Tensor loss = negative_log_likelihood(b, forward(b, logs, positions, by.inputs), by.targets);
  if (b.flag("zero_infinity")) {
    const Tensor infinite = compare_number(b, "Equal", loss, -kNever);
    loss = b.where(infinite, b.constant(0.0, loss.dtype), loss);
  }
  const std::int64_t reduction = b.integer("reduction");
  if (reduction == 1) {
    const Tensor counts = b.binary("Max", by.targets, b.constant(std::int64_t{1}, DType::kInt64));
    loss = b.binary("Div", loss, b.cast(counts, loss.dtype));
  }
  b.bind(b.reshape(reduce_loss(b, loss, reduction), b.result().shape));
}

constexpr std::array kCtcOps = {
    EmitEntry{"aten::ctc_loss.IntList", ctc_loss},
    EmitEntry{"aten::ctc_loss.Tensor", ctc_loss},
};

}  // namespace

EmitEntries ctc_ops() { return kCtcOps; }

}  // namespace leapp::onnx_ops
