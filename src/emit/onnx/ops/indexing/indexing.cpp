// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements picked by tensors of positions.
#include <algorithm>
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/indexing/indexing_put.h"
#include "emit/onnx/ops/indexing/indexing_segments.h"

namespace leapp::onnx_ops {
namespace {

void index(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const IndexPlan plan = plan_of(b, x, b.tensors("indices"));
  if (!b.ok()) return;
  if (graph::element_count(b.result().shape) == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
  b.bind(index_into(b, x, plan));
}

/// Positions outside are pulled in, and `fill` stands where the mask is false.
void masked_index(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  IndexPlan plan = plan_of(b, x, b.tensors("indices"));
  if (!b.ok()) return;
  const Tensor fill = b.constant(b.scalar("fill"), x.dtype);
  if (x.elements() == 0) return b.bind(b.expand(fill, b.result().shape));
  clamp_indices(b, x, plan);
  b.bind(b.where(b.operand("mask", DType::kBool), index_into(b, x, plan), fill));
}

void index_select(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Tensor index = b.operand("index", DType::kInt64);
  if (x.rank() == 0) return b.bind(b.reshape(b.gather(b.reshape(x, {1}), index, 0), b.result().shape));
  b.bind(b.gather(x, b.reshape(index, {index.elements()}), b.integer("dim")));
}

void gather(OpBuilder& b) {
  Tensor x = b.tensor("self");
  Tensor index = b.operand("index", DType::kInt64);
  // A 0-d tensor stands for one of one element.
  if (x.rank() == 0) x = b.reshape(x, {1});
  if (index.rank() == 0) index = b.reshape(index, {1});
  b.bind(b.reshape(b.gather_elements(x, index, b.integer("dim")), b.result().shape));
}

void take(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  b.bind(b.gather(b.reshape(x, {x.elements()}), b.operand("index", DType::kInt64), 0));
}

void take_along_dim(OpBuilder& b) {
  Tensor x = b.tensor("self");
  Tensor index = b.operand("indices", DType::kInt64);
  if (!b.has("dim")) {
    const Tensor flat = b.reshape(index, {index.elements()});
    return b.bind(b.reshape(b.gather(b.reshape(x, {x.elements()}), flat, 0), b.result().shape));
  }
  const std::int64_t dim = wrap_dim(b.integer("dim"), x.rank());
  Shape shape = broadcast_shapes(x.shape, index.shape);
  if (!shape.empty()) {
    const auto axis = static_cast<std::size_t>(dim);
    shape[axis] = x.size(dim);
    x = b.expand(x, shape);
    shape[axis] = index.size(dim);
    index = b.expand(index, shape);
  } else {
    x = b.reshape(x, {1});
    index = b.reshape(index, {1});
  }
  b.bind(b.reshape(b.gather_elements(x, index, dim), b.result().shape));
}

void embedding(OpBuilder& b) { b.bind(b.gather(b.tensor("weight"), b.operand("indices", DType::kInt64), 0)); }

/// Which of the classes, as zeros and a one.
Tensor one_hot_of(OpBuilder& b, const Tensor& x, std::int64_t classes, DType dtype) {
  return b.cast(b.compare("Equal", b.unsqueeze(x, {-1}), b.ints(iota(classes))), dtype);
}

void one_hot(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t classes = b.integer("num_classes");
  if (classes < 0 && !b.known_values(x)) return b.refuse("the number of classes depends on data; give num_classes");
  b.bind(one_hot_of(b, x, b.result().shape.back(), DType::kInt64));
}

/// Only where minlength gives the number of bins: else the largest element does.
void bincount(OpBuilder& b) {
  const Tensor x = b.operand("self", DType::kInt64);
  const std::int64_t bins = b.result().shape[0];
  if (bins != b.integer("minlength") && !b.known_values(x)) {
    return b.refuse("the number of bins depends on data; give minlength");
  }
  const DType dtype = b.result().dtype;
  if (x.elements() == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
  const Tensor member = b.compare("Equal", b.unsqueeze(x, {0}), b.ints(iota(bins), {bins, 1}));
  const Tensor weights = b.has("weights") ? b.operand("weights", dtype) : b.constant(std::int64_t{1}, dtype);
  const Tensor counted = b.where(member, weights, b.constant(std::int64_t{0}, dtype));
  b.bind(b.reduce("ReduceSum", counted, {1}, false));
}

/// Positions of what is not zero, as many as `size` says.
void nonzero_static(OpBuilder& b) {
  const Tensor x = b.operand("self", DType::kBool);
  const std::int64_t size = b.integer("size");
  const Scalar fill = b.integer("fill_value");
  const std::int64_t count = x.elements();
  const std::int64_t kept = std::min(size, count);
  if (kept == 0) return b.bind(b.full(fill, b.result()));
  const Tensor flags = b.reshape(b.cast(x, DType::kInt32), {count});
  const TensorType order = {DType::kInt64, {kept}};
  const Tensors top =
      b.add_many("TopK", {flags, b.ints({kept})}, {{DType::kInt32, {kept}}, order}, {{"axis", std::int64_t{0}}});
  Tensors columns;
  std::int64_t stride = count;
  for (std::int64_t dim = 0; dim < x.rank(); ++dim) {
    stride /= x.size(dim);
    const Tensor at_least = with_number(b, "Div", top[1], static_cast<double>(stride));
    columns.push_back(b.unsqueeze(with_number(b, "Mod", at_least, static_cast<double>(x.size(dim))), {-1}));
  }
  const Tensor found = b.unsqueeze(b.cast(top[0], DType::kBool), {-1});
  const Tensor rows = b.where(found, b.concat(columns, -1), b.constant(fill, DType::kInt64));
  b.bind(b.pad(rows, {0, 0}, {size - kept, 0}, "constant", fill));
}

void depends_on_data(OpBuilder& b) {
  b.refuse("how many elements the result has depends on data; an ONNX model of fixed shapes cannot hold it");
}

constexpr std::array kIndexingOps = {
    EmitEntry{"aten::_index_put_impl", index_put},
    EmitEntry{"aten::_unique", depends_on_data, kEvenWhenEmpty},
    EmitEntry{"aten::_unique2", depends_on_data, kEvenWhenEmpty},
    EmitEntry{"aten::_unsafe_index.Tensor", index, kEvenWhenEmpty},
    EmitEntry{"aten::_unsafe_index_put", index_put},
    EmitEntry{"aten::_unsafe_masked_index", masked_index},
    EmitEntry{"aten::_unsafe_masked_index_put_accumulate", masked_index_put},
    EmitEntry{"aten::argwhere", depends_on_data, kEvenWhenEmpty},
    EmitEntry{"aten::bincount", bincount},
    EmitEntry{"aten::embedding", embedding},
    EmitEntry{"aten::embedding_bag", embedding_bag},
    EmitEntry{"aten::embedding_bag.padding_idx", embedding_bag},
    EmitEntry{"aten::embedding_renorm", embedding_renorm},
    EmitEntry{"aten::gather", gather},
    EmitEntry{"aten::index.Tensor", index, kEvenWhenEmpty},
    EmitEntry{"aten::index_put", index_put},
    EmitEntry{"aten::index_select", index_select},
    EmitEntry{"aten::masked_select", depends_on_data, kEvenWhenEmpty},
    EmitEntry{"aten::nonzero", depends_on_data, kEvenWhenEmpty},
    EmitEntry{"aten::nonzero_numpy", depends_on_data, kEvenWhenEmpty},
    EmitEntry{"aten::nonzero_static", nonzero_static},
    EmitEntry{"aten::one_hot", one_hot},
    EmitEntry{"aten::segment_reduce", segment_reduce},
    EmitEntry{"aten::take", take},
    EmitEntry{"aten::take_along_dim", take_along_dim},
    EmitEntry{"aten::unique_consecutive", depends_on_data, kEvenWhenEmpty},
    EmitEntry{"aten::unique_dim", depends_on_data, kEvenWhenEmpty},
    EmitEntry{"aten::where", depends_on_data, kEvenWhenEmpty},
};

}  // namespace

EmitEntries indexing_ops() { return kIndexingOps; }

}  // namespace leapp::onnx_ops
