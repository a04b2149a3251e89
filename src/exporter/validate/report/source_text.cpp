// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/report/source_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "capture/session/front_end.h"

namespace leapp::exporter {
namespace {

constexpr int kFarthestIf = 40;  // lines above

std::vector<std::string> lines_until(const std::string& file, int line) {
  return capture::front_end()->source_until(file, line);
}

std::string stripped(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin));
}

/// Calls `visit(index, depth)` for every character that stands in no string; stops at a comment or when told to.
template <typename Visit>
void scan(std::string_view code, const Visit& visit) {
  char inside = '\0';
  int depth = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (inside != '\0') {
      if (c == '\\') ++i;
      if (c == inside) inside = '\0';
      continue;
    }
    if (c == '#') return;
    if (c == '"' || c == '\'') {
      inside = c;
      continue;
    }
    if (c == ')' || c == ']' || c == '}') --depth;
    if (!visit(i, depth)) return;
    if (c == '(' || c == '[' || c == '{') ++depth;
  }
}

std::string without_comment(std::string_view code) {
  char inside = '\0';
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (inside != '\0' && c == '\\') ++i;
    if (inside != '\0' && c == inside) {
      inside = '\0';
    } else if (inside == '\0' && (c == '"' || c == '\'')) {
      inside = c;
    } else if (inside == '\0' && c == '#') {
      return stripped(code.substr(0, i));
    }
  }
  return stripped(code);
}

std::size_t indentation(std::string_view line) {
  const auto at = line.find_first_not_of(" \t");
  return at == std::string_view::npos ? line.size() : at;
}

bool starts_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() || std::isalnum(static_cast<unsigned char>(text[word.size()])) == 0);
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

constexpr std::array<std::string_view, 14> kKeywords = {"return", "if",  "else", "elif", "for", "in",    "and",
                                                        "or",     "not", "None", "True", "is",  "False", "lambda"};

/// The parenthesis that closes the one at `open`, or nothing.
std::optional<std::size_t> closing_bracket(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(') ++depth;
    if (code[i] == ')' && --depth == 0) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string line_of(const std::string& file, int line) {
  const std::vector<std::string> lines = lines_until(file, line);
  return lines.empty() ? "" : without_comment(lines.back());
}

Condition condition_over(const std::string& file, int line) {
  const std::vector<std::string> lines = lines_until(file, line);
  if (lines.empty()) return {};
  std::size_t indent = indentation(lines.back());
  bool negated = false;
  const auto last = static_cast<int>(lines.size()) - 1;
  for (int i = last - 1; i >= 0 && last - i <= kFarthestIf; --i) {
    const std::string& text = lines[static_cast<std::size_t>(i)];
    const std::string code = without_comment(text);
    if (code.empty()) continue;
    const bool same = negated && indentation(text) == indent;
    if (!same && indentation(text) >= indent) continue;
    if (!negated && starts_word(code, "else")) {
      negated = true;
      indent = indentation(text);
      continue;
    }
    const bool is_if = starts_word(code, "if") || starts_word(code, "elif");
    if (!is_if) return {};
    const auto begin = code.find(' ');
    const auto end = code.rfind(':');
    if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
    return {stripped(std::string_view(code).substr(begin, end - begin)), negated};
  }
  return {};
}

Assignment assignment_in(std::string_view code) {
  if (starts_word(code, "return")) return {"return", stripped(code.substr(6))};
  Assignment found;
  scan(code, [&](std::size_t i, int depth) {
    if (code[i] != '=' || depth != 0) return true;
    const char before = i == 0 ? '\0' : code[i - 1];
    const char after = i + 1 < code.size() ? code[i + 1] : '\0';
    const bool plain = after != '=' && std::string_view("=!<>+-*/%@&|^:").find(before) == std::string_view::npos;
    if (plain) found = {stripped(code.substr(0, i)), stripped(code.substr(i + 1))};
    return false;
  });
  return found;
}

std::vector<std::string> names_read(std::string_view code) {
  const Assignment assignment = assignment_in(code);
  const std::string_view text = assignment.target.empty() ? code : std::string_view(assignment.expression);
  std::vector<std::string> names;
  std::string name;
  const auto end_of_name = [&](char next) {
    const bool known = std::find(names.begin(), names.end(), name) != names.end() ||
                       std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end();
    const bool number = !name.empty() && (std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name[0] == '.');
    if (!name.empty() && !known && !number && next != '(') names.push_back(name);
    name.clear();
  };
  std::size_t previous = std::string_view::npos;
  scan(text, [&](std::size_t i, int /*depth*/) {
    if (previous != std::string_view::npos && previous + 1 != i) end_of_name('"');
    previous = i;
    if (is_name(text[i]) || (text[i] == '.' && !name.empty())) {
      name += text[i];
    } else {
      end_of_name(text[i]);
    }
    return true;
  });
  end_of_name('\0');
  return names;
}

std::string without_escapes(std::string code) {
  for (const std::string_view ending : {".item()", ".tolist()"}) {
    for (auto at = code.find(ending); at != std::string::npos; at = code.find(ending)) code.erase(at, ending.size());
  }
  for (const std::string_view call : {"float(", "int(", "bool("}) {
    for (auto at = code.find(call); at != std::string::npos; at = code.find(call, at + 1)) {
      if (at > 0 && (is_name(code[at - 1]) || code[at - 1] == '.')) continue;
      const auto end = closing_bracket(code, at + call.size() - 1);
      if (!end) break;
      code.erase(*end, 1);
      code.erase(at, call.size());
    }
  }
  return code;
}

std::string with_name_replaced(std::string_view code, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t i = 0;
  while (i < code.size()) {
    const bool begins = i == 0 || (!is_name(code[i - 1]) && code[i - 1] != '.');
    const std::size_t end = i + from.size();
    const bool here = begins && code.substr(i, from.size()) == from && (end >= code.size() || !is_name(code[end]));
    if (here) {
      result += to;
      i = end;
    } else {
      result += code[i++];
    }
  }
  return result;
}

std::string index_in(const std::string& code) {
  const std::size_t open = code.find('[');
  if (open == std::string::npos) return code;
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    depth += code[i] == '[' ? 1 : code[i] == ']' ? -1 : 0;
    if (depth == 0) return code.substr(open + 1, i - open - 1);
  }
  return code;
}

}  // namespace leapp::exporter
