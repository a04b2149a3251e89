// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "semantics.h"

#include <nanobind/stl/string.h>

#include <string_view>

#include "common/exceptions.h"
#include "leapp/bundle/port_entry.h"
#include "yaml_values.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

/// Never released: it may be asked for while Python shuts down.
nb::handle semantics_class() {
  static const nb::handle type = nb::getattr(nb::module_::import_("leapp.semantics"), "TensorSemantics").release();
  return type;
}

}  // namespace

bool is_semantics(nb::handle value) { return nb::isinstance(value, semantics_class()); }

Semantics to_semantics(const char* call, const std::string& name, nb::handle semantics) {
  if (std::string_view(call) != "input_tensors" && nb::cast<bool>(semantics.attr("is_setpoint"))) {
    raise(invalid_argument(std::string(call) + ": is_setpoint of '" + name + "' applies only to inputs"));
  }
  const nb::object fields = semantics.attr("_fields")();  // (built-in, extra), in one form whatever was set
  const std::string where = std::string(call) + ": ";
  Semantics result = take(bundle::parse_semantics(to_yaml_map(where + "'" + name + "'", nb::object(fields[0]))));
  result.extra = to_yaml_map(where + "extra of '" + name + "'", nb::object(fields[1]));
  return result;
}

}  // namespace leapp::python
