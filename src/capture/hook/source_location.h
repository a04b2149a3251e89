// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace leapp::capture {

/// A line of the user's program, interned for the life of the process. 0: unknown.
using LocationId = std::uint32_t;

/// Thread-safe. Equal places get equal ids.
LocationId intern_location(const std::string& file, int line, const std::string& function);
graph::SourceLocation location(LocationId id);

/// While one exists, what this thread runs stands on that line of scripted code, whatever the front end says.
class ScriptedLine {
 public:
  explicit ScriptedLine(LocationId line);
  ~ScriptedLine();
  ScriptedLine(const ScriptedLine&) = delete;
  ScriptedLine& operator=(const ScriptedLine&) = delete;

 private:
  LocationId before_;
};
/// 0: this thread runs none.
LocationId line_of_scripted_code();

/// "policy.py:12"; empty when unknown.
std::string location_text(LocationId id);
/// "policy.py:12: ", for the beginning of a message; empty when unknown.
std::string line_prefix(LocationId id);
/// " at policy.py:12", after what stands there; empty when unknown.
std::string at_line(LocationId id);

}  // namespace leapp::capture
