// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/escape.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/text.h"

namespace leapp::draw {
namespace {

void append_utf8(std::string& text, char32_t code) {
  const auto byte = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

char32_t drawable(std::optional<char32_t> code) {
  if (!code) return 0xFFFD;
  if (*code < 0x20) return 0x2400 + *code;
  if (*code == 0x7F) return 0x2421;
  // What XML 1.0 does not allow, too.
  return is_unseen(*code) || *code == 0xFFFE || *code == 0xFFFF ? 0xFFFD : *code;
}

bool breaks_after(char32_t code) { return std::string_view("_-./ ").find(static_cast<char>(code)) < 5 && code < 0x80; }

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) append_utf8(result, drawable(take_code_point(text)));
  return result;
}

std::string escape_xml(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string escape_label(std::string_view text) {
  std::string result;
  for (const char c : escape_xml(text)) {
    if (c == '\\') {
      result += "\\\\";
    } else if (c == ' ') {
      result += "&#160;";
    } else {
      result += c;
    }
  }
  return result;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  const std::string shown = printable(text);
  std::string_view rest = shown;
  std::vector<std::string> lines;
  std::string line;
  std::size_t length = 0;
  std::size_t break_bytes = 0;  // of `line`, up to the last good place; 0: there is none
  std::size_t break_length = 0;
  while (!rest.empty()) {
    const char32_t code = take_code_point(rest).value_or(0xFFFD);
    append_utf8(line, code);
    ++length;
    if (breaks_after(code) && length > width / 2) {
      break_bytes = line.size();
      break_length = length;
    }
    if (length < width || rest.empty()) continue;
    const std::size_t cut = break_bytes == 0 ? line.size() : break_bytes;
    lines.push_back(line.substr(0, cut));
    line.erase(0, cut);
    length = break_bytes == 0 ? 0 : length - break_length;
    break_bytes = 0;
  }
  if (!line.empty() || lines.empty()) lines.push_back(line);
  return lines;
}

std::string escape_script(std::string_view json) {
  std::string result;
  while (!json.empty()) {
    const std::string_view before = json;
    const auto code = take_code_point(json);
    const std::uint32_t number = code.value_or(0);
    if (code && *code < 0x10000 && (*code == U'<' || *code == U'>' || *code == U'&' || is_unseen(*code))) {
      result += fmt::format("\\u{:04x}", number);
    } else if (code && is_unseen(*code)) {
      result += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (number >> 10U), 0xDC00 + (number & 0x3FFU));
    } else {
      result += before.substr(0, before.size() - json.size());
    }
  }
  return result;
}

}  // namespace leapp::draw
