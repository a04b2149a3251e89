// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/half.h"

namespace leapp::inspect {
namespace {

template <typename T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <typename T>
bool store(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof value);
  return true;
}

// Nothing for floats.
std::optional<std::int64_t> to_integer(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kInt8:
      return load<std::int8_t>(element);
    case DType::kInt16:
      return load<std::int16_t>(element);
    case DType::kInt32:
      return load<std::int32_t>(element);
    case DType::kInt64:
      return load<std::int64_t>(element);
    case DType::kUInt8:
      return load<std::uint8_t>(element);
    case DType::kUInt16:
      return load<std::uint16_t>(element);
    case DType::kUInt32:
      return load<std::uint32_t>(element);
    case DType::kBool:
      return load<std::uint8_t>(element) != 0 ? 1 : 0;
    default:
      return std::nullopt;
  }
}

template <typename T>
bool store_in_range(std::int64_t value, std::byte* element) {
  if (value < std::numeric_limits<T>::min() || value > static_cast<std::int64_t>(std::numeric_limits<T>::max())) {
    return false;
  }
  return store(static_cast<T>(value), element);
}

bool store_float(double value, DType dtype, std::byte* element) {
  switch (dtype) {
    case DType::kFloat16:
      return store(narrow_float16(value), element);
    case DType::kBFloat16:
      return store(narrow_bfloat16(value), element);
    case DType::kFloat32:
      return store(static_cast<float>(value), element);
    default:
      return store(value, element);
  }
}

bool store_integer(std::int64_t value, DType dtype, std::byte* element) {
  switch (dtype) {
    case DType::kInt8:
      return store_in_range<std::int8_t>(value, element);
    case DType::kInt16:
      return store_in_range<std::int16_t>(value, element);
    case DType::kInt32:
      return store_in_range<std::int32_t>(value, element);
    case DType::kInt64:
      return store(value, element);
    case DType::kUInt8:
      return store_in_range<std::uint8_t>(value, element);
    case DType::kUInt16:
      return store_in_range<std::uint16_t>(value, element);
    case DType::kUInt32:
      return store_in_range<std::uint32_t>(value, element);
    case DType::kUInt64:
      return value >= 0 && store(static_cast<std::uint64_t>(value), element);
    case DType::kBool:
      return (value == 0 || value == 1) && store(static_cast<std::uint8_t>(value), element);
    default:
      return store_float(static_cast<double>(value), dtype, element);
  }
}

template <typename T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool is_floating(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kBFloat16;
}

bool is_number(DType dtype) {
  return is_port_dtype(dtype) || dtype == DType::kUInt16 || dtype == DType::kUInt32 || dtype == DType::kUInt64;
}

double to_double(DType dtype, const std::byte* element) {
  switch (dtype) {
    case DType::kFloat16:
      return static_cast<double>(widen_float16(load<std::uint16_t>(element)));
    case DType::kBFloat16:
      return static_cast<double>(widen_bfloat16(load<std::uint16_t>(element)));
    case DType::kFloat32:
      return static_cast<double>(load<float>(element));
    case DType::kFloat64:
      return load<double>(element);
    case DType::kUInt64:
      return static_cast<double>(load<std::uint64_t>(element));
    default:
      return static_cast<double>(to_integer(dtype, element).value_or(0));
  }
}

std::string element_text(DType dtype, const std::byte* element) {
  if (dtype == DType::kFloat64) return fmt::format("{}", load<double>(element));
  // What a float32 needs at most is enough for the shorter ones.
  if (is_floating(dtype)) return fmt::format("{}", static_cast<float>(to_double(dtype, element)));
  if (dtype == DType::kUInt64) return fmt::format("{}", load<std::uint64_t>(element));
  return fmt::format("{}", to_integer(dtype, element).value_or(0));
}

bool parse_element(std::string_view text, DType dtype, std::byte* element) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (dtype == DType::kFloat32) {
    // Not by way of a double, which would round twice.
    const auto value = parse<float>(text);
    if (value) return store(*value, element);
  }
  if (is_floating(dtype)) {
    const auto value = parse<double>(text);
    return value && store_float(*value, dtype, element);
  }
  if (dtype == DType::kBool && (text == "true" || text == "True")) return store(std::uint8_t{1}, element);
  if (dtype == DType::kBool && (text == "false" || text == "False")) return store(std::uint8_t{0}, element);
  if (dtype == DType::kUInt64) {
    const auto value = parse<std::uint64_t>(text);
    return value && store(*value, element);
  }
  if (const auto value = parse<std::int64_t>(text)) return store_integer(*value, dtype, element);
  const auto value = parse<double>(text);  // "3.0", as some programs write integers
  return value && convert_element({DType::kFloat64, reinterpret_cast<const std::byte*>(&*value)}, dtype, element);
}

bool convert_element(ElementRef from, DType dtype, std::byte* to) {
  if (const auto integer = to_integer(from.dtype, from.data)) return store_integer(*integer, dtype, to);
  const double value = to_double(from.dtype, from.data);
  if (is_floating(dtype)) return store_float(value, dtype, to);
  // Beyond 2^53 not every integer is a double: what is left of the number is not what was meant.
  if (!(std::abs(value) <= 9007199254740992.0) || std::trunc(value) != value) return false;
  return store_integer(static_cast<std::int64_t>(value), dtype, to);
}

}  // namespace leapp::inspect
