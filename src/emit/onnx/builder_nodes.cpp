// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "emit/onnx/builder.h"
#include "emit/onnx/kernels.h"

namespace leapp::onnx_ops {
namespace {

/// The dtype that decides which kernel runs: of the first input, but Where's first is the condition.
DType data_dtype(const std::string& op, const Tensors& inputs) {
  const std::size_t index = op == "Where" ? 1 : 0;
  return inputs.size() > index ? inputs[index].dtype : DType::kInt64;
}

graph::Constant constant_from(const std::vector<std::byte>& bytes, TensorType type) {
  auto block = std::make_shared<std::vector<std::byte>>(bytes);
  const void* data = block->data();
  return {std::move(type), std::shared_ptr<const void>(std::move(block), data), false};
}

}  // namespace

Tensor OpBuilder::constant(const std::vector<Scalar>& values, TensorType type) {
  if (is_complex(type.dtype) || !onnx::data_type_of(type.dtype)) {
    refuse(fmt::format("ONNX has no {} arithmetic", dtype_name(type.dtype)));
    return placeholder(std::move(type));
  }
  std::vector<std::byte> bytes;
  bytes.reserve(values.size() * dtype_size(type.dtype));
  for (const Scalar& value : values) append_number(value, type.dtype, bytes);
  return model_.add_constant(constant_from(bytes, std::move(type)), "");
}

Tensor OpBuilder::constant(const Scalar& value, DType dtype) {
  return constant(std::vector<Scalar>{value}, TensorType{dtype, {}});
}

Tensor OpBuilder::ints(const Ints& values) { return ints(values, {std::ssize(values)}); }

Tensor OpBuilder::ints(const Ints& values, const Shape& shape) {
  return constant(std::vector<Scalar>(values.begin(), values.end()), {DType::kInt64, shape});
}

Tensor OpBuilder::full(const Scalar& value, TensorType type) {
  const std::int64_t count = graph::element_count(type.shape);
  // Small ones are shorter as bytes than as a node.
  constexpr std::int64_t kFewElements = 16;
  if (count <= kFewElements) {
    return constant(std::vector<Scalar>(static_cast<std::size_t>(count), value), std::move(type));
  }
  return expand(constant(value, type.dtype), type.shape);
}

Tensors OpBuilder::add_many(std::string op, const Tensors& inputs, const std::vector<TensorType>& results,
                            Attributes attributes) {
  const DType dtype = data_dtype(op, inputs);
  const auto compute = compute_dtype(op, dtype, opset());
  if (!compute) {
    refuse(fmt::format("ONNX Runtime has no {} kernel of {} on the CPU; compute this in another dtype",
                       dtype_name(dtype), op));
  }
  const DType inner = compute.value_or(dtype);
  OnnxNodeSpec spec{std::move(op), inputs, std::move(attributes), results, location_text(node_.location())};
  if (inner != dtype) {
    for (Tensor& input : spec.inputs) {
      if (input.present() && input.dtype == dtype) input = cast(input, inner);
    }
    for (TensorType& result : spec.results) {
      if (result.dtype == dtype) result.dtype = inner;
    }
  }
  Tensors made = model_.add_node(std::move(spec));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = cast(made[i], results[i].dtype);
  return made;
}

Tensor OpBuilder::add(std::string op, const Tensors& inputs, TensorType result, Attributes attributes) {
  return add_many(std::move(op), inputs, {std::move(result)}, std::move(attributes))[0];
}

Tensor OpBuilder::cast(const Tensor& x, DType dtype) {
  if (x.dtype == dtype) return x;
  const auto type = onnx::data_type_of(dtype);
  if (!type || is_complex(dtype) || is_complex(x.dtype)) {
    refuse(fmt::format("ONNX has no {} arithmetic", dtype_name(is_complex(x.dtype) ? x.dtype : dtype)));
    return placeholder({dtype, x.shape});
  }
  if (x.elements() == 1 && dtype != DType::kFloat8E4M3FN && dtype != DType::kFloat8E5M2) {
    if (const auto known = known_values(x)) return constant(*known, {dtype, x.shape});
  }
  OnnxNodeSpec spec{"Cast", {x}, {{"to", std::int64_t{*type}}}, {{dtype, x.shape}}, location_text(node_.location())};
  return model_.add_node(std::move(spec))[0];
}

Tensor OpBuilder::unary(std::string op, const Tensor& x, Attributes attributes) {
  return add(std::move(op), {x}, x.type(), std::move(attributes));
}

Tensor OpBuilder::binary(std::string op, const Tensor& x, const Tensor& y, Attributes attributes) {
  if (x.dtype != y.dtype) {
    fault(fmt::format("{} of {} and {}", op, dtype_name(x.dtype), dtype_name(y.dtype)));
    return placeholder(x.type());
  }
  if (op == "Div" && is_one(x)) return one_over(x, y);
  return add(std::move(op), {x, y}, {x.dtype, broadcast_shapes(x.shape, y.shape)}, std::move(attributes));
}

Tensor OpBuilder::behind(const Tensor& value, std::initializer_list<std::string_view> through) const {
  Tensor at = value;
  while (std::find(through.begin(), through.end(), model_.producer(at)) != through.end()) at = model_.produced_from(at);
  return at;
}

bool OpBuilder::is_one(const Tensor& value) const {
  if (value.elements() != 1) return false;
  const auto known = known_values(value);
  return known && to_double(known->front()) == 1;
}

// ONNX Runtime makes z / y of 1 / y * z, also of integers, and forgets the dimensions that only the 1 has.
Tensor OpBuilder::one_over(const Tensor& one, const Tensor& y) {
  const Shape shape = broadcast_shapes(one.shape, y.shape);
  const Tensor number = constant(std::int64_t{1}, one.dtype);
  if (is_floating(one.dtype)) return reshape(add("Div", {number, y}, y.type()), shape);
  return reshape(where(compare("Equal", unary("Abs", y), number), y, constant(std::int64_t{0}, y.dtype)), shape);
}

Tensor OpBuilder::compare(std::string op, const Tensor& x, const Tensor& y) {
  if (x.dtype != y.dtype) {
    fault(fmt::format("{} of {} and {}", op, dtype_name(x.dtype), dtype_name(y.dtype)));
    return placeholder({DType::kBool, x.shape});
  }
  return add(std::move(op), {x, y}, {DType::kBool, broadcast_shapes(x.shape, y.shape)});
}

Tensor OpBuilder::where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  const Shape shape = broadcast_shapes(condition.shape, broadcast_shapes(x.shape, y.shape));
  if (x.dtype != y.dtype) fault(fmt::format("Where of {} and {}", dtype_name(x.dtype), dtype_name(y.dtype)));
  if (x.dtype != DType::kBool) return add("Where", {condition, x, y}, {x.dtype, shape});
  // No kernel chooses between booleans: (c and x) or (not c and y).
  return binary("Or", binary("And", condition, x), binary("And", logical_not(condition), y));
}

