// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leapp {

/// Of something that is told about a bundle, the gravest first.
enum class Severity {
  kError,    ///< the bundle does not run, or not there
  kWarning,  ///< it runs, and probably does not do what was meant
  kNote,     ///< good to know
};

/// "error", "warning", "note".
[[nodiscard]] constexpr const char* severity_text(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "";
}

}  // namespace leapp
