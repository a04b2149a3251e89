// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include <utility>

#include "common/exceptions.h"
#include "semantics.h"
#include "tensor_caster.h"
#include "type_error.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

constexpr int kDeepest = 64;

bool is_list(nb::handle value) { return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()); }

bool is_simple(nb::handle value) {
  PyObject* const object = value.ptr();
  if (value.is_none() || PyLong_Check(object) || PyFloat_Check(object) || PyUnicode_Check(object) ||
      PyBytes_Check(object) || PyComplex_Check(object)) {
    return true;
  }
  const std::string type = nb::cast<std::string>(nb::str(nb::handle(value.type()).attr("__module__")));
  const bool of_torch = type == "torch" && !PyCallable_Check(object);  // torch.float32, torch.device("cpu")
  return of_torch || (type == "numpy" && nb::hasattr(value, "dtype") && !is_array(value)) ||
         nb::isinstance(value, nb::module_::import_("enum").attr("Enum"));
}

std::string text_of(nb::handle value) {
  std::string text = nb::repr(value).c_str();
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return value.is_none() ? text : type_text(value) + " " + text;
}

std::string key_text(const std::string& where, nb::handle key) {
  if (PyUnicode_Check(key.ptr())) return nb::cast<std::string>(key);
  if (PyLong_Check(key.ptr())) return nb::cast<std::string>(nb::str(key));
  raise_type_error(where + ": keys must be strings or integers, found " + text_of(key));
}

/// Turns values into Nested ones, and says in errors where they stand.
class Converter {
 public:
  Converter(const char* call, Leaves leaves, bool convert = true) : call_(call), leaves_(leaves), convert_(convert) {}

  Nested nested(const std::string& name, nb::handle value, int depth = 0) {
    if (depth > kDeepest) raise(invalid_argument(where(name) + " is nested too deeply, or contains itself"));
    if (is_tensor(value)) return convert_ ? Nested(nb::cast<at::Tensor>(value)) : Nested();
    if (is_array(value)) return convert_ ? Nested(to_tensor(call_, name, value)) : Nested();
    if (PyDict_Check(value.ptr())) return map(name, value, depth);
    if (is_list(value)) return list(name, value, depth);
    if (leaves_ == Leaves::kAny) return Nested::Other{};
    if (is_semantics(value)) {
      raise_type_error(where(name) +
                       " is a TensorSemantics inside a dict; pass TensorSemantics alone or in a list, "
                       "they have names of their own");
    }
    if (is_simple(value)) return Nested::Other{convert_ ? text_of(value) : ""};
    raise_type_error(where(name) +
                     " must be a torch.Tensor, a numpy.ndarray or these in dicts, lists and tuples, found " +
                     type_text(value));
  }

 private:
  std::string where(const std::string& name) const { return std::string(call_) + ": '" + name + "'"; }

  Nested map(const std::string& name, nb::handle value, int depth) {
    Nested::Map map;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value)) {
      std::string text = key_text(where(name), key);
      Nested inner = nested(name + "_" + text, item, depth + 1);
      map.emplace_back(std::move(text), std::move(inner));
    }
    return map;
  }

  Nested list(const std::string& name, nb::handle value, int depth) {
    Nested::List list;
    for (const nb::handle item : nb::borrow<nb::sequence>(value)) {
      list.push_back(nested(name + "_" + std::to_string(list.size()), item, depth + 1));
    }
    return list;
  }

  const char* call_;
  Leaves leaves_;
  bool convert_;
};

PyPort semantic_port(const char* call, nb::handle semantics) {
  const nb::object name = semantics.attr("name");
  const nb::object value = semantics.attr("ref");  // held by `semantics`
  if (!PyUnicode_Check(name.ptr())) {
    raise_type_error(std::string(call) + ": the name of a TensorSemantics must be a string, found " + text_of(name));
  }
  PyPort port{nb::cast<std::string>(name), value, semantics};
  if (!is_tensor(value) && !is_array(value)) {
    raise_type_error(std::string(call) + ": ref of the TensorSemantics '" + port.name +
                     "' must be a torch.Tensor or a numpy.ndarray, found " + type_text(value));
  }
  return port;
}

std::vector<PyPort> dict_ports(const char* call, nb::handle dict) {
  std::vector<PyPort> ports;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict.ptr(), &at, &key, &value);) {
    if (!PyUnicode_Check(key)) {
      raise_type_error(std::string(call) + ": names must be strings, found " + text_of(key));
    }
    ports.push_back({nb::cast<std::string>(nb::handle(key)), value, {}});
  }
  return ports;
}

[[noreturn]] void refuse_payload(const char* call, nb::handle tensors, nb::handle item) {
  const std::string expected = ": expected a dict of names and tensors, a TensorSemantics or a list of them, found ";
  std::string found = type_text(tensors);
  if (item.is_valid()) found = "a " + found + " that holds a " + type_text(item);
  raise_type_error(call + expected + found);
}

