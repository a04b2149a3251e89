// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One tensor out of several, or out of several copies; and padding.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <utility>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// The list in the result's dtype.
Tensors parts_of(OpBuilder& b) {
  Tensors parts = b.tensors("tensors");
  for (Tensor& part : parts) part = b.cast(part, b.result().dtype);
  return parts;
}

void cat(OpBuilder& b) {
  Tensors parts = parts_of(b);
  // torch lets an empty vector stand beside tensors of any rank.
  std::erase_if(parts, [](const Tensor& part) { return part.elements() == 0; });
  b.bind(b.concat(parts, b.integer("dim")));
}

void stack(OpBuilder& b) {
  Tensors parts = parts_of(b);
  const std::int64_t dim = wrap_dim(b.integer("dim"), parts[0].rank() + 1);
  for (Tensor& part : parts) part = b.unsqueeze(part, {dim});
  b.bind(b.concat(parts, dim));
}

/// hstack, vstack, dstack, column_stack: at least so many dimensions, then along one of them.
void stack_along(OpBuilder& b) {
  Tensors parts = parts_of(b);
  const std::string op = b.onnx_op();
  for (Tensor& part : parts) {
    Shape shape = part.shape;
    if (shape.empty()) shape = {1};
    if (op == "v" && shape.size() == 1) shape = {1, shape[0]};
    if (op == "column" && shape.size() == 1) shape = {shape[0], 1};
    if (op == "d" && shape.size() == 1) shape = {1, shape[0], 1};
    if (op == "d" && shape.size() == 2) shape.push_back(1);
    part = b.reshape(part, shape);
  }
  const std::int64_t dim = op == "v" ? 0 : op == "d" ? 2 : op == "h" && parts[0].rank() == 1 ? 0 : 1;
  std::erase_if(parts, [](const Tensor& part) { return part.elements() == 0; });
  b.bind(b.concat(parts, dim));
}

void block_diag(OpBuilder& b) {
  Tensors rows;
  std::int64_t before = 0;
  const std::int64_t width = b.result().shape[1];
  for (const Tensor& part : parts_of(b)) {
    const Tensor block = part.rank() == 2 ? part : b.reshape(part, {1, part.elements()});
    const std::int64_t after = width - before - block.size(1);
    if (block.elements() != 0) rows.push_back(b.pad(block, {0, before}, {0, after}, "constant", std::int64_t{0}));
    if (block.elements() == 0 && block.size(0) != 0) {
      rows.push_back(b.full(std::int64_t{0}, {block.dtype, {block.size(0), width}}));
    }
    before += block.size(1);
  }
  b.bind(b.concat(rows, 0));
}

Tensor repeated(OpBuilder& b, const Tensor& x, const Ints& repeats) {
  Shape shape = x.shape;
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  const Tensor wide = b.reshape(x, shape);
  if (std::all_of(repeats.begin(), repeats.end(), [](std::int64_t n) { return n == 1; })) return wide;
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] *= repeats[i];
  return b.add("Tile", {wide, b.ints(repeats)}, {x.dtype, shape});
}

void repeat(OpBuilder& b) { b.bind(repeated(b, b.tensor("self"), b.integers("repeats"))); }

void tile(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  Ints repeats = b.integers("dims");
  if (std::ssize(repeats) < x.rank()) repeats.insert(repeats.begin(), x.shape.size() - repeats.size(), 1);
  b.bind(repeated(b, x, repeats));
}

/// Element j of the result is of the first whose repeats and all before it are more than j.
void repeat_by_data(OpBuilder& b, const Tensor& x, std::int64_t dim) {
  const Tensor given = b.operand("repeats", DType::kInt64);
  const Tensor repeats = b.expand(b.reshape(given, {given.elements()}), {x.size(dim)});
  const Tensor axis = b.constant(std::int64_t{0}, DType::kInt64);
  const Tensor ends = b.add("CumSum", {repeats, axis}, repeats.type());
  const std::int64_t count = b.integer("output_size");
  const Tensor before = b.compare("LessOrEqual", ends, b.ints(iota(count), {count, 1}));
  b.bind(b.gather(x, b.reduce("ReduceSum", b.cast(before, DType::kInt64), {1}, false), dim));
}

