// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.h"

namespace leapp::codegen {
namespace {

constexpr std::size_t kWidth = 118;

template <typename T>
T read(std::span<const std::byte> bytes) {
  T number{};
  if (bytes.size() >= sizeof(T)) std::memcpy(&number, bytes.data(), sizeof(T));
  return number;
}

// The lowest number has no literal of its own: a minus sign is an operator.
template <typename T>
std::string integer(T number) {
  if constexpr (std::is_signed_v<T>) {
    if (sizeof(T) == 8 && number == std::numeric_limits<T>::min()) return "INT64_MIN";
    if (sizeof(T) == 4 && number == std::numeric_limits<T>::min()) return "INT32_MIN";
    return fmt::format("{}", static_cast<std::int64_t>(number));
  } else {
    return fmt::format("{}{}", static_cast<std::uint64_t>(number), sizeof(T) >= 4 ? "U" : "");
  }
}

template <typename T>
std::string decimal(T number, const char* suffix) {
  if (std::isnan(number)) return "NAN";
  if (std::isinf(number)) return number > 0 ? "INFINITY" : "-INFINITY";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}

}  // namespace

std::string comment_text(std::string_view text, std::size_t longest) {
  std::string safe;
  while (!text.empty()) {
    if (safe.size() >= longest) return safe + "...";
    const auto code = take_code_point(text);
    if (!code) {
      safe += "\\x??";  // taken apart below
    } else if (*code >= 0x20 && *code < 0x7f) {
      safe += static_cast<char>(*code);
    } else {
      safe += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(*code));
    }
    // "??/" is a backslash to some compilers, "*/" ends comments of the other kind, "/*" makes them wonder.
    if (safe.ends_with("??") || safe.ends_with("*/") || safe.ends_with("/*")) safe.insert(safe.size() - 1, " ");
  }
  if (safe.ends_with('\\')) safe += '.';
  return safe;
}

std::string_view c_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return "Float16";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kBFloat16:
      return "BFloat16";
    case DType::kInt8:
      return "int8_t";
    case DType::kInt16:
      return "int16_t";
    case DType::kInt32:
      return "int32_t";
    case DType::kInt64:
      return "int64_t";
    case DType::kUInt8:
      return "uint8_t";
    case DType::kBool:
      return "bool";
    case DType::kUInt16:
      return "uint16_t";
    case DType::kUInt32:
      return "uint32_t";
    case DType::kUInt64:
      return "uint64_t";
    default:
      return "";
  }
}

std::string type_word(DType dtype) { return std::string(dtype_name(dtype)); }

std::string literal(float number) { return decimal(number, "F"); }
std::string literal(double number) { return decimal(number, ""); }

std::string literal(DType dtype, std::span<const std::byte> bytes, bool inside) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return fmt::format("{}{{0x{:04x}}}", inside ? "" : c_type(dtype), read<std::uint16_t>(bytes));
    case DType::kFloat32:
      return literal(read<float>(bytes));
    case DType::kFloat64:
      return literal(read<double>(bytes));
    case DType::kInt8:
      return integer(read<std::int8_t>(bytes));
    case DType::kInt16:
      return integer(read<std::int16_t>(bytes));
    case DType::kInt32:
      return integer(read<std::int32_t>(bytes));
    case DType::kInt64:
      return integer(read<std::int64_t>(bytes));
    case DType::kUInt8:
      return integer(read<std::uint8_t>(bytes));
    case DType::kBool:
      return read<std::uint8_t>(bytes) != 0 ? "true" : "false";
    case DType::kUInt16:
      return integer(read<std::uint16_t>(bytes));
    case DType::kUInt32:
      return integer(read<std::uint32_t>(bytes));
    case DType::kUInt64:
      return integer(read<std::uint64_t>(bytes));
    default:
      return "0";
  }
}

void Lines::add(std::string_view item) {
  if (!text_.empty()) text_ += ',';
  if (text_.empty() || column_ + item.size() + 3 > kWidth) {
    if (!text_.empty()) text_ += '\n';
    text_ += indent_;
    column_ = indent_.size();
  } else {
    text_ += ' ';
    column_ += 2;
  }
  text_ += item;
  column_ += item.size();
}

std::string wrapped(const std::vector<std::string>& items, std::string_view indent) {
  Lines lines(indent);
  for (const std::string& item : items) lines.add(item);
  return lines.text();
}

}  // namespace leapp::codegen
