// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "graph/literals.h"

namespace leapp::graph {
namespace {

bool is_word_character(char c) { return is_bare_character(c) && c != '.' && c != '/'; }

}  // namespace

void Scanner::skip_space() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++position_;
    } else {
      return;
    }
  }
}

bool Scanner::at_end() {
  skip_space();
  return position_ == text_.size();
}

bool Scanner::looking_at(std::string_view symbol) {
  skip_space();
  return text_.substr(position_).starts_with(symbol);
}

bool Scanner::accept(std::string_view symbol) {
  if (!looking_at(symbol)) return false;
  position_ += symbol.size();
  return true;
}

Status Scanner::expect(std::string_view symbol) {
  if (accept(symbol)) return {};
  return error(fmt::format("'{}'", symbol));
}

std::string_view Scanner::word(std::string_view more) {
  skip_space();
  const std::size_t begin = position_;
  while (position_ < text_.size() &&
         (is_word_character(text_[position_]) || more.find(text_[position_]) != std::string_view::npos)) {
    ++position_;
  }
  return text_.substr(begin, position_ - begin);
}

Result<std::string> Scanner::quoted(std::string_view what) {
  if (!accept("\"")) return error(what);
  std::string result;
  while (position_ < text_.size()) {
    const char c = text_[position_++];
    if (c == '"') return result;
    if (c != '\\') {
      result += c;
      continue;
    }
    const char escape = position_ < text_.size() ? text_[position_++] : '\0';
    if (escape == 'n') {
      result += '\n';
    } else if (escape == 't') {
      result += '\t';
    } else if (escape == 'r') {
      result += '\r';
    } else if (escape == '"' || escape == '\\') {
      result += escape;
    } else {
      const std::string_view hex = escape == 'x' ? text_.substr(position_, 2) : "";
      unsigned char code = 0;
      const auto [end, failure] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
      if (hex.size() != 2 || failure != std::errc() || end != hex.data() + 2) {
        return complain("expected an escape \\\" \\\\ \\n \\t \\r or \\xNN in a string, found another");
      }
      result += static_cast<char>(code);
      position_ += 2;
    }
  }
  return complain("expected '\"' at the end of a string, found the end of the text");
}

Result<std::string> Scanner::name(std::string_view what) {
  if (looking_at("\"")) return quoted(what);
  const std::string_view bare = word("./");
  if (bare.empty()) return error(what);
  return std::string(bare);
}

Status Scanner::error(std::string_view expected) {
  if (at_end()) return complain(fmt::format("expected {}, found the end of the text", expected));
  const std::size_t begin = position_;
  std::string_view found = word(".+-/");
  position_ = begin;
  if (found.empty()) found = text_.substr(begin, 1);
  return complain(fmt::format("expected {}, found {}", expected, quote(found.substr(0, 40))));
}

Status Scanner::complain(std::string_view message) const {
  const auto line = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(position_), '\n') + 1;
  return invalid_argument(fmt::format("line {}: {}", line, message));
}

}  // namespace leapp::graph
