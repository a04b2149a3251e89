// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/ops/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "engine/native/ops/matrices.h"
#include "engine/native/scalar/numbers.h"

namespace leapp::native {

bool is_single(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

bool is_float(DType dtype) { return is_single(dtype) || dtype == DType::kFloat64; }

bool is_integer(DType dtype) {
  bool integer = false;
  visit_arithmetic(dtype, [&](auto tag) { integer = std::is_integral_v<typename decltype(tag)::type>; });
  return integer;
}

kernels::Storage storage_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return kernels::Storage::kFloat16;
    case DType::kBFloat16:
      return kernels::Storage::kBFloat16;
    case DType::kBool:
      return kernels::Storage::kBool;
    default:
      return kernels::Storage::kFloat32;
  }
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t back = result.size() - i;
    const std::int64_t x = back > a.size() ? 1 : a[a.size() - back];
    const std::int64_t y = back > b.size() ? 1 : b[b.size() - back];
    if (x != y && x != 1 && y != 1) {
      refuse(fmt::format("shapes {} and {} do not go together", shape_text(a), shape_text(b)));
    }
    result[i] = x == 1 ? y : x;
  }
  return result;
}

ValueId as_float32(Lowering& b, ValueId x) {
  if (!is_single(b.dtype(x))) refuse(fmt::format("not for {}", dtype_name(b.dtype(x))));
  return cast(b, x, DType::kFloat32);
}

void bind_as(Lowering& b, std::size_t i, ValueId x, DType dtype) { b.bind(i, cast(b, x, dtype)); }

ValueId transposed(Lowering& b, ValueId x, const std::vector<std::int64_t>& order) {
  const auto strides = dense_strides(b.shape(x));
  Shape shape;
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> moved;  // axes that are longer than one, in their new order
  for (const std::int64_t axis : order) {
    shape.push_back(b.shape(x)[static_cast<std::size_t>(axis)]);
    from.push_back(strides[static_cast<std::size_t>(axis)]);
    if (shape.back() != 1) moved.push_back(axis);
  }
  if (std::is_sorted(moved.begin(), moved.end())) return b.reshaped(x, shape);
  const ValueId y = b.make(b.dtype(x), shape);
  add_copy(b, {x, y, shape, from, dense_strides(shape)});
  return y;
}

std::optional<std::vector<std::int64_t>> axes_of(Lowering& b, std::size_t input, std::string_view attribute) {
  if (b.has_input(input)) return b.ints(b.input(input), attribute);
  return b.attr_ints(attribute);
}

std::vector<std::byte> element_bytes(Lowering& b, ValueId id, DType dtype) {
  const std::size_t width = dtype_size(dtype);
  if (id == kNoValue) return std::vector<std::byte>(width);
  if (!b.is_constant(id)) refuse("the value to fill with depends on data");
  if (b.dtype(id) != dtype || b.bytes(id).size() != width) refuse("the value to fill with is of another type");
  return {b.bytes(id).begin(), b.bytes(id).end()};
}

ValueId filled(Lowering& b, DType dtype, const Shape& shape, std::span<const std::byte> element) {
  const ValueId y = b.make(dtype, shape);
  Fill args;
  args.count = b.elements(y);
  args.width = static_cast<std::int32_t>(element.size());
  if (element.size() > sizeof(args.pattern)) refuse("elements that are too wide");
  std::memcpy(args.pattern, element.data(), element.size());
  CallMaker make(kFill, args);
  b.add(make.write(args.to, y).take());
  return y;
}

ValueId cast_constant(Lowering& b, ValueId x, DType to) {
  if (b.dtype(x) == to) return x;
  b.expect_room(static_cast<std::uint64_t>(b.elements(x)) * dtype_size(to));
  std::vector<std::byte> bytes(static_cast<std::size_t>(b.elements(x)) * dtype_size(to));
  visit_dtype(b.dtype(x), [&](auto source) {
    using From = typename decltype(source)::type;
    visit_dtype(to, [&](auto target) {
      using To = typename decltype(target)::type;
      for (std::size_t i = 0; i < static_cast<std::size_t>(b.elements(x)); ++i) {
        const To number = convert<To>(element<From>(b.bytes(x), i));
        std::memcpy(bytes.data() + i * sizeof(To), &number, sizeof(To));
      }
    });
  });
  return b.constant(to, b.shape(x), onnx::Bytes::copy_of(bytes));
}

ValueId filled_with_one(Lowering& b, DType dtype, std::int64_t count) {
  std::vector<std::byte> one(dtype_size(dtype));
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T number = convert<T>(1.0F);
    std::memcpy(one.data(), &number, sizeof(T));
  });
  return filled(b, dtype, {count, 1}, one);
}

}  // namespace leapp::native
