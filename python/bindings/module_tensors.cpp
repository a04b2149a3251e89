// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "module_tensors.h"

#include <Python.h>

#include <functional>
#include <memory>
#include <unordered_set>
#include <utility>

#include "tensor_caster.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

/// The names under which torch keeps what is in a module, made once.
struct ObjectAttributes {
  PyObject* parameters = PyUnicode_InternFromString("_parameters");
  PyObject* buffers = PyUnicode_InternFromString("_buffers");
  PyObject* modules = PyUnicode_InternFromString("_modules");
};

const ObjectAttributes& attributes() {
  static const auto* names = new ObjectAttributes();
  return *names;
}

/// What a module has under `attribute`: as good as always a dict, in the module's own. To ask for an attribute takes
/// longer, as modules have a function for those that are not there.
nb::object items_of(nb::handle module, PyObject* attribute) {
  const nb::object own = nb::steal(PyObject_GenericGetDict(module.ptr(), nullptr));
  if (!own.is_valid()) PyErr_Clear();
  PyObject* const found = own.is_valid() ? PyDict_GetItemWithError(own.ptr(), attribute) : nullptr;
  if (found) return nb::borrow(found);
  PyErr_Clear();
  nb::object items = nb::steal(PyObject_GetAttr(module.ptr(), attribute));
  if (!items.is_valid()) nb::raise_python_error();
  return items;
}

/// Those of scripted modules only have items().
template <typename Visit>
void for_each_item(nb::handle module, PyObject* attribute, const Visit& visit) {
  const nb::object items = items_of(module, attribute);
  if (!PyDict_Check(items.ptr())) {
    for (const nb::handle item : items.attr("items")()) visit(item[0], item[1]);
    return;
  }
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(items.ptr(), &at, &key, &value)) {
    const nb::object name = nb::borrow(key);
    const nb::object held = nb::borrow(value);  // to visit it may run code that takes it away
    visit(name, held);
  }
}

std::string text_of_name(nb::handle name) {
  const char* utf8 = PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
  PyErr_Clear();
  return utf8 ? utf8 : nb::repr(name).c_str();
}

/// What the buffer of a module holds, asked for without Python's lock.
std::function<at::Tensor()> buffer_getter(nb::handle module, nb::handle name) {
  using Place = std::pair<nb::object, nb::object>;
  const std::shared_ptr<Place> held(new Place(nb::borrow(module), nb::borrow(name)), [](Place* place) {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire python;
    delete place;
  });
  return [held]() -> at::Tensor {
    const nb::gil_scoped_acquire python;
    try {
      const nb::object tensor = nb::getattr(held->first, held->second, nb::none());
      return THPVariable_Check(tensor.ptr()) ? nb::cast<at::Tensor>(tensor) : at::Tensor();
    } catch (nb::python_error& failure) {
      failure.discard_as_unraisable("reading a buffer of a module");
      return {};
    }
  };
}

class Walk {
 public:
  ModuleTensors found;

  // A module that is there twice has its first name.
  void visit(nb::handle module, const std::string& prefix) {
    if (!modules_.insert(module.ptr()).second) return;
    const ObjectAttributes& names = attributes();
    for_each_item(module, names.parameters,
                  [&](nb::handle name, nb::handle tensor) { add(prefix, name, tensor, true); });
    for_each_item(module, names.buffers, [&](nb::handle name, nb::handle tensor) {
      if (add(prefix, name, tensor, false))
        found.buffers.push_back({found.tensors.back().name, buffer_getter(module, name)});
    });
    for_each_item(module, names.modules, [&](nb::handle name, nb::handle inner) {
      if (!inner.is_none()) visit(inner, prefix + text_of_name(name) + ".");
    });
  }

 private:
  bool add(const std::string& prefix, nb::handle name, nb::handle tensor, bool parameter) {
    if (!THPVariable_Check(tensor.ptr()) || !tensors_.insert(tensor.ptr()).second) return false;
    found.tensors.push_back({nb::cast<at::Tensor>(tensor), prefix + text_of_name(name), parameter});
    return true;
  }

  std::unordered_set<PyObject*> modules_;
  std::unordered_set<PyObject*> tensors_;
};

}  // namespace

ModuleTensors tensors_of_module(nb::handle module) {
  Walk walk;
  walk.visit(module, "");
  return std::move(walk.found);
}

}  // namespace leapp::python
