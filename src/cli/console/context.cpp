// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "inspect/words.h"

namespace leapp::cli {
namespace {

const char* code_of(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "1";
    case Style::kDim:
      return "2";
    case Style::kRed:
      return "31";
    case Style::kYellow:
      return "33";
    case Style::kGreen:
      return "32";
  }
  return "";
}

// 0, or the errno with which it ended.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ::ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

bool wants_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
}

/// JSON may hold what moves a terminal's cursor or turns a line round; \u says the same.
std::string with_escapes(const std::string& json) {
  std::string result;
  for (std::string_view rest = json; !rest.empty();) {
    const std::string_view before = rest;
    const char32_t code = take_code_point(rest).value_or(U'?');
    const std::string_view bytes = before.substr(0, before.size() - rest.size());
    const auto number = static_cast<std::uint32_t>(code);
    if (code == U'\n' || !is_unseen(code)) {
      result += bytes;
    } else if (number < 0x10000) {
      result += fmt::format("\\u{:04x}", number);
    } else {
      result += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (number >> 10U), 0xDC00 + (number & 0x3FFU));
    }
  }
  return result;
}

}  // namespace

Context::Context() : colour_(::isatty(STDOUT_FILENO) == 1 && wants_colour()), watched_(::isatty(STDERR_FILENO) == 1) {}

void Context::print_json(const Json& document) {
  text_ += with_escapes(document.dump(2, ' ', false, Json::error_handler_t::replace));
  text_ += '\n';
}

std::string Context::styled(std::string_view text, Style style) const {
  if (!colour_ || style == Style::kPlain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(style), text);
}

void Context::finish(const Result<ExitCode>& result) {
  if (result.ok()) {
    exit_code_ = result.value();
  } else {
    fail(result.status().message());
  }
}

void Context::fail(std::string_view message) {
  exit_code_ = ExitCode::kUnusable;
  // Where stderr is closed there is nobody to tell.
  (void)write_all(STDERR_FILENO, fmt::format("leapp: {}\n", in_option_words(one_line(message))));
}

int Context::flush() {
  const int error = write_all(STDOUT_FILENO, text_);
  text_.clear();
  if (error != 0 && error != EPIPE) fail(fmt::format("cannot write the output: {}", std::strerror(error)));
  return static_cast<int>(exit_code_);
}

}  // namespace leapp::cli
