// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/indexing/indexing_segments.h"

#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/indexing/scatter_elements.h"

namespace leapp::onnx_ops {
namespace {

/// Whether row i of `rows` lies in [start, end), as bool [..., segments, rows].
Tensor members_of(OpBuilder& b, const Tensor& start, const Tensor& end, std::int64_t rows) {
  const Tensor row = b.ints(iota(rows));
  const Tensor from = b.compare("GreaterOrEqual", row, b.unsqueeze(start, {-1}));
  return b.binary("And", from, b.compare("Less", row, b.unsqueeze(end, {-1})));
}

/// Elements along `dim`, which goes, where `member` is true; half as float32.
Tensor reduce_members(OpBuilder& b, const Tensor& member, const Tensor& data, const std::string& op, std::int64_t dim) {
  const bool product = op == "ReduceProd";
  const bool extreme = op == "ReduceMax" || op == "ReduceMin";
  const Tensor wide = is_half(data.dtype) ? b.cast(data, DType::kFloat32) : data;
  const Scalar nothing = extreme ? extreme_number(wide.dtype, op == "ReduceMin") : Scalar(std::int64_t{product});
  const Tensor kept = b.where(member, wide, b.constant(nothing, wide.dtype));
  return b.reduce(op, kept, {dim}, false);
}

Tensor count_members(OpBuilder& b, const Tensor& member, std::int64_t dim) {
  return b.reduce("ReduceSum", b.cast(member, DType::kInt64), {dim}, false);
}

/// Where each of the segments ends, from where they start.
Tensor ends_of(OpBuilder& b, const Tensor& starts, std::int64_t rows) {
  if (starts.size(-1) == 1) return b.ints({rows});
  return b.concat({b.slice(starts, 0, 1, starts.size(0)), b.ints({rows})}, 0);
}

struct Segments {
  Tensor start;
  Tensor end;
};

/// From the lengths, or from the offsets of all of them and the end.
Segments segments_of(OpBuilder& b) {
  if (b.has("lengths")) {
    const Tensor lengths = b.operand("lengths", DType::kInt64);
    const Tensor axis = b.constant(lengths.rank() - 1, DType::kInt64);
    const Tensor end = b.add("CumSum", {lengths, axis}, lengths.type());
    return {b.binary("Sub", end, lengths), end};
  }
  const Tensor offsets = b.operand("offsets", DType::kInt64);
  const std::int64_t count = offsets.size(-1) - 1;
  return {b.slice(offsets, -1, 0, count), b.slice(offsets, -1, 1, count + 1)};
}

Tensor combined(OpBuilder& b, const std::string& reduce, const Tensor& found, const Tensor& initial) {
  const char* op = reduce == "max" ? "Max" : reduce == "min" ? "Min" : reduce == "prod" ? "Mul" : "Add";
  return b.binary(op, found, initial);
}

std::string reduction_name(const std::string& reduce) {
  return reduce == "max" ? "ReduceMax" : reduce == "min" ? "ReduceMin" : reduce == "prod" ? "ReduceProd" : "ReduceSum";
}

}  // namespace

void segment_reduce(OpBuilder& b) {
  const Tensor data = b.tensor("data");
  if (!b.has("lengths") && !b.has("offsets")) return b.refuse("segments by indices");
  const std::string reduce = b.text("reduce");
  const std::int64_t axis = wrap_dim(b.integer("axis"), data.rank());
  const Segments segments = segments_of(b);
  Tensor member = members_of(b, segments.start, segments.end, data.size(axis));
  const std::int64_t trailing = data.rank() - axis - 1;
  Shape aligned = member.shape;
  aligned.insert(aligned.end(), static_cast<std::size_t>(trailing), 1);
  member = b.reshape(member, aligned);
  Tensor found = reduce_members(b, member, b.unsqueeze(data, {axis}), reduction_name(reduce), axis + 1);
  if (b.has("initial")) found = combined(b, reduce, found, b.constant(b.scalar("initial"), found.dtype));
  if (reduce == "mean") {
    const Tensor count = b.cast(count_members(b, member, axis + 1), found.dtype);
    const Tensor mean = b.binary("Div", found, count);
    const Tensor none = b.has("initial") ? b.constant(b.scalar("initial"), found.dtype) : b.constant(kNaN, found.dtype);
    found = b.where(compare_number(b, "Greater", count, 0), mean, none);
  }
  b.bind(b.cast(found, data.dtype));
}

void embedding_bag(OpBuilder& b) {
  for (std::size_t i = 1; i < b.result_count(); ++i) {
    if (!b.node().result(i)->unused()) return b.refuse("only the first result of embedding_bag can be exported");
  }
  const Tensor weight = b.tensor("weight");
  const Tensor indices = b.operand("indices", DType::kInt64);
  const std::int64_t rows = indices.size(0);
  if (rows == 0) return b.bind(0, b.full(0.0, b.result()));
  const std::int64_t bags = b.result().shape[0];
  const Tensor starts = b.slice(b.operand("offsets", DType::kInt64), 0, 0, bags);
  Tensor member = members_of(b, starts, ends_of(b, starts, rows), rows);
  if (b.has("padding_idx")) {
    const std::int64_t row = wrap_dim(b.integer("padding_idx"), weight.size(0));
    const Tensor padding = compare_number(b, "Equal", indices, static_cast<double>(row));
    member = b.binary("And", member, b.logical_not(padding));
  }
  member = b.unsqueeze(member, {-1});
  Tensor taken = b.gather(weight, indices, 0);
  if (b.has("per_sample_weights")) {
    taken = b.binary("Mul", taken, b.unsqueeze(b.operand("per_sample_weights", taken.dtype), {-1}));
  }
  constexpr std::int64_t kMean = 1;
  constexpr std::int64_t kMax = 2;
  const std::int64_t mode = b.integer("mode");
  Tensor found = reduce_members(b, member, taken, mode == kMax ? "ReduceMax" : "ReduceSum", 1);
  const Tensor count = b.cast(count_members(b, member, 1), found.dtype);
  if (mode == kMean) found = b.binary("Div", found, b.binary("Max", count, b.constant(1.0, found.dtype)));
  if (mode == kMax) found = b.where(compare_number(b, "Greater", count, 0), found, b.constant(0.0, found.dtype));
  b.bind(0, b.cast(found, b.result().dtype));
}

/// Rows that the indices name, made shorter where they are longer than max_norm.
void embedding_renorm(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  Tensor indices = b.operand("indices", DType::kInt64);
  if (indices.elements() == 0) return b.bind(x);
  indices = b.reshape(indices, {indices.elements()});
  const Tensor row = b.ints(iota(x.size(0)), {x.size(0), 1});
  const Tensor equal = b.cast(b.compare("Equal", row, indices), DType::kInt32);
  const Tensor named = b.cast(b.reduce("ReduceMax", equal, {1}, true), DType::kBool);
  const double max_norm = b.number("max_norm");
  const Tensor norm = vector_norm(b, x, {b.number("norm_type"), {1}, true});
  const Tensor scale = number_with(b, "Div", max_norm, with_number(b, "Add", norm, 1e-7));
  const Tensor long_ones = b.binary("And", named, compare_number(b, "Greater", norm, max_norm));
  b.bind(b.where(long_ones, b.binary("Mul", x, scale), x));
}

}  // namespace leapp::onnx_ops
