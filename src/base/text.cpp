// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace leapp {

std::string shape_text(std::span<const std::int64_t> shape) {
  constexpr std::size_t kMostAxes = 64;
  const auto shown = shape.first(std::min(shape.size(), kMostAxes));
  return fmt::format("[{}{}]", fmt::join(shown.begin(), shown.end(), ","), shape.size() > kMostAxes ? ",..." : "");
}

std::string type_text(DType dtype, std::span<const std::int64_t> shape) {
  return fmt::format("{}{}", dtype_name(dtype), shape_text(shape));
}

std::string quote(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", code);
    } else {
      result += c;
    }
  }
  result += '"';
  return result;
}

std::string quote_brief(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return text.size() <= kLongest ? quote(text) : quote(std::string(text.substr(0, kLongest)) + "...");
}

bool is_unseen(char32_t code) {
  static constexpr std::array<std::pair<char32_t, char32_t>, 12> kRanges{{{0x00, 0x1F},
                                                                          {0x7F, 0x9F},
                                                                          {0xAD, 0xAD},
                                                                          {0x61C, 0x61C},
                                                                          {0x180E, 0x180E},
                                                                          {0x200B, 0x200B},
                                                                          {0x200E, 0x200F},
                                                                          {0x2028, 0x202E},
                                                                          {0x2060, 0x206F},
                                                                          {0xFEFF, 0xFEFF},
                                                                          {0xFFF9, 0xFFFB},
                                                                          {0xE0000, 0xE007F}}};
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string printable(std::string_view text, bool keep_lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::string_view before = text;
    const auto code = take_code_point(text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    if (code && (*code == U'\n' ? keep_lines : !is_unseen(*code))) {
      result += bytes;
      continue;
    }
    for (const char byte : bytes) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(byte));
    }
  }
  return result;
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits{"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::optional<char32_t> take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  char32_t code = size <= 1 ? lead : lead & (0x7FU >> size);
  bool valid = size > 0 && size <= text.size();
  for (std::size_t i = 1; valid && i < size; ++i) {
    valid = (byte(i) & 0xC0U) == 0x80U;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  // Two-byte overlong forms are gone with the leads C0 and C1.
  valid = valid && !(size == 3 && code < 0x800) && !(size == 4 && code < 0x10000) && code <= 0x10FFFF &&
          !(code >= 0xD800 && code <= 0xDFFF);
  text.remove_prefix(valid ? size : 1);
  return valid ? std::optional(code) : std::nullopt;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (!take_code_point(text)) return false;
  }
  return true;
}

}  // namespace leapp
