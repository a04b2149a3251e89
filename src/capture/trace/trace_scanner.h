// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "capture/hook/source_location.h"
#include "capture/recorder/geometry.h"
#include "capture/recorder/memory.h"
#include "graph/graph.h"
#include "graph/scanner.h"
#include "leapp/base/status.h"

namespace leapp::capture {

/// What the facts of a trace are made of (trace_text.h). Errors name the line.
class TraceScanner : public graph::Scanner {
 public:
  explicit TraceScanner(std::string_view text) : Scanner(text), text_(text) {}

  /// `graph name(...) {`, up to a line that begins with '}'.
  [[nodiscard]] Result<graph::Graph> graph();
  /// TYPE [ELEMENTS], to the end of the line.
  [[nodiscard]] Result<graph::Constant> literal();
  /// %v, without the sign.
  [[nodiscard]] Result<std::string> value_name();
  /// "file":line
  [[nodiscard]] Result<LocationId> location();
  /// pass 3
  [[nodiscard]] Result<std::uint64_t> pass();
  /// A type, strides and an offset that lie within the memory.
  [[nodiscard]] Result<Geometry> geometry(const Memory& memory);

  /// `status` is of something that begins here.
  [[nodiscard]] Status within(std::string_view what, const Status& status) const;

 private:
  Result<std::int64_t> whole_number();
  Result<c10::DimVector> numbers();

  std::string_view text_;
};

}  // namespace leapp::capture
