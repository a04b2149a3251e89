// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/source_location.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace leapp::capture {
namespace {

struct Interned {
  std::mutex mutex;
  std::map<std::tuple<std::string, int, std::string>, LocationId> ids;
  std::vector<graph::SourceLocation> places{graph::SourceLocation{}};
};

Interned& interned() {
  static Interned table;
  return table;
}

}  // namespace

namespace {
thread_local LocationId t_scripted_line = 0;
}

ScriptedLine::ScriptedLine(LocationId line) : before_(std::exchange(t_scripted_line, line)) {}
ScriptedLine::~ScriptedLine() { t_scripted_line = before_; }

LocationId line_of_scripted_code() { return t_scripted_line; }

LocationId intern_location(const std::string& file, int line, const std::string& function) {
  Interned& table = interned();
  const std::lock_guard lock(table.mutex);
  auto key = std::make_tuple(file, line, function);
  if (const auto known = table.ids.find(key); known != table.ids.end()) return known->second;
  // The place first: a number that has none would be another's, should memory run out in between.
  const auto id = static_cast<LocationId>(table.places.size());
  table.places.push_back({file, line, function});
  try {
    table.ids.emplace(std::move(key), id);
  } catch (...) {
    table.places.pop_back();
    throw;
  }
  return id;
}

graph::SourceLocation location(LocationId id) {
  Interned& table = interned();
  const std::lock_guard lock(table.mutex);
  return table.places.at(id);
}

std::string location_text(LocationId id) {
  const graph::SourceLocation place = location(id);
  return place.file.empty() ? "" : fmt::format("{}:{}", place.file, place.line);
}

std::string line_prefix(LocationId id) {
  const std::string text = location_text(id);
  return text.empty() ? text : text + ": ";
}

std::string at_line(LocationId id) {
  const std::string text = location_text(id);
  return text.empty() ? text : " at " + text;
}

}  // namespace leapp::capture
