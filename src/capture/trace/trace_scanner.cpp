// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/trace_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "capture/trace/literal_trace.h"
#include "graph/text.h"

namespace leapp::capture {

Status TraceScanner::within(std::string_view what, const Status& status) const {
  return complain(fmt::format("{} that begins here: {}", what, status.message()));
}

Result<graph::Graph> TraceScanner::graph() {
  if (!looking_at("graph")) return error("a graph");
  const std::size_t begin = position();
  const std::size_t end = text_.find("\n}", begin);
  if (end == std::string_view::npos) return complain("the graph has no end: expected a line with '}'");
  auto parsed = graph::parse(text_.substr(begin, end + 2 - begin));
  if (!parsed.ok()) return within("the graph", parsed.status());
  go_back(end + 2);
  return parsed;
}

Result<graph::Constant> TraceScanner::literal() {
  const std::size_t begin = position();
  const std::size_t end = std::min(text_.find('\n', begin), text_.size());
  std::string line(text_.substr(begin, end - begin));
  const std::size_t last = line.rfind(']');
  if (last == std::string::npos) return error("a type and its elements, such as float32[2] [0, 1]");
  line.resize(last + 1);
  const auto parsed = graph::parse(fmt::format("graph g() {{\n  %c = constant {}\n  return (c=%c)\n}}\n", line));
  if (!parsed.ok()) return within("the content", parsed.status());
  go_back(begin + line.size());
  return (*parsed.value().constants().begin())->constant();
}

Result<std::string> TraceScanner::value_name() {
  LEAPP_RETURN_IF_ERROR(expect("%"));
  return name("the name of a value");
}

Result<LocationId> TraceScanner::location() {
  LEAPP_ASSIGN_OR_RETURN(const std::string file, quoted("a file"));
  LEAPP_RETURN_IF_ERROR(expect(":"));
  LEAPP_ASSIGN_OR_RETURN(const std::int64_t line, whole_number());
  return intern_location(file, static_cast<int>(line), "");
}

Result<std::uint64_t> TraceScanner::pass() {
  LEAPP_RETURN_IF_ERROR(expect("pass"));
  LEAPP_ASSIGN_OR_RETURN(const std::int64_t number, whole_number());
  return static_cast<std::uint64_t>(number);
}

Result<std::int64_t> TraceScanner::whole_number() {
  if (at_end()) return error("a number");
  const std::size_t begin = position();
  const std::string_view digits = word();
  std::int32_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure == std::errc() && end == digits.data() + digits.size() && number >= 0) return std::int64_t{number};
  go_back(begin);
  return error("a number");
}

Result<c10::DimVector> TraceScanner::numbers() {
  c10::DimVector list;
  LEAPP_RETURN_IF_ERROR(expect("["));
  while (!accept("]")) {
    if (!list.empty()) LEAPP_RETURN_IF_ERROR(expect(","));
    LEAPP_ASSIGN_OR_RETURN(const std::int64_t number, whole_number());
    list.push_back(number);
  }
  return list;
}

Result<Geometry> TraceScanner::geometry(const Memory& memory) {
  const auto dtype = parse_dtype(word());
  if (!dtype) return complain("expected a type, such as float32[2]");
  LEAPP_ASSIGN_OR_RETURN(const c10::DimVector sizes, numbers());
  Geometry place = dense_geometry(to_value_type({*dtype, {sizes.begin(), sizes.end()}}));
  if (accept("strides")) {
    LEAPP_ASSIGN_OR_RETURN(place.strides, numbers());
  }
  if (accept("offset")) {
    LEAPP_ASSIGN_OR_RETURN(const std::int64_t elements, whole_number());
    place.byte_offset = elements * place.item_size();
  }
  const bool fits = place.strides.size() == place.sizes.size() && place.end_byte() <= memory.bytes();
  if (!fits) return complain("it does not lie within the memory");
  return place;
}

}  // namespace leapp::capture
