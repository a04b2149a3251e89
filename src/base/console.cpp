// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

namespace leapp {
namespace {

std::atomic<ConsoleHost> g_host{nullptr};
thread_local int t_at_once = 0;
thread_local bool t_flushing = false;

struct Waiting {
  std::mutex mutex;
  std::vector<ConsoleLine> lines;
  std::atomic<std::size_t> count{0};

  void add(ConsoleLine line) {
    const std::lock_guard lock(mutex);
    lines.push_back(std::move(line));
    count = lines.size();
  }

  std::vector<ConsoleLine> take() {
    const std::lock_guard lock(mutex);
    count = 0;
    return std::exchange(lines, {});
  }
};

Waiting& waiting() {
  // Never destroyed: a thread may log while the process ends. Needs no memory: flush_console() has nobody to tell.
  alignas(Waiting) static std::array<std::byte, sizeof(Waiting)> place;
  static auto* queue = new (place.data()) Waiting();
  return *queue;
}

struct LevelStyle {
  std::string_view name;
  std::string_view colour;
};

LevelStyle style(LogLevel level) {
  static constexpr std::array<LevelStyle, 4> kStyles{
      {{"debug", "\x1b[36m"}, {"info", "\x1b[32m"}, {"warning", "\x1b[33m\x1b[1m"}, {"error", "\x1b[31m\x1b[1m"}}};
  return kStyles.at(static_cast<std::size_t>(level));
}

bool stderr_has_colours() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace

ConsoleLine ConsoleLine::about(LogLevel level, std::string text, bool shown) {
  ConsoleLine line{.level = level, .shown = shown};
  const std::string_view first = std::string_view(text).substr(0, text.find('\n'));
  for (std::size_t colon = first.find(':'); colon != std::string_view::npos; colon = first.find(':', colon + 1)) {
    int number = 0;
    const char* end = first.data() + first.size();
    const auto [rest, error] = std::from_chars(first.data() + colon + 1, end, number);
    if (colon + 1 < first.size() && first[colon + 1] == ' ') break;  // words, not a path
    if (error != std::errc() || colon == 0 || number <= 0 || end - rest < 2 || rest[0] != ':' || rest[1] != ' ')
      continue;
    line.file = first.substr(0, colon);
    line.line = number;
    break;
  }
  line.text = std::move(text);
  return line;
}

std::string console_text(const ConsoleLine& line, bool coloured) {
  const std::string& text = coloured && !line.coloured.empty() ? line.coloured : line.text;
  if (line.bare) return fmt::format("leapp: {}\n", text);
  const auto [name, colour] = style(line.level);
  return coloured ? fmt::format("leapp: {}{}\x1b[m: {}\n", colour, name, text)
                  : fmt::format("leapp: {}: {}\n", name, text);
}

void print_to_stderr(const ConsoleLine& line) {
  if (!line.shown) return;
  const std::string text = console_text(line, stderr_has_colours());
  std::fwrite(text.data(), 1, text.size(), stderr);  // one call, so that lines of several threads stay whole
  std::fflush(stderr);
}

void set_console_host(ConsoleHost host) {
  g_host.store(host);
  if (host == nullptr) flush_console();
}

void to_console(ConsoleLine line) {
  if (g_host.load() == nullptr) return print_to_stderr(line);
  waiting().add(std::move(line));
  if (t_at_once > 0) flush_console();
}

void flush_console() noexcept {
  if (waiting().count.load() == 0 || t_flushing) return;
  t_flushing = true;
  try {
    for (auto lines = waiting().take(); !lines.empty(); lines = waiting().take()) {
      if (const ConsoleHost host = g_host.load()) {
        host(lines);
      } else {
        for (const ConsoleLine& line : lines) print_to_stderr(line);
      }
    }
  } catch (const std::exception&) {
    // Without memory to show them these lines are lost: the program, which may be inside an operator, is not.
  }
  t_flushing = false;
}

ConsoleAtOnce::ConsoleAtOnce() { ++t_at_once; }
ConsoleAtOnce::~ConsoleAtOnce() { --t_at_once; }

}  // namespace leapp
