// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "capture/trace/record.h"
#include "capture/trace/trace.h"

namespace leapp::capture {

/// An output that reached a value unchanged, or through operators (glue).
struct SourcePath {
  ValuePtr published;   ///< null: none did
  std::string op = {};  ///< the operator between; empty: unchanged
  LocationId location = 0;
};

SourcePath path_to(const ValuePtr& value);

/// Says where the inputs of a pass come from, and tells the user about those that get no edge.
class SourceFinder {
 public:
  SourceFinder(std::uint64_t pass, CaptureResult& recording) : pass_(pass), recording_(recording) {}

  /// The output that an input, which holds `value` and content with `hash`, takes its value from.
  [[nodiscard]] std::optional<Source> find(const std::string& node, const std::string& port, const ValuePtr& value,
                                           const std::function<std::uint64_t()>& hash);

 private:
  void report_glue(const std::string& node, const std::string& port, const SourcePath& path);

  std::uint64_t pass_;
  CaptureResult& recording_;
};

}  // namespace leapp::capture
