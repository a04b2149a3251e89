// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "base/text.h"

namespace leapp::graph {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint64_t kCanonicalNan = 0x7ff8000000000000U;

template <typename T>
void append_raw(std::vector<std::byte>& bytes, T value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename T>
bool append_number(std::string_view text, std::vector<std::byte>& bytes) {
  const auto value = parse_number<T>(text);
  if (value) append_raw(bytes, *value);
  return value.has_value();
}

// Prints each element with `print_one`, then reads the text back: inline numbers are only used when nothing is lost.
template <typename T, typename PrintOne>
std::optional<std::string> print_all(DType dtype, std::span<const std::byte> bytes, PrintOne print_one) {
  std::string text;
  std::vector<std::byte> back;
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    const std::string one = print_one(value);
    if (!parse_element(dtype, one, back)) return std::nullopt;
    if (at > 0) text += ", ";
    text += one;
  }
  if (!std::equal(back.begin(), back.end(), bytes.begin(), bytes.end())) return std::nullopt;
  return text;
}

std::string plain(auto number) { return fmt::format("{}", number); }

}  // namespace

bool is_bare_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '/';
}

std::string quote_if_needed(std::string_view name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), is_bare_character);
  return bare ? std::string(name) : quote(name);
}

std::string print_float(double number) {
  if (std::isnan(number)) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    return bits == kCanonicalNan ? "nan" : fmt::format("nan(0x{:x})", bits);
  }
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::optional<double> parse_float(std::string_view text) {
  if (text == "nan") return std::bit_cast<double>(kCanonicalNan);
  if (text.starts_with("nan(0x") && text.ends_with(")")) {
    std::uint64_t bits = 0;
    const char* last = text.data() + text.size() - 1;
    const auto [end, error] = std::from_chars(text.data() + 6, last, bits, 16);
    const auto number = std::bit_cast<double>(bits);
    if (error != std::errc() || end != last || !std::isnan(number)) return std::nullopt;
    return number;
  }
  if (text.find("nan") != std::string_view::npos) return std::nullopt;
  return parse_number<double>(text);
}

std::optional<std::string> print_elements(DType dtype, std::span<const std::byte> bytes) {
  switch (dtype) {
    case DType::kFloat16:
      return print_all<std::uint16_t>(dtype, bytes, [](std::uint16_t v) { return plain(widen_float16(v)); });
    case DType::kBFloat16:
      return print_all<std::uint16_t>(dtype, bytes, [](std::uint16_t v) { return plain(widen_bfloat16(v)); });
    case DType::kFloat32:
      return print_all<float>(dtype, bytes, plain<float>);
    case DType::kFloat64:
      return print_all<double>(dtype, bytes, plain<double>);
    case DType::kInt8:
      return print_all<std::int8_t>(dtype, bytes, [](std::int8_t v) { return plain<int>(v); });
    case DType::kInt16:
      return print_all<std::int16_t>(dtype, bytes, plain<std::int16_t>);
    case DType::kInt32:
      return print_all<std::int32_t>(dtype, bytes, plain<std::int32_t>);
    case DType::kInt64:
      return print_all<std::int64_t>(dtype, bytes, plain<std::int64_t>);
    case DType::kUInt8:
      return print_all<std::uint8_t>(dtype, bytes, [](std::uint8_t v) { return plain<int>(v); });
    case DType::kUInt16:
      return print_all<std::uint16_t>(dtype, bytes, plain<std::uint16_t>);
    case DType::kUInt32:
      return print_all<std::uint32_t>(dtype, bytes, plain<std::uint32_t>);
    case DType::kUInt64:
      return print_all<std::uint64_t>(dtype, bytes, plain<std::uint64_t>);
    case DType::kBool:
      return print_all<std::uint8_t>(dtype, bytes,
                                     [](std::uint8_t v) { return std::string(v != 0 ? "True" : "False"); });
    default:
      return std::nullopt;
  }
}

bool parse_element(DType dtype, std::string_view text, std::vector<std::byte>& bytes) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32: {
      const auto number = parse_number<float>(text);
      if (!number) return false;
      // from_chars leaves the sign of a NaN to the library.
      const float value = std::isnan(*number) ? std::numeric_limits<float>::quiet_NaN() : *number;
      if (dtype == DType::kFloat32) append_raw(bytes, value);
      if (dtype == DType::kFloat16) append_raw(bytes, narrow_float16(value));
      if (dtype == DType::kBFloat16) append_raw(bytes, narrow_bfloat16(value));
      return true;
    }
    case DType::kFloat64: {
      const auto number = parse_float(text);
      if (number) append_raw(bytes, *number);
      return number.has_value();
    }
    case DType::kInt8:
      return append_number<std::int8_t>(text, bytes);
    case DType::kInt16:
      return append_number<std::int16_t>(text, bytes);
    case DType::kInt32:
      return append_number<std::int32_t>(text, bytes);
    case DType::kInt64:
      return append_number<std::int64_t>(text, bytes);
    case DType::kUInt8:
      return append_number<std::uint8_t>(text, bytes);
    case DType::kUInt16:
      return append_number<std::uint16_t>(text, bytes);
    case DType::kUInt32:
      return append_number<std::uint32_t>(text, bytes);
    case DType::kUInt64:
      return append_number<std::uint64_t>(text, bytes);
    case DType::kBool:
      if (text != "True" && text != "False") return false;
      append_raw(bytes, static_cast<std::uint8_t>(text == "True"));
      return true;
    default:
      return false;
  }
}

std::string encode_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = (group << 8U) | (i < have ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= have ? kBase64[(group >> (18U - 6U * i)) & 63U] : '=';
  }
  return text;
}

std::optional<std::vector<std::byte>> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::array<std::int8_t, 256> digits{};
  digits.fill(-1);
  for (std::size_t i = 0; i < kBase64.size(); ++i)
    digits[static_cast<unsigned char>(kBase64[i])] = static_cast<std::int8_t>(i);
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool pad = at >= text.size() - padding;
    const int digit = pad ? 0 : digits[static_cast<unsigned char>(text[at])];
    if (digit < 0) return std::nullopt;
    group = (group << 6U) | static_cast<std::uint32_t>(digit);
    if (at % 4 != 3) continue;
    for (unsigned shift : {16U, 8U, 0U}) bytes.push_back(static_cast<std::byte>((group >> shift) & 255U));
    group = 0;
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace leapp::graph