void repeat_interleave(OpBuilder& b) {
  Tensor x = b.tensor("self");
  if (!b.has("dim")) x = b.reshape(x, {x.elements()});
  const std::int64_t dim = b.has("dim") ? b.integer("dim") : 0;
  Ints repeats;
  if (b.is_number("repeats")) {
    repeats = {b.integer("repeats")};
  } else {
    const auto known = b.known_values(b.tensor("repeats"));
    if (!known && b.has("output_size")) return repeat_by_data(b, x, dim);
    if (!known) return b.refuse("how long the result is depends on data; give output_size");
    for (const Scalar& count : *known) repeats.push_back(to_int64(count));
  }
  Ints positions;
  for (std::int64_t i = 0; i < x.size(dim); ++i) {
    const std::size_t which = repeats.size() == 1 ? 0 : static_cast<std::size_t>(i);
    positions.insert(positions.end(), static_cast<std::size_t>(repeats[which]), i);
  }
  b.bind(b.gather(x.rank() == 0 ? b.reshape(x, {1}) : x, b.ints(positions), dim));
}

void cartesian_product(OpBuilder& b) {
  const Tensors parts = b.tensors("tensors");
  if (parts.size() == 1) return b.bind(parts[0]);
  Shape grid;
  for (const Tensor& part : parts) grid.push_back(part.elements());
  Tensors columns;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Shape shape(grid.size(), 1);
    shape[i] = grid[i];
    const Tensor spread = b.expand(b.reshape(parts[i], shape), grid);
    columns.push_back(b.reshape(spread, {spread.elements(), 1}));
  }
  b.bind(b.concat(columns, 1));
}

void combinations(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t count = b.integer("r");
  const bool again = b.flag("with_replacement");
  Ints positions;
  Ints chosen;
  const std::function<void(std::int64_t)> choose = [&](std::int64_t from) {
    if (std::ssize(chosen) == count) {
      positions.insert(positions.end(), chosen.begin(), chosen.end());
      return;
    }
    for (std::int64_t i = from; i < x.elements(); ++i) {
      chosen.push_back(i);
      choose(again ? i : i + 1);
      chosen.pop_back();
    }
  };
  choose(0);
  b.bind(b.gather(x, b.ints(positions, b.result().shape), 0));
}

/// Each tensor padded to a multiple of num_chunks along dim, chunked, and the chunks joined.
void chunk_cat(OpBuilder& b) {
  const Tensors parts = parts_of(b);
  const std::int64_t chunks = b.integer("num_chunks");
  const std::int64_t dim = wrap_dim(b.integer("dim"), parts[0].rank());
  Tensors columns;
  for (const Tensor& part : parts) {
    const std::int64_t each = (part.size(dim) + chunks - 1) / chunks;
    Ints before(part.shape.size(), 0);
    Ints after = before;
    after[static_cast<std::size_t>(dim)] = each * chunks - part.size(dim);
    const Tensor padded = b.pad(part, before, after, "constant", std::int64_t{0});
    Shape shape(part.shape.begin(), part.shape.begin() + dim);
    shape.push_back(chunks);
    shape.push_back(padded.elements() / std::max<std::int64_t>(1, graph::element_count(shape)));
    columns.push_back(b.reshape(padded, shape));
  }
  b.bind(b.reshape(b.concat(columns, dim + 1), b.result().shape));
}

/// Element `index` of a line of `size` that goes on as `mode` says.
std::int64_t source_index(std::int64_t index, std::int64_t size, const std::string& mode) {
  if (mode == "edge") return std::clamp<std::int64_t>(index, 0, size - 1);
  if (mode == "wrap") return ((index % size) + size) % size;
  const std::int64_t period = std::max<std::int64_t>(2 * (size - 1), 1);
  const std::int64_t place = ((index % period) + period) % period;
  return place < size ? place : period - place;
}

