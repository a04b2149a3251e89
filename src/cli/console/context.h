// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "inspect/spec_json.h"
#include "leapp/base/status.h"

namespace leapp::fleet {}

namespace leapp::cli {

// The command line shows what these two libraries find and make.
using namespace fleet;
using namespace inspect;

/// What the process ends with.
enum class ExitCode {
  kFine = 0,
  kFindings = 1,  ///< it ran, and found something: a problem, a difference, an overrun
  kUnusable = 2,  ///< wrong usage, or a file that cannot be read, written or made sense of
};

enum class Style { kPlain, kBold, kDim, kRed, kYellow, kGreen };

/// How one run of the tool talks to whoever called it. What a subcommand prints is collected and written in one go at
/// the end: a pipe that is closed meanwhile is nobody's error, and a failing command leaves no half of a table.
class Context {
 public:
  /// Looks at whether stdout and stderr are terminals, and at NO_COLOR.
  Context();

  bool json = false;  ///< --json

  void print(std::string_view text) { text_ += text; }
  void print_json(const Json& document);

  /// `text` in that style where stdout is a terminal, else as it is.
  [[nodiscard]] std::string styled(std::string_view text, Style style) const;

  /// Whether someone watches stderr: only then are there progress lines.
  [[nodiscard]] bool watched() const { return watched_; }

  /// Notes how the subcommand ended; a Status goes to stderr as one line.
  void finish(const Result<ExitCode>& result);

  /// Says on stderr, in one line, why nothing could be done.
  void fail(std::string_view message);

  /// Writes what was printed. Returns what main() returns.
  int flush();

 private:
  std::string text_;
  bool colour_ = false;
  bool watched_ = false;
  ExitCode exit_code_ = ExitCode::kFine;
};

}  // namespace leapp::cli
