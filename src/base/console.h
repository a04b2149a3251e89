// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a person sees. In a C++ program that is stderr, at once. A host language that has streams of its own (Python:
// sys.stderr, logging) registers itself; lines then wait in a queue until a thread gets to a place where it holds no
// lock of ours, because the host's own lock may be needed, and whoever has that may wait for ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leapp {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// A line, or a block of lines.
struct ConsoleLine {
  LogLevel level = LogLevel::kInfo;
  bool shown = true;  ///< false: only for who asks the host for more than the session shows
  bool bare = false;  ///< the level is not worth a word
  std::string text;
  std::string coloured;  ///< the same for a terminal; empty: as `text`
  std::string file;      ///< of the user's line that `text` begins with; empty: with none
  int line = 0;

  /// With `file` and `line` from a text that begins with "file:line: ".
  static ConsoleLine about(LogLevel level, std::string text, bool shown);
};

/// "leapp: warning: text", with a newline.
std::string console_text(const ConsoleLine& line, bool coloured);

/// Shows lines, in their order. Called without any lock of ours, on any thread that logged, also inside operators. Must
/// not throw, and must get rid of the lines: print_to_stderr is there for a host that cannot run any more.
using ConsoleHost = void (*)(const std::vector<ConsoleLine>& lines);
/// Null: stderr again.
void set_console_host(ConsoleHost host);

/// Logs a line. May be called with any lock held.
void to_console(ConsoleLine line);

/// Gives the host what waits for it; costs one look at a number when nothing does. What the host itself logs meanwhile
/// follows before this returns. Lines that there is no memory for are lost. REQUIRES: this thread holds no lock of
/// ours.
void flush_console() noexcept;

/// For as long as it lives, what this thread logs is shown at once. REQUIRES: it logs without holding any lock of ours.
class ConsoleAtOnce {
 public:
  ConsoleAtOnce();
  ~ConsoleAtOnce();
  ConsoleAtOnce(const ConsoleAtOnce&) = delete;
  ConsoleAtOnce& operator=(const ConsoleAtOnce&) = delete;
};

/// If it is to be shown: with colours on a terminal that has them, unless NO_COLOR is set.
void print_to_stderr(const ConsoleLine& line);

}  // namespace leapp
