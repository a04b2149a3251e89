// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "yaml_values.h"

#include "common/exceptions.h"
#include "type_error.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

constexpr int kDeepestValue = 32;

bundle::YamlValue to_yaml(const std::string& where, nb::handle value, int depth);

bundle::YamlMap map_of(const std::string& where, nb::handle dict, int depth) {
  bundle::YamlMap map;
  for (const auto& [key, value] : nb::borrow<nb::dict>(dict)) {
    if (!nb::isinstance<nb::str>(key)) {
      raise_type_error(where + ": keys must be strings, found " + nb::repr(key).c_str());
    }
    const auto name = nb::cast<std::string>(key);
    map.emplace_back(name, to_yaml(where + "['" + name + "']", value, depth + 1));
  }
  return map;
}

bundle::YamlValue integer(const std::string& where, nb::handle value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0)
    raise(invalid_argument(where + ": an integer must fit into 64 bits, found " + nb::repr(value).c_str()));
  return std::int64_t{number};
}

bundle::YamlValue to_yaml(const std::string& where, nb::handle value, int depth) {
  if (depth > kDeepestValue) raise(invalid_argument(where + ": nested too deeply"));
  PyObject* const object = value.ptr();
  if (value.is_none()) return {};
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) return integer(where, value);
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (PyUnicode_Check(object)) return nb::cast<std::string>(value);
  if (PyDict_Check(object)) return map_of(where, value, depth);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    bundle::YamlList list;
    for (const nb::handle item : nb::borrow<nb::sequence>(value)) list.push_back(to_yaml(where, item, depth + 1));
    return list;
  }
  // An enum is its value, a NumPy scalar its number.
  if (nb::hasattr(value, "value") && nb::isinstance(value, nb::module_::import_("enum").attr("Enum"))) {
    return to_yaml(where, value.attr("value"), depth + 1);
  }
  const auto type = nb::borrow<nb::object>(value.type());
  if (nb::cast<std::string>(nb::str(type.attr("__module__"))) == "numpy" && nb::hasattr(value, "item") &&
      !nb::hasattr(type, "__array_finalize__")) {
    return to_yaml(where, value.attr("item")(), depth + 1);
  }
  raise_type_error(where + ": expected a str, number, bool, None, list or dict, found " + type_text(value));
}

}  // namespace

bundle::YamlMap to_yaml_map(const std::string& where, nb::handle dict) {
  if (dict.is_none()) return {};
  if (!PyDict_Check(dict.ptr())) raise_type_error(where + " must be a dict, found " + type_text(dict));
  return map_of(where, dict, 0);
}

}  // namespace leapp::python
