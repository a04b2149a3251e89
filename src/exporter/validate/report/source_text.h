// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The user's program as text: the line a finding is about, and the names in it. All of it is a reader's guess at
// Python; where there is nothing to go by the answers are empty.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leapp::exporter {

/// Line `line` (from 1) of `file` without the blanks around it and without a comment behind it.
[[nodiscard]] std::string line_of(const std::string& file, int line);

/// The condition of the `if` that the line stands under, and whether it stands in its `else`.
struct Condition {
  std::string text;  ///< empty: none was found
  bool negated = false;
};
[[nodiscard]] Condition condition_over(const std::string& file, int line);

/// "y" and "x * 2" for "y = x * 2"; "return" and "x * 2" for "return x * 2". Empty targets for anything else.
struct Assignment {
  std::string target;
  std::string expression;
};
[[nodiscard]] Assignment assignment_in(std::string_view code);

/// What stands in the first brackets of the line: "self.position" of "self.keys[self.position] = key". All of it, where
/// there are none.
[[nodiscard]] std::string index_in(const std::string& code);

/// Names and attributes that are read in the line and not called, in order and without repeats: "x", "self.gain".
[[nodiscard]] std::vector<std::string> names_read(std::string_view code);

/// `code` without what takes a value out of the graph: ".item()", "float(...)", "int(...)", ".tolist()".
[[nodiscard]] std::string without_escapes(std::string code);

/// `code` with the name `from` replaced wherever it stands as a whole.
[[nodiscard]] std::string with_name_replaced(std::string_view code, std::string_view from, std::string_view to);

}  // namespace leapp::exporter
