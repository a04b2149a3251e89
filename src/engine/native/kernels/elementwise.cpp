// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The result is gone through as one line of rows * columns numbers, some hundred at a time. An operand that lies in
// memory as the result does is used where it is; others are brought into a register first.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/kernels.h"
#include "engine/native/kernels/storage.h"

namespace leapp::native::kernels {

namespace {

constexpr std::int64_t kBlock = 256;

/// Numbers [start, start + count) of the result, and where the registers are while they are worked on.
struct Block {
  std::int64_t start;
  std::int64_t count;
  float* memory;      ///< kElementwiseRegisters times kBlock
  bool use_in_place;  ///< what is read: not if one output's memory may be what another output is read from
  const float* registers[kElementwiseRegisters];

  [[nodiscard]] float* own(std::uint8_t reg) const noexcept { return memory + reg * kBlock; }
};

[[nodiscard]] bool is_line(const ElementwiseOperand& operand, const Elementwise& args) noexcept {
  return operand.column_stride == 1 && (args.rows == 1 || operand.row_stride == args.columns);
}

[[nodiscard]] bool is_scalar(const ElementwiseOperand& operand, const Elementwise& args) noexcept {
  return operand.column_stride == 0 && (args.rows == 1 || operand.row_stride == 0);
}

/// The same numbers in every row.
[[nodiscard]] bool is_repeated(const ElementwiseOperand& operand, const Elementwise& args) noexcept {
  return args.rows > 1 && operand.column_stride == 1 && operand.row_stride == 0;
}

/// How many numbers are worked on at a time. Whole rows where an operand is the same in every row: what was brought
/// into its register for the first block is there for all that follow. Whole vectors too, if that is possible.
[[nodiscard]] std::int64_t block_size(const Elementwise& args) noexcept {
  const ElementwiseOperand* end = args.operands + args.input_count;
  if (args.columns == 0 || args.columns > kBlock ||
      std::none_of(args.operands, end, [&](const ElementwiseOperand& each) { return is_repeated(each, args); })) {
    return kBlock;
  }
  const std::int64_t vectors = std::lcm(args.columns, std::int64_t{16});
  const std::int64_t unit = vectors <= kBlock ? vectors : args.columns;
  return kBlock / unit * unit;
}

[[nodiscard]] char* address(const ElementwiseOperand& operand, std::int64_t element) noexcept {
  return static_cast<char*>(operand.data) + element * static_cast<std::int64_t>(storage_size(operand.storage));
}

/// Calls f(position in the block, row, first column, columns) for each row's part of the block.
template <class F>
void for_each_part(const Elementwise& args, const Block& block, F f) noexcept {
  std::int64_t row = block.start / args.columns;
  std::int64_t column = block.start % args.columns;
  for (std::int64_t done = 0; done < block.count; ++row, column = 0) {
    const std::int64_t count = std::min(args.columns - column, block.count - done);
    f(done, row, column, count);
    done += count;
  }
}

void read(const Elementwise& args, const ElementwiseOperand& operand, Block& block) noexcept {
  float* to = block.own(operand.reg);
  block.registers[operand.reg] = to;
  if (is_line(operand, args)) {
    if (operand.storage == Storage::kFloat32 && block.use_in_place) {
      block.registers[operand.reg] = static_cast<const float*>(operand.data) + block.start;
    } else {
      load_as_float(address(operand, block.start), operand.storage, to, static_cast<std::size_t>(block.count));
    }
    return;
  }
  if (is_repeated(operand, args) && args.columns <= kBlock) {  // a block begins with a row
    load_as_float(operand.data, operand.storage, to, static_cast<std::size_t>(std::min(args.columns, block.count)));
    for (std::int64_t done = args.columns; done < block.count;) {  // twice as many each time
      const std::int64_t count = std::min(done, block.count - done);
      std::memcpy(to + done, to, static_cast<std::size_t>(count) * sizeof(float));
      done += count;
    }
    return;
  }
  for_each_part(args, block, [&](std::int64_t at, std::int64_t row, std::int64_t column, std::int64_t count) {
    const std::int64_t from = row * operand.row_stride;
    if (operand.column_stride == 1) {
      load_as_float(address(operand, from + column), operand.storage, to + at, static_cast<std::size_t>(count));
    } else {
      float value = 0;
      load_as_float(address(operand, from), operand.storage, &value, 1);
      std::fill_n(to + at, count, value);
    }
  });
}

void write(const Elementwise& args, const ElementwiseOperand& operand, const Block& block) noexcept {
  const float* from = block.registers[operand.reg];
  if (is_line(operand, args)) {
    char* to = address(operand, block.start);
    if (to != reinterpret_cast<const char*>(from)) {
      store_as(from, operand.storage, to, static_cast<std::size_t>(block.count));
    }
    return;
  }
  for_each_part(args, block, [&](std::int64_t at, std::int64_t row, std::int64_t column, std::int64_t count) {
    store_as(from + at, operand.storage, address(operand, row * operand.row_stride + column),
             static_cast<std::size_t>(count));
  });
}

void run(const ElementwiseOp& op, Block& block, float* to) noexcept {
  const auto n = static_cast<std::size_t>(block.count);
  const float* a = block.registers[op.a];
  switch (op.kind) {
    case ElementwiseOp::Kind::kUnary:
      apply_unary({op.unary, op.alpha, op.beta}, a, to, n);
      break;
    case ElementwiseOp::Kind::kBinary:
      apply_binary(op.binary, a, block.registers[op.b], to, n);
      break;
    case ElementwiseOp::Kind::kWhere:
      apply_where(a, block.registers[op.b], block.registers[op.c], to, n);
      break;
  }
  block.registers[op.result] = to;
}

/// Whether the last operation may write the only output in place of its register.
[[nodiscard]] bool ends_in_memory(const Elementwise& args) noexcept {
  if (args.output_count != 1 || args.op_count == 0) return false;
  const ElementwiseOperand& output = args.operands[args.input_count];
  return output.storage == Storage::kFloat32 && is_line(output, args) &&
         args.ops[args.op_count - 1].result == output.reg;
}

}  // namespace

void elementwise(const Elementwise& args) noexcept {
  alignas(64) float memory[kElementwiseRegisters * kBlock];
  const std::int64_t total = args.rows * args.columns;
  const bool in_memory = ends_in_memory(args);
  const std::int64_t size = block_size(args);
  // What is the same in every block is read once if no operation overwrites its register.
  std::uint32_t overwritten = 0;
  for (std::uint8_t i = 0; i < args.op_count; ++i) overwritten |= 1U << args.ops[i].result;
  Block block{0, 0, memory, args.output_count <= 1, {}};
  for (; block.start < total; block.start += size) {
    block.count = std::min(size, total - block.start);
    for (std::uint8_t i = 0; i < args.input_count; ++i) {
      const ElementwiseOperand& operand = args.operands[i];
      const bool same = is_scalar(operand, args) || (is_repeated(operand, args) && args.columns <= kBlock);
      const bool kept = block.start != 0 && same && (overwritten >> operand.reg & 1U) == 0;
      if (!kept) read(args, operand, block);
    }
    for (std::uint8_t i = 0; i < args.op_count; ++i) {
      const ElementwiseOp& op = args.ops[i];
      const bool last = in_memory && i + 1 == args.op_count;
      float* to = last ? static_cast<float*>(args.operands[args.input_count].data) + block.start : block.own(op.result);
      run(op, block, to);
    }
    for (std::uint8_t i = 0; i < args.output_count; ++i) write(args, args.operands[args.input_count + i], block);
  }
}

}  // namespace leapp::native::kernels
