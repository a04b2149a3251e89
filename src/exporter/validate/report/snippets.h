// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What to write instead, in the names of the user's program.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace leapp::exporter {

/// A name of the program and how it is written in a line: "gain", "self.gain".
struct ProgramName {
  std::string name;
  std::string text;
};

/// How `name` (of an attribute or a variable; may be empty) is written in `code`. Without a name: what the line reads
/// that is none of `others`, when there is one such thing only; else "value" for "...".
[[nodiscard]] ProgramName name_in(const std::string& code, const std::string& name,
                                  const std::vector<std::string>& others);

/// An announced input in the place of what the program calls `value`.
[[nodiscard]] std::string input_snippet(const std::string& node, const ProgramName& value, const std::string& code);
/// The same for a Python number, which has to become a tensor first.
[[nodiscard]] std::string number_snippet(const std::string& node, const ProgramName& value, const std::string& code);
[[nodiscard]] std::string state_snippet(const std::string& node, const ProgramName& value);
[[nodiscard]] std::string counter_snippet(const std::string& node, const ProgramName& value, const std::string& step);
/// Both sides computed, one chosen. Empty when the two lines do not look like it.
[[nodiscard]] std::string branch_snippet(const graph::SourceLocation& first, const graph::SourceLocation& other);
/// An operator between two nodes, moved into the second.
[[nodiscard]] std::string glue_snippet(const std::string& node, const std::string& port, const std::string& code);

}  // namespace leapp::exporter
