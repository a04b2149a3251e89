// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leapp {

/// What came of checking a node's model, or the pipeline as a whole.
enum class CheckStatus : std::uint8_t { kSkipped, kPassed, kFailed, kErrored };

/// "skipped", "passed", "failed", "errored": the words of reports and of Python.
[[nodiscard]] constexpr std::string_view check_status_name(CheckStatus status) {
  constexpr std::array<std::string_view, 4> kNames = {"skipped", "passed", "failed", "errored"};
  return kNames[static_cast<std::size_t>(status)];
}

/// One thing that is wrong with an export, or that its owner should know: what happened, where, and what to change.
struct Finding {
  std::string kind;                  ///< "mismatch", "branch", ...; docs/concepts/validation.md lists them
  bool fails = false;                ///< the node fails because of it; else it is worth knowing
  std::string node;                  ///< of the pipeline; empty: the pipeline as a whole
  std::string what;                  ///< one or two sentences, with the numbers
  std::string file;                  ///< of the user's program; empty: not known
  int line = 0;                      ///< in `file`
  std::string code;                  ///< what stands in that line; empty: not known
  std::vector<std::string> details;  ///< a line each: statistics, which samples, how far the search got
  std::string remedy;                ///< what to change
  std::string snippet;               ///< code that does it, in the program's own names; may be empty
};

}  // namespace leapp
