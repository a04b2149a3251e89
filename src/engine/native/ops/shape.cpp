// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that change or ask for a shape, and constants: no element moves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/common.h"
#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

// Dropout too: nothing is dropped at run time.
void lower_identity(Lowering& b) {
  const ValueId x = b.input(0);
  b.bind(0, b.reshaped(x, b.shape(x)));
  if (b.op() != "Dropout") return;
  if (b.has_input(2) && (!b.is_constant(b.input(2)) || b.one_int(b.input(2), "training_mode") != 0)) {
    refuse("training mode");
  }
  if (b.has_output(1)) refuse("its mask");
}

void lower_reshape(Lowering& b) {
  const ValueId x = b.input(0);
  Shape shape = b.has_input(1) ? b.ints(b.input(1), "shape") : b.attr_ints("shape").value_or(Shape{});
  const bool keep_zero = b.attr_int("allowzero", 0) != 0;
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !keep_zero) {
      if (i >= b.shape(x).size()) refuse("copies the extent of an axis that its input does not have");
      shape[i] = b.shape(x)[i];
    }
    if (shape[i] < -1 || (shape[i] == -1 && open)) refuse("a shape with negative extents");
    if (shape[i] == -1) {
      open = i;
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      refuse("a shape that overflows");
    }
  }
  if (open) shape[*open] = known == 0 ? 0 : b.elements(x) / known;
  if (open ? known * shape[*open] != b.elements(x) : known != b.elements(x)) {
    refuse(fmt::format("{} cannot become {}", shape_text(b.shape(x)), shape_text(shape)));
  }
  b.bind(0, b.reshaped(x, shape));
}

void lower_flatten(Lowering& b) {
  const ValueId x = b.input(0);
  std::int64_t axis = b.attr_int("axis", 1);
  if (axis < 0) axis += b.rank(x);
  if (axis < 0 || axis > b.rank(x)) refuse("an axis that its input does not have");
  const std::span<const std::int64_t> dims = b.shape(x);
  const auto cut = static_cast<std::size_t>(axis);
  b.bind(0, b.reshaped(x, {product(dims.first(cut)), product(dims.subspan(cut))}));
}

void lower_squeeze(Lowering& b) {
  const ValueId x = b.input(0);
  const auto axes = axes_of(b, 1);
  std::vector<bool> drop(b.shape(x).size(), false);
  for (const std::int64_t axis : axes.value_or(std::vector<std::int64_t>{})) {
    const auto at = static_cast<std::size_t>(normal_axis(axis, b.rank(x)));
    if (b.shape(x)[at] != 1) refuse("takes away an axis that is longer than 1");
    drop[at] = true;
  }
  Shape shape;
  for (std::size_t i = 0; i < drop.size(); ++i) {
    if (axes ? !drop[i] : b.shape(x)[i] != 1) shape.push_back(b.shape(x)[i]);
  }
  b.bind(0, b.reshaped(x, shape));
}

void lower_unsqueeze(Lowering& b) {
  const ValueId x = b.input(0);
  const auto axes = axes_of(b, 1);
  if (!axes) refuse("no axes");
  const std::int64_t rank = b.rank(x) + static_cast<std::int64_t>(axes->size());
  if (rank > 64) refuse("too many dimensions");
  std::vector<bool> added(static_cast<std::size_t>(rank), false);
  for (const std::int64_t axis : *axes) {
    const auto at = static_cast<std::size_t>(normal_axis(axis, rank));
    if (added[at]) refuse("an axis twice");
    added[at] = true;
  }
  Shape shape;
  auto next = b.shape(x).begin();
  for (const bool one : added) shape.push_back(one ? 1 : *next++);
  b.bind(0, b.reshaped(x, shape));
}

void lower_shape(Lowering& b) {
  const ValueId x = b.input(0);
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + b.rank(x) : at, 0, b.rank(x));
  };
  const std::int64_t begin = clamp(b.attr_int("start", 0));
  const std::int64_t end = std::max(begin, clamp(b.attr_int("end", b.rank(x))));
  b.bind(0, b.constant_ints({b.shape(x).begin() + begin, b.shape(x).begin() + end}));
}

void lower_size(Lowering& b) {
  const std::int64_t size = b.elements(b.input(0));
  b.bind(0, b.constant(DType::kInt64, {}, onnx::Bytes::copy_of(std::as_bytes(std::span(&size, 1)))));
}

