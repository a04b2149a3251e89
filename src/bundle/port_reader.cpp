// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/port_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "bundle/port_fields.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

constexpr std::size_t kHighestRank = 64;

Status check_port_name(const YamlCursor& at, const std::string& name) {
  if (name.size() > kLongestName) {
    return at.error(fmt::format("expected names of at most {} bytes, found one of {}", kLongestName, name.size()));
  }
  if (!name.empty() && name.find('/') == std::string::npos) return {};
  return at.expected("a name that is not empty and has no '/'");
}

Result<DType> read_dtype(const YamlCursor& at) {
  LEAPP_ASSIGN_OR_RETURN(const std::string name, at.text());
  const auto dtype = parse_dtype(name);
  if (dtype && is_port_dtype(*dtype)) return *dtype;
  return at.expected("one of float16, float32, float64, bfloat16, int8, int16, int32, int64, uint8, bool");
}

// "[1, 48]", "(1, 48)", "1,48": older bundles have the shape as a text.
Result<std::vector<std::int64_t>> parse_shape(const YamlCursor& at, std::string_view text) {
  std::vector<std::int64_t> shape;
  const auto first = text.find_first_not_of(" [(");
  const auto last = text.find_last_not_of(" ,])");
  if (first == std::string_view::npos || last == std::string_view::npos || last < first) {
    // "[]" and "()" are scalars.
    if (text.find_first_of("[(") != std::string_view::npos) return shape;
    return at.expected("a shape such as [1, 48]");
  }
  const char* next = text.data() + first;
  const char* const end = text.data() + last + 1;
  while (next != end) {
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(next, end, extent);
    if (error != std::errc()) return at.expected("a shape such as [1, 48]");
    shape.push_back(extent);
    next = std::find_if(stop, end, [](char c) { return c != ' '; });
    if (next == end) break;
    if (*next != ',') return at.expected("a shape such as [1, 48]");
    next = std::find_if(next + 1, end, [](char c) { return c != ' '; });
  }
  return shape;
}

Result<std::vector<std::int64_t>> read_shape(const YamlCursor& at) {
  if (!at.is_list()) {
    auto text = at.text();
    if (!text.ok()) return at.expected("a shape such as [1, 48]");
    return parse_shape(at, text.value());
  }
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < at.size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(const std::int64_t extent, at.at(i).integer());
    shape.push_back(extent);
  }
  return shape;
}

Status check_size(const YamlCursor& at, const Port& port) {
  if (port.shape.size() > kHighestRank) {
    return at.error(fmt::format("expected at most {} axes, found {}", kHighestRank, port.shape.size()));
  }
  auto bytes = static_cast<std::int64_t>(dtype_size(port.dtype));
  bool empty = false;
  for (const std::int64_t extent : port.shape) {
    if (extent < 0 || extent > kLargestPort) {
      return at.error(fmt::format("expected extents from 0 to {}, found {}", kLargestPort, extent));
    }
    empty = empty || extent == 0;
  }
  for (const std::int64_t extent : port.shape) {
    if (!empty && (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kLargestPort)) {
      return at.error(
          fmt::format("expected at most {} bytes, found {}", kLargestPort, type_text(port.dtype, port.shape)));
    }
  }
  return {};
}

Result<Port> read_port(const YamlCursor& at) {
  Port port;
  LEAPP_ASSIGN_OR_RETURN(const YamlCursor name, at.get("name"));
  LEAPP_ASSIGN_OR_RETURN(port.name, name.text());
  LEAPP_RETURN_IF_ERROR(check_port_name(name, port.name));
  LEAPP_ASSIGN_OR_RETURN(const YamlCursor dtype, at.get("dtype"));
  LEAPP_ASSIGN_OR_RETURN(port.dtype, read_dtype(dtype));
  LEAPP_ASSIGN_OR_RETURN(const YamlCursor shape, at.get("shape"));
  LEAPP_ASSIGN_OR_RETURN(port.shape, read_shape(shape));
  LEAPP_RETURN_IF_ERROR(check_size(shape, port));
  if (const auto type = at.find("type"); type && !type->is_null()) {
    LEAPP_ASSIGN_OR_RETURN(port.type, type->text());
  }
  LEAPP_RETURN_IF_ERROR(read_semantics(at, port));
  return port;
}

}  // namespace

Result<std::vector<Port>> read_ports(const YamlCursor& list) {
  std::vector<Port> ports;
  if (list.is_null()) return ports;
  if (!list.is_list()) return list.expected("a list of ports");
  if (list.size() > kMostPorts) {
    return list.error(fmt::format("expected at most {} ports, found {}", kMostPorts, list.size()));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(Port port, read_port(list.at(i)));
    if (!names.insert(port.name).second)
      return list.at(i).error(fmt::format("the name {} occurs twice", quote(port.name)));
    ports.push_back(std::move(port));
  }
  return ports;
}

}  // namespace leapp::bundle