Tensor OpBuilder::clip(const Tensor& x, const Tensor& low, const Tensor& high) {
  // Clip takes 0-d bounds only, Max and Min broadcast; all of them keep a NaN of x.
  Tensor value = x;
  if (low.present()) value = binary("Max", value, low);
  if (high.present()) value = binary("Min", value, high);
  return value;
}

Tensor OpBuilder::matmul(const Tensor& x, const Tensor& y) {
  Shape shape;
  if (x.rank() == 1 && y.rank() == 1) return add("MatMul", {x, y}, {x.dtype, {}});
  // Before a vector ONNX Runtime drops the Transpose of a matrix.
  if (y.rank() == 1 && constant_of(x) == nullptr) return squeeze(matmul(x, unsqueeze(y, {1})), {-1});
  const Shape batch_x(x.shape.begin(), x.shape.end() - std::min<std::int64_t>(2, x.rank()));
  const Shape batch_y(y.shape.begin(), y.shape.end() - std::min<std::int64_t>(2, y.rank()));
  shape = broadcast_shapes(batch_x, batch_y);
  if (x.rank() > 1) shape.push_back(x.size(-2));
  if (y.rank() > 1) shape.push_back(y.size(-1));
  return add("MatMul", {x, y}, {x.dtype, shape});
}

Tensors OpBuilder::repeat(std::int64_t count, const Tensors& state, const LoopBody& step) {
  // A round of a Loop costs ONNX Runtime about as much as five small nodes, and it fuses nothing in there.
  constexpr std::int64_t kFew = 8;
  if (count > kFew) return loop(constant(count, DType::kInt64), state, step);
  Tensors current = state;
  for (std::int64_t round = 0; round < count; ++round) current = step(ints({round}), current);
  return current;
}

Tensors OpBuilder::loop(const Tensor& rounds, const Tensors& state, const LoopBody& step) {
  return model_.add_loop(
      {rounds, state, Tensor{}, location_text(node_.location())},
      [&](const Tensor& round, const Tensors& before) { return step(unsqueeze(round, {0}), before); });
}

Tensors OpBuilder::loop_while(std::int64_t count, const Tensors& state, const LoopBody& step) {
  const Tensor rounds = constant(count, DType::kInt64);
  return model_.add_loop(
      {rounds, state, constant(true, DType::kBool), location_text(node_.location())},
      [&](const Tensor& round, const Tensors& before) { return step(unsqueeze(round, {0}), before); });
}

Tensor OpBuilder::reduce(const std::string& op, const Tensor& x, const Ints& dims, bool keepdim) {
  if (x.rank() == 0) return reshape(reduce(op, reshape(x, {1}), {0}, false), {});
  const Ints axes = wrap_dims(dims, x.rank());
  Shape shape;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced) shape.push_back(x.size(i));
    if (reduced && keepdim) shape.push_back(1);
  }
  Attributes attributes = {{"keepdims", std::int64_t{keepdim}}};
  Tensors inputs = {x};
  if (opset() >= 18 || op == "ReduceSum") {
    inputs.push_back(ints(axes));
  } else {
    attributes.push_back({"axes", axes});
  }
  return add(op, inputs, {x.dtype, shape}, std::move(attributes));
}

Tensor OpBuilder::arg_reduce(const std::string& op, const Tensor& x, std::int64_t dim, bool keepdim) {
  if (x.rank() == 0) return reshape(arg_reduce(op, reshape(x, {1}), 0, false), {});
  const std::int64_t axis = wrap_dim(dim, x.rank());
  Shape shape = x.shape;
  shape[static_cast<std::size_t>(axis)] = 1;
  if (!keepdim) shape.erase(shape.begin() + axis);
  return add(op, {x}, {DType::kInt64, shape}, {{"axis", axis}, {"keepdims", std::int64_t{keepdim}}});
}

}  // namespace leapp::onnx_ops
