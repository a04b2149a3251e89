// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "indexing.h"

#include <torch/csrc/autograd/python_variable.h>

#include <functional>

namespace nb = nanobind;

namespace leapp::python {
namespace {

// Never destroyed: Python may be gone by then. All of it is guarded by Python's lock.
struct Slots {
  binaryfunc get = nullptr;     // torch's own
  objobjargproc set = nullptr;  // likewise
  nb::object on_get;
  nb::object on_set;
};
Slots& slots() {
  static auto* all = new Slots();
  return *all;
}

bool is_index(PyObject* item) {
  // A number that item() gave remembers its tensor (followed_numbers.py).
  if (PyLong_Check(item) && !PyLong_CheckExact(item) && !PyBool_Check(item))
    return PyObject_HasAttrString(item, "as_index") == 1;
  if (!THPVariable_Check(item)) return false;
  const at::Tensor& tensor = THPVariable_Unpack(item);
  return tensor.dim() == 0 && c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false) &&
         tensor.scalar_type() != at::kByte;
}

bool is_concerned(PyObject* item) {
  if (PySlice_Check(item)) return is_index(reinterpret_cast<PySliceObject*>(item)->start);
  return is_index(item);
}

bool concerns(PyObject* index) {
  if (!PyTuple_Check(index)) return is_concerned(index);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
    if (is_concerned(PyTuple_GET_ITEM(index, i))) return true;
  }
  return false;
}

PyObject* get(PyObject* self, PyObject* index) {
  Slots& ours = slots();
  if (!ours.on_get.is_valid() || !concerns(index)) return ours.get(self, index);
  PyObject* found = PyObject_CallFunctionObjArgs(ours.on_get.ptr(), self, index, nullptr);
  if (found != Py_None) return found;
  Py_DECREF(found);
  return ours.get(self, index);
}

int set(PyObject* self, PyObject* index, PyObject* value) {
  Slots& ours = slots();
  if (value == nullptr || !ours.on_set.is_valid() || !concerns(index)) return ours.set(self, index, value);
  PyObject* done = PyObject_CallFunctionObjArgs(ours.on_set.ptr(), self, index, value, nullptr);
  if (done == nullptr) return -1;
  const bool stored = done == Py_True;
  Py_DECREF(done);
  return stored ? 0 : ours.set(self, index, value);
}

/// Tensors' types: a type has a copy of what it inherits.
void each_type(PyTypeObject* type, const std::function<void(PyMappingMethods&)>& visit) {
  if (type->tp_as_mapping != nullptr) visit(*type->tp_as_mapping);
  const nb::object below = nb::handle(reinterpret_cast<PyObject*>(type)).attr("__subclasses__")();
  for (const nb::handle one : below) each_type(reinterpret_cast<PyTypeObject*>(one.ptr()), visit);
}

PyTypeObject* base_type() {
  return reinterpret_cast<PyTypeObject*>(nb::module_::import_("torch").attr("_C").attr("TensorBase").ptr());
}

void remove() {
  Slots& ours = slots();
  if (ours.get == nullptr) return;
  each_type(base_type(), [&](PyMappingMethods& methods) {
    if (methods.mp_subscript == get) methods.mp_subscript = ours.get;
    if (methods.mp_ass_subscript == set) methods.mp_ass_subscript = ours.set;
  });
  ours.on_get.reset();
  ours.on_set.reset();
}

void install(nb::object on_get, nb::object on_set) {
  remove();
  Slots& ours = slots();
  PyTypeObject* base = base_type();
  ours.get = base->tp_as_mapping->mp_subscript;
  ours.set = base->tp_as_mapping->mp_ass_subscript;
  ours.on_get = std::move(on_get);
  ours.on_set = std::move(on_set);
  each_type(base, [&](PyMappingMethods& methods) {
    if (methods.mp_subscript == ours.get) methods.mp_subscript = get;
    if (methods.mp_ass_subscript == ours.set) methods.mp_ass_subscript = set;
  });
}

}  // namespace

void bind_indexing(nb::module_& m) {
  m.def("install_indexing", &install);
  m.def("remove_indexing", &remove);
}

}  // namespace leapp::python