template <typename T>
onnx::Bytes bytes_of(const std::vector<T>& numbers) {
  return onnx::Bytes::copy_of(std::as_bytes(std::span(numbers)));
}

void lower_constant(Lowering& b) {
  if (const ValueId tensor = b.attr_tensor("value"); tensor != kNoValue) return b.bind(0, tensor);
  if (b.has_attr("value_int")) {
    return b.bind(0, b.constant(DType::kInt64, {}, bytes_of(std::vector{b.attr_int("value_int", 0)})));
  }
  if (b.has_attr("value_float")) return b.bind(0, b.constant_float(b.attr_float("value_float", 0)));
  if (const auto ints = b.attr_ints("value_ints")) return b.bind(0, b.constant_ints(*ints));
  if (const auto floats = b.attr_floats("value_floats")) {
    const auto count = static_cast<std::int64_t>(floats->size());
    return b.bind(0, b.constant(DType::kFloat32, {count}, bytes_of(*floats)));
  }
  refuse("a constant that is not a tensor of numbers");
}

void lower_constant_of_shape(Lowering& b) {
  const Shape shape = b.ints(b.input(0), "the shape");
  const ValueId value = b.attr_tensor("value");
  const DType dtype = value == kNoValue ? DType::kFloat32 : b.dtype(value);
  b.bind(0, filled(b, dtype, shape, element_bytes(b, value, dtype)));
}

void lower_range(Lowering& b) {
  const DType dtype = b.dtype(b.input(0));
  const double start = b.one_number(b.input(0), "start");
  const double limit = b.one_number(b.input(1), "limit");
  const double delta = b.one_number(b.input(2), "delta");
  if (delta == 0 || !std::isfinite(start) || !std::isfinite(limit) || !std::isfinite(delta)) refuse("an endless range");
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  if (count > 1e8) refuse("a range that is too long");
  b.expect_room(static_cast<std::uint64_t>(count) * dtype_size(dtype));
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * dtype_size(dtype));
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const T number = convert<T>(start + static_cast<double>(i) * delta);
      std::memcpy(bytes.data() + i * sizeof(T), &number, sizeof(T));
    }
  });
  b.bind(0, b.constant(dtype, {static_cast<std::int64_t>(count)}, onnx::Bytes::copy_of(bytes)));
}

void lower_eye_like(Lowering& b) {
  const ValueId x = b.input(0);
  if (b.rank(x) != 2) refuse("only for matrices");
  const auto dtype =
      onnx::dtype_of(static_cast<std::int32_t>(b.attr_int("dtype", onnx::data_type_of(b.dtype(x)).value_or(1))));
  if (!dtype) refuse("the type it makes is not known here");
  const std::int64_t k = b.attr_int("k", 0);
  if (b.elements(x) > (1 << 24)) refuse("too large");
  b.expect_room(static_cast<std::uint64_t>(b.elements(x)) * sizeof(double));
  std::vector<double> ones(static_cast<std::size_t>(b.elements(x)), 0.0);
  for (std::int64_t row = 0; row < b.shape(x)[0]; ++row) {
    if (k > b.shape(x)[1] || k < -b.shape(x)[0]) break;
    const std::int64_t column = row + k;
    if (column >= 0 && column < b.shape(x)[1]) ones[static_cast<std::size_t>(row * b.shape(x)[1] + column)] = 1;
  }
  b.bind(0, cast(b, b.constant(DType::kFloat64, b.shape(x), bytes_of(ones)), *dtype));
}

constexpr std::array kShapeOps = {
    LowerEntry{"Identity", lower_identity}, LowerEntry{"Dropout", lower_identity},
    LowerEntry{"Reshape", lower_reshape},   LowerEntry{"Flatten", lower_flatten},
    LowerEntry{"Squeeze", lower_squeeze},   LowerEntry{"Unsqueeze", lower_unsqueeze},
    LowerEntry{"Shape", lower_shape},       LowerEntry{"Size", lower_size},
    LowerEntry{"Constant", lower_constant}, LowerEntry{"ConstantOfShape", lower_constant_of_shape},
    LowerEntry{"Range", lower_range},       LowerEntry{"EyeLike", lower_eye_like},
};

}  // namespace

LowerEntries shape_ops() { return kShapeOps; }

}  // namespace leapp::native
