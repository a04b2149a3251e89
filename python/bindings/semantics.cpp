// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "semantics.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <utility>
#include <vector>

#include "common/exceptions.h"
#include "yaml_values.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

/// The class `name` of leapp.semantics. Never released: it may be asked for while Python shuts down.
nb::handle semantic_class(const char* name) {
  return nb::getattr(nb::module_::import_("leapp.semantics"), name).release();
}

nb::handle semantics_class() {
  static const nb::handle type = semantic_class("TensorSemantics");
  return type;
}

nb::handle temporal_axis_class() {
  static const nb::handle type = semantic_class("TemporalAxis");
  return type;
}

void read_axes(nb::handle axes, Semantics& semantics) {
  std::vector<bundle::AxisNames> names;
  for (const nb::handle axis : nb::borrow<nb::list>(axes)) {
    if (nb::isinstance(axis, temporal_axis_class())) {
      semantics.temporal_axis = {names.size(), nb::cast<double>(axis.attr("period_ms"))};
      names.emplace_back();
    } else if (axis.is_none()) {
      names.emplace_back();
    } else {
      names.emplace_back(nb::cast<std::vector<std::string>>(axis));
    }
  }
  semantics.element_names = std::move(names);
}

}  // namespace

bool is_semantics(nb::handle value) { return nb::isinstance(value, semantics_class()); }

Semantics to_semantics(const char* call, const std::string& name, nb::handle semantics) {
  if (std::string_view(call) != "input_tensors" && nb::cast<bool>(semantics.attr("is_setpoint"))) {
    raise(invalid_argument(std::string(call) + ": is_setpoint of '" + name + "' applies only to inputs"));
  }
  Semantics result;
  const nb::object fields = semantics.attr("_fields")();  // (kind, axes, extra), in one form whatever was set
  const nb::object kind = fields[0];
  const nb::object axes = fields[1];
  if (!kind.is_none()) result.kind = nb::cast<std::string>(kind);
  if (!axes.is_none()) read_axes(axes, result);
  result.extra = to_yaml_map(std::string(call) + ": extra of '" + name + "'", nb::object(fields[2]));
  return result;
}

}  // namespace leapp::python