nb::object rebuilt_dict(nb::handle original, const Nested::Map& map, Arrays arrays) {
  nb::dict items;
  bool same = true;
  std::size_t at = 0;
  for (const auto& [key, item] : nb::borrow<nb::dict>(original)) {
    const nb::object value = rebuilt(item, map[at++].second, arrays);
    same = same && value.is(item);
    items[key] = value;
  }
  if (same) return nb::borrow(original);
  if (PyDict_CheckExact(original.ptr())) return items;
  nb::object copy = nb::module_::import_("copy").attr("copy")(original);
  copy.attr("update")(items);
  return copy;
}

nb::object rebuilt_list(nb::handle original, const Nested::List& list, Arrays arrays) {
  nb::list items;
  bool same = true;
  std::size_t at = 0;
  for (const nb::handle item : nb::borrow<nb::sequence>(original)) {
    const nb::object value = rebuilt(item, list[at++], arrays);
    same = same && value.is(item);
    items.append(value);
  }
  if (same) return nb::borrow(original);
  if (PyList_CheckExact(original.ptr())) return items;
  if (PyTuple_CheckExact(original.ptr())) return nb::tuple(items);
  const auto type = nb::borrow<nb::object>(original.type());
  return nb::hasattr(type, "_make") ? type.attr("_make")(items) : type(items);
}

}  // namespace

bool is_tensor(nb::handle value) { return THPVariable_Check(value.ptr()); }

bool is_array(nb::handle value) {
  static PyObject* type = nullptr;
  if (!type) {
    // Who has not imported NumPy has no arrays.
    PyObject* const numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
    if (!numpy) return false;
    type = PyObject_GetAttrString(numpy, "ndarray");
    if (!type) {
      PyErr_Clear();  // it is being imported
      return false;
    }
  }
  return PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(type));
}

bool holds_tensor(nb::handle value) {
  if (is_tensor(value) || is_array(value)) return true;
  if (PyDict_Check(value.ptr())) {
    for (const auto& [key, item] : nb::borrow<nb::dict>(value)) {
      if (holds_tensor(item)) return true;
    }
  } else if (is_list(value)) {
    for (const nb::handle item : nb::borrow<nb::sequence>(value)) {
      if (holds_tensor(item)) return true;
    }
  }
  return false;
}

std::vector<PyPort> ports_of(const char* call, nb::handle tensors) {
  if (PyDict_Check(tensors.ptr())) return dict_ports(call, tensors);
  if (is_semantics(tensors)) return {semantic_port(call, tensors)};
  if (!PyList_Check(tensors.ptr())) refuse_payload(call, tensors, {});
  std::vector<PyPort> ports;
  for (const nb::handle item : nb::borrow<nb::list>(tensors)) {
    if (!is_semantics(item)) refuse_payload(call, tensors, item);
    ports.push_back(semantic_port(call, item));
  }
  return ports;
}

void check_values(const char* call, const std::vector<PyPort>& ports) {
  Converter converter(call, Leaves::kSimple, /*convert=*/false);
  for (const PyPort& port : ports) converter.nested(port.name, port.value);
}

Payload to_payload(const char* call, const std::vector<PyPort>& ports, Leaves leaves) {
  Converter converter(call, leaves);
  Payload payload;
  for (const PyPort& port : ports) {
    PortValue value{port.name, converter.nested(port.name, port.value)};
    if (port.semantics.is_valid()) value.semantics = to_semantics(call, port.name, port.semantics);
    payload.push_back(std::move(value));
  }
  return payload;
}

at::Tensor to_tensor(const char* call, const std::string& name, nb::handle value) {
  if (is_tensor(value)) return nb::cast<at::Tensor>(value);
  if (is_array(value))
    return nb::cast<at::Tensor>(nb::module_::import_("leapp.capture.arrays.live").attr("to_tensor")(value));
  raise_type_error(std::string(call) + ": '" + name + "' must be a torch.Tensor or a numpy.ndarray, found " +
                   type_text(value));
}

nb::object rebuilt(nb::handle original, const Nested& value, Arrays arrays) {
  if (const auto* tensor = std::get_if<at::Tensor>(&value.data)) {
    if (!is_array(original)) return nb::cast(*tensor);
    if (arrays == Arrays::kRecorded) return nb::module_::import_("leapp.capture.arrays.live").attr("to_array")(*tensor);
    return nb::module_::import_("leapp.capture.arrays.published").attr("published")(original);
  }
  if (const auto* map = std::get_if<Nested::Map>(&value.data)) return rebuilt_dict(original, *map, arrays);
  if (const auto* list = std::get_if<Nested::List>(&value.data)) return rebuilt_list(original, *list, arrays);
  return nb::borrow(original);
}

nb::object unpacked(const std::vector<nb::object>& values) {
  if (values.size() == 1) return values.front();
  nb::list items;
  for (const nb::object& value : values) items.append(value);
  return nb::tuple(items);
}

}  // namespace leapp::python
