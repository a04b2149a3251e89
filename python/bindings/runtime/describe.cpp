// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <algorithm>
#include <string>
#include <variant>

namespace nb = nanobind;

namespace leapp::python {
namespace {

// Stands in element_names for an axis of moments (docs/bundle_format.md).
constexpr const char* kTemporalAxis = "__temporal_axis__";

nb::str text(std::string_view value) { return nb::str(value.data(), value.size()); }

struct Converter {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(bool value) const { return nb::bool_(value); }
  nb::object operator()(std::int64_t value) const { return nb::int_(value); }
  nb::object operator()(double value) const { return nb::float_(value); }
  nb::object operator()(const std::string& value) const { return text(value); }
  nb::object operator()(const bundle::YamlList& values) const {
    nb::list list;
    for (const bundle::YamlValue& value : values) list.append(to_python(value));
    return list;
  }
  nb::object operator()(const bundle::YamlMap& values) const {
    nb::dict dict;
    for (const auto& [key, value] : values) dict[text(key)] = to_python(value);
    return dict;
  }
};

nb::list element_names(const bundle::Port& port) {
  nb::list axes;
  const std::size_t named = port.element_names ? port.element_names->size() : 0;
  const std::size_t count = std::max(named, port.temporal_axis ? port.temporal_axis->axis + 1 : 0);
  for (std::size_t axis = 0; axis < count; ++axis) {
    const bundle::AxisNames names = axis < named ? (*port.element_names)[axis] : bundle::AxisNames();
    if (port.temporal_axis && port.temporal_axis->axis == axis) {
      axes.append(nb::str(kTemporalAxis));
    } else if (!names) {
      axes.append(nb::none());
    } else {
      nb::list list;
      for (const std::string& name : *names) list.append(text(name));
      axes.append(list);
    }
  }
  return axes;
}

}  // namespace

nb::object to_python(const bundle::YamlValue& value) { return std::visit(Converter{}, value.data); }

nb::dict describe(const bundle::Port& port) {
  nb::dict dict;
  dict["name"] = text(port.name);
  dict["dtype"] = text(dtype_name(port.dtype));
  nb::list shape;
  for (const std::int64_t extent : port.shape) shape.append(extent);
  dict["shape"] = shape;
  dict["type"] = text(port.type);
  if (port.kind) dict["kind"] = text(*port.kind);
  if (port.element_names || port.temporal_axis) dict["element_names"] = element_names(port);
  if (port.temporal_axis) dict["temporal_period_ms"] = port.temporal_axis->period_ms;
  for (const auto& [key, value] : port.extra) dict[text(key)] = to_python(value);
  return dict;
}

}  // namespace leapp::python
