// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/numbers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/half.h"

namespace leapp::onnx_ops {
namespace {

template <typename T>
void append_bytes(T value, std::vector<std::byte>& bytes) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

template <typename T>
T read_as(std::span<const std::byte> bytes, std::size_t index) {
  T value{};
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// 0 bool, 1 integer, 2 floating, 3 complex: the category of type promotion.
int category(DType dtype) {
  if (dtype == DType::kBool) return 0;
  if (is_complex(dtype)) return 3;
  return is_floating(dtype) ? 2 : 1;
}

DType promote_integers(DType a, DType b) {
  const std::size_t size_a = dtype_size(a);
  const std::size_t size_b = dtype_size(b);
  if (is_unsigned(a) == is_unsigned(b)) return size_a >= size_b ? a : b;
  const DType other = is_unsigned(a) ? b : a;
  const std::size_t size_u = is_unsigned(a) ? size_a : size_b;
  const std::size_t size_s = is_unsigned(a) ? size_b : size_a;
  if (size_s > size_u) return other;
  constexpr std::array kWider = {DType::kInt16, DType::kInt32, DType::kInt64};
  return kWider[static_cast<std::size_t>(std::min(std::countr_zero(size_u), 2))];
}

}  // namespace

DType part_dtype(DType dtype) {
  if (dtype == DType::kComplex32) return DType::kFloat16;
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

bool is_unsigned(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kUInt32 || dtype == DType::kUInt64;
}

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

double highest_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 65504.0;
    case DType::kBFloat16:
      return 3.3895313892515355e38;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    case DType::kFloat64:
      return std::numeric_limits<double>::max();
    case DType::kBool:
      return 1;
    default: {
      const int bits = static_cast<int>(dtype_size(dtype)) * 8 - (is_unsigned(dtype) ? 0 : 1);
      return std::ldexp(1.0, bits) - 1;
    }
  }
}

double lowest_of(DType dtype) {
  if (is_floating(dtype)) return -highest_of(dtype);
  if (dtype == DType::kBool || is_unsigned(dtype)) return 0;
  return -std::ldexp(1.0, static_cast<int>(dtype_size(dtype)) * 8 - 1);
}

double to_double(const graph::Scalar& scalar) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, graph::Complex>) {
          return value.real();
        } else {
          return static_cast<double>(value);
        }
      },
      scalar);
}

std::int64_t to_int64(const graph::Scalar& scalar) {
  if (const auto* integer = std::get_if<std::int64_t>(&scalar)) return *integer;
  const double number = to_double(scalar);
  // Outside of int64, C leaves the conversion undefined; x86 gives the lowest number.
  constexpr double kLimit = 9223372036854775808.0;
  if (!(number >= -kLimit && number < kLimit)) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(number);
}

void append_number(const graph::Scalar& scalar, DType dtype, std::vector<std::byte>& bytes) {
  switch (dtype) {
    case DType::kFloat16:
      return append_bytes(narrow_float16(static_cast<float>(to_double(scalar))), bytes);
    case DType::kBFloat16:
      return append_bytes(narrow_bfloat16(static_cast<float>(to_double(scalar))), bytes);
    case DType::kFloat32:
      return append_bytes(static_cast<float>(to_double(scalar)), bytes);
    case DType::kFloat64:
      return append_bytes(to_double(scalar), bytes);
    case DType::kBool:
      return append_bytes(static_cast<std::uint8_t>(to_double(scalar) != 0 ? 1 : 0), bytes);
    default: {
      // Two's complement: the low bytes of the 64-bit number are the narrower number.
      const auto raw = std::bit_cast<std::array<std::byte, 8>>(to_int64(scalar));
      bytes.insert(bytes.end(), raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(dtype_size(dtype)));
    }
  }
}

graph::Scalar read_number(DType dtype, std::span<const std::byte> bytes, std::size_t index) {
  switch (dtype) {
    case DType::kFloat16:
      return static_cast<double>(widen_float16(read_as<std::uint16_t>(bytes, index)));
    case DType::kBFloat16:
      return static_cast<double>(widen_bfloat16(read_as<std::uint16_t>(bytes, index)));
    case DType::kFloat32:
      return static_cast<double>(read_as<float>(bytes, index));
    case DType::kFloat64:
      return read_as<double>(bytes, index);
    case DType::kBool:
      return std::int64_t{read_as<std::uint8_t>(bytes, index) != 0};
    case DType::kInt8:
      return std::int64_t{read_as<std::int8_t>(bytes, index)};
    case DType::kInt16:
      return std::int64_t{read_as<std::int16_t>(bytes, index)};
    case DType::kInt32:
      return std::int64_t{read_as<std::int32_t>(bytes, index)};
    case DType::kInt64:
      return read_as<std::int64_t>(bytes, index);
    case DType::kUInt8:
      return std::int64_t{read_as<std::uint8_t>(bytes, index)};
    case DType::kUInt16:
      return std::int64_t{read_as<std::uint16_t>(bytes, index)};
    case DType::kUInt32:
      return std::int64_t{read_as<std::uint32_t>(bytes, index)};
    default:
      return static_cast<std::int64_t>(read_as<std::uint64_t>(bytes, index));
  }
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  const int category_a = category(a);
  const int category_b = category(b);
  if (category_a == 3 || category_b == 3) {
    const bool wide =
        a == DType::kComplex128 || b == DType::kComplex128 || a == DType::kFloat64 || b == DType::kFloat64;
    return wide ? DType::kComplex128 : DType::kComplex64;
  }
  if (category_a != category_b) return category_a > category_b ? a : b;
  if (category_a == 1) return promote_integers(a, b);
  // float16 with bfloat16 is float32.
  if (is_half(a) && is_half(b)) return DType::kFloat32;
  return dtype_size(a) >= dtype_size(b) ? a : b;
}

DType number_dtype(const graph::Scalar& scalar) {
  if (std::holds_alternative<bool>(scalar)) return DType::kBool;
  if (std::holds_alternative<std::int64_t>(scalar)) return DType::kInt64;
  return std::holds_alternative<double>(scalar) ? DType::kFloat32 : DType::kComplex64;
}

DType result_type(const std::vector<PromotedOperand>& operands) {
  std::array<std::optional<DType>, 3> ranks;  // dimensioned tensors, 0-d tensors, numbers
  for (const PromotedOperand& operand : operands) {
    auto& slot = ranks[operand.number ? 2 : operand.zero_dim ? 1 : 0];
    slot = slot ? promote_types(*slot, operand.dtype) : operand.dtype;
  }
  std::optional<DType> result;
  for (const auto& slot : ranks) {
    if (!slot) continue;
    if (!result) {
      result = slot;
    } else if (category(*slot) > category(*result)) {
      result = promote_types(*result, *slot);
    }
  }
  return result.value_or(DType::kFloat32);
}

}  // namespace leapp::onnx_ops
