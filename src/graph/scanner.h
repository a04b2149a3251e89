// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "leapp/base/status.h"

namespace leapp::graph {

/// Cuts the text form into words, strings and punctuation. Space, line ends and comments separate and mean nothing.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end();
  /// True when the text goes on with `symbol`; accept() also steps over it.
  [[nodiscard]] bool looking_at(std::string_view symbol);
  [[nodiscard]] bool accept(std::string_view symbol);
  [[nodiscard]] Status expect(std::string_view symbol);

  /// The longest run of letters, digits and '_', plus the characters in `more`; may be empty.
  [[nodiscard]] std::string_view word(std::string_view more = "");
  /// A string in quotes, escapes resolved.
  [[nodiscard]] Result<std::string> quoted(std::string_view what);
  /// A bare or quoted name.
  [[nodiscard]] Result<std::string> name(std::string_view what);

  /// "line 3: expected <expected>, found <what comes next>".
  [[nodiscard]] Status error(std::string_view expected);
  /// "line 3: <message>".
  [[nodiscard]] Status complain(std::string_view message) const;

  [[nodiscard]] std::size_t position() const { return position_; }
  /// `position` was position() earlier.
  void go_back(std::size_t position) { position_ = position; }

 private:
  void skip_space();

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace leapp::graph