/// torch's list: before and after of the last dimension, then of the one before it, ...
Tensor padded(OpBuilder& b, Tensor x, const Ints& amounts, const std::string& mode) {
  for (std::size_t i = 0; 2 * i + 1 < amounts.size(); ++i) {
    const std::int64_t dim = x.rank() - 1 - static_cast<std::int64_t>(i);
    std::int64_t before = amounts[2 * i];
    std::int64_t after = amounts[2 * i + 1];
    if (before == 0 && after == 0) continue;
    if (mode == "wrap") {
      // torch cuts first, and wraps around what is left.
      x = b.slice(x, dim, std::max<std::int64_t>(0, -before), x.size(dim) + std::min<std::int64_t>(0, after));
      before = std::max<std::int64_t>(0, before);
      after = std::max<std::int64_t>(0, after);
    }
    Ints positions;
    for (std::int64_t k = -before; k < x.size(dim) + after; ++k) {
      positions.push_back(source_index(k, x.size(dim), mode));
    }
    x = b.gather(x, b.ints(positions), dim);
  }
  return x;
}

Tensor padded_with(OpBuilder& b, const Tensor& x, const Ints& amounts, const Scalar& fill) {
  Ints before(x.shape.size(), 0);
  Ints after = before;
  for (std::size_t i = 0; 2 * i + 1 < amounts.size(); ++i) {
    const std::size_t dim = x.shape.size() - 1 - i;
    before[dim] = amounts[2 * i];
    after[dim] = amounts[2 * i + 1];
  }
  return b.pad(x, before, after, "constant", fill);
}

void constant_pad(OpBuilder& b) { b.bind(padded_with(b, b.tensor("self"), b.integers("pad"), b.scalar("value"))); }

void pad(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::string mode = b.text("mode");
  const Ints amounts = b.integers("pad");
  if (mode == "constant") {
    return b.bind(padded_with(b, x, amounts, b.has("value") ? b.scalar("value") : Scalar(0.0)));
  }
  b.bind(padded(b, x, amounts, mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : "reflect"));
}

void pad_mode(OpBuilder& b) {
  b.bind(padded(b, b.tensor("self"), b.integers(b.has("padding") ? "padding" : "pad"), b.onnx_op()));
}

constexpr std::array kJoiningOps = {
    EmitEntry{"aten::_chunk_cat", chunk_cat},
    EmitEntry{"aten::_pad_circular", pad_mode, "wrap"},
    EmitEntry{"aten::block_diag", block_diag},
    EmitEntry{"aten::cartesian_prod", cartesian_product},
    EmitEntry{"aten::cat", cat},
    EmitEntry{"aten::column_stack", stack_along, "column"},
    EmitEntry{"aten::combinations", combinations},
    EmitEntry{"aten::concat", cat},
    EmitEntry{"aten::concatenate", cat},
    EmitEntry{"aten::constant_pad_nd", constant_pad},
    EmitEntry{"aten::dstack", stack_along, "d"},
    EmitEntry{"aten::hstack", stack_along, "h"},
    EmitEntry{"aten::pad", pad},
    EmitEntry{"aten::reflection_pad1d", pad_mode, "reflect"},
    EmitEntry{"aten::reflection_pad2d", pad_mode, "reflect"},
    EmitEntry{"aten::reflection_pad3d", pad_mode, "reflect"},
    EmitEntry{"aten::repeat", repeat},
    EmitEntry{"aten::repeat_interleave.self_Tensor", repeat_interleave},
    EmitEntry{"aten::repeat_interleave.self_int", repeat_interleave},
    EmitEntry{"aten::replication_pad1d", pad_mode, "edge"},
    EmitEntry{"aten::replication_pad2d", pad_mode, "edge"},
    EmitEntry{"aten::replication_pad3d", pad_mode, "edge"},
    EmitEntry{"aten::row_stack", stack_along, "v"},
    EmitEntry{"aten::stack", stack},
    EmitEntry{"aten::tile", tile},
    EmitEntry{"aten::vstack", stack_along, "v"},
};

}  // namespace

EmitEntries joining_ops() { return kJoiningOps; }

}  // namespace leapp::onnx_ops
