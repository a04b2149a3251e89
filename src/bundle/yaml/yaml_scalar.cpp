// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/yaml/yaml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/text.h"

namespace leapp::bundle {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

std::string lower_without_underscores(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != '_') result += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return result;
}

// YAML 1.1 and 1.2 disagree about these; what either takes for a null or a boolean is a word here.
bool is_reserved_word(std::string_view lower) {
  static constexpr std::array<std::string_view, 9> kWords{"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// Takes more for a number than any one reader does (0.7.2, 1-2): quotes too many cost nothing, too few change a type.
bool looks_like_number(std::string_view lower) {
  if (!lower.empty() && (lower[0] == '+' || lower[0] == '-')) lower.remove_prefix(1);
  if (lower.empty()) return false;
  if (lower == ".inf" || lower == ".nan") return true;
  if (lower.starts_with("0x")) return only(lower.substr(2), "0123456789abcdef");
  if (lower.starts_with("0o")) return only(lower.substr(2), "01234567");
  const std::size_t e = lower.find('e');
  const std::string_view mantissa = lower.substr(0, e);
  std::string_view exponent = e == std::string_view::npos ? std::string_view("0") : lower.substr(e + 1);
  if (exponent.starts_with('+') || exponent.starts_with('-')) exponent.remove_prefix(1);
  if (lower.starts_with("0b")) return only(lower.substr(2), "01");
  return !mantissa.empty() && only(mantissa, "0123456789.-") && only(exponent, "0123456789");
}

bool is_plain(std::string_view text) {
  // A narrow alphabet instead of YAML's long list of exceptions; '-' in front would need a look at what follows.
  const auto is_inner = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("_./+- ").find(c) != std::string_view::npos;
  };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_inner)) return false;
  if (std::string_view("+- ").find(text.front()) != std::string_view::npos || text.back() == ' ') return false;
  if (text.starts_with("...")) return false;
  const std::string lower = lower_without_underscores(text);
  return !is_reserved_word(lower) && !looks_like_number(lower);
}

bool needs_escape(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  // Line breaks of YAML 1.1, the byte order mark and what YAML does not count as printable.
  return control || code == 0x2028 || code == 0x2029 || code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

std::string in_single_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += c;
  }
  return result + '\'';
}

std::string in_double_quotes(std::string_view text) {
  std::string result = "\"";
  const auto out = std::back_inserter(result);
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t code = take_code_point(text).value_or(U'\uFFFD');
    if (code == U'\uFFFD') {
      result += "\uFFFD";
    } else if (code == U'"' || code == U'\\') {
      fmt::format_to(out, "\\{}", static_cast<char>(code));
    } else if (code == U'\n') {
      result += "\\n";
    } else if (code == U'\t') {
      result += "\\t";
    } else if (needs_escape(code) && code <= 0xFF) {
      fmt::format_to(out, "\\x{:02X}", static_cast<unsigned>(code));
    } else if (needs_escape(code)) {
      fmt::format_to(out, "\\u{:04X}", static_cast<unsigned>(code));
    } else {
      result += before.substr(0, before.size() - text.size());
    }
  }
  return result + '"';
}

}  // namespace

std::string yaml_string(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  for (std::string_view rest = text; !rest.empty();) {
    const auto code = take_code_point(rest);
    if (!code || needs_escape(*code)) return in_double_quotes(text);
  }
  return in_single_quotes(text);
}

std::string yaml_float(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // YAML 1.1 wants a point in the mantissa; to_chars already signs the exponent, which it wants too.
  if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

}  // namespace leapp::bundle
