// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "lengths.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <torch/csrc/autograd/python_variable.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "capture/session/session.h"
#include "capture/trace/row_counts.h"
#include "common/exceptions.h"
#include "tensor_caster.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

using capture::RowsDim;

// Never destroyed: Python may be gone by then. All of it is guarded by Python's lock.
struct LengthFunctions {
  PyGetSetDef* shape = nullptr;
  ::getter get_shape = nullptr;  // torch's own
  PyMethodDef* size = nullptr;
  PyCFunctionWithKeywords get_size = nullptr;
  PyMethodDef* numel = nullptr;
  PyMethodDef* nelement = nullptr;
  PyCFunction get_numel = nullptr;
  PyCFunction get_nelement = nullptr;
  nb::object on_shape;
  nb::object on_number;
};
LengthFunctions& length_functions() {
  static auto* all = new LengthFunctions();
  return *all;
}

// Called from functions of C, through which no exception may pass. Memory that runs out is noted by the recorder.
RowsDim rows_of(PyObject* self) noexcept {
  if (!capture::any_rows() || !THPVariable_Check(self)) return {};
  try {
    const capture::SessionUse session;
    if (!session) return {};
    const at::Tensor tensor = THPVariable_Unpack(self);
    return unlocked([&] { return session->tensors().rows(tensor); });
  } catch (...) {
    return {};
  }
}

PyObject* source_of(const RowsDim& rows) { return PyLong_FromVoidPtr(const_cast<capture::TraceOp*>(rows.source)); }

/// Takes `sizes` over.
PyObject* followed_sizes(PyObject* self, PyObject* sizes) {
  LengthFunctions& ours = length_functions();
  if (sizes == nullptr || !ours.on_shape.is_valid() || !capture::any_rows()) return sizes;
  const RowsDim rows = rows_of(self);
  if (rows.dim < 0 || rows.unit != 1) return sizes;
  PyObject* followed = PyObject_CallFunction(ours.on_shape.ptr(), "OOiN", self, sizes, rows.dim, source_of(rows));
  Py_DECREF(sizes);
  return followed;
}

/// Takes `number` over, which is the size of dimension `asked`; none: the number of elements.
PyObject* followed_number(PyObject* self, PyObject* number, std::optional<std::int64_t> asked) {
  LengthFunctions& ours = length_functions();
  if (number == nullptr || !ours.on_number.is_valid() || !capture::any_rows()) return number;
  const RowsDim rows = rows_of(self);
  if (rows.dim < 0 || rows.unit != 1) return number;
  const c10::IntArrayRef sizes = THPVariable_Unpack(self).sizes();
  const auto rank = static_cast<std::int64_t>(sizes.size());
  if (asked && *asked != rows.dim && *asked + rank != rows.dim) return number;
  long long times = 1;
  for (std::int64_t i = 0; !asked && i < rank; ++i) times *= i == rows.dim ? 1 : sizes[static_cast<std::size_t>(i)];
  const long long count = sizes[static_cast<std::size_t>(rows.dim)];
  Py_DECREF(number);
  return PyObject_CallFunction(ours.on_number.ptr(), "OLiLN", self, count, rows.dim, times, source_of(rows));
}

PyObject* asked_shape(PyObject* self, void* closure) {
  return followed_sizes(self, length_functions().get_shape(self, closure));
}

PyObject* asked_size(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* result = length_functions().get_size(self, args, kwargs);
  if (result == nullptr || !capture::any_rows()) return result;
  if (PyTuple_Check(result)) return followed_sizes(self, result);
  PyObject* dim = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  if (dim == nullptr && kwargs != nullptr) dim = PyDict_GetItemString(kwargs, "dim");
  return dim != nullptr && PyLong_Check(dim) ? followed_number(self, result, PyLong_AsLongLong(dim)) : result;
}

PyObject* asked_numel(PyObject* self, PyObject* none) {
  return followed_number(self, length_functions().get_numel(self, none), std::nullopt);
}

PyObject* asked_nelement(PyObject* self, PyObject* none) {
  return followed_number(self, length_functions().get_nelement(self, none), std::nullopt);
}

PyObject* asked_length(PyObject* /*module*/, PyObject* of) {
  const Py_ssize_t found = PyObject_Size(of);
  if (found < 0) return nullptr;
  PyObject* number = PyLong_FromSsize_t(found);
  return capture::any_rows() && THPVariable_Check(of) ? followed_number(of, number, 0) : number;
}

PyMethodDef* method(const nb::object& type, const char* name, int flags) {
  const nb::object found = type.attr("__dict__")[name];
  if (Py_TYPE(found.ptr()) != &PyMethodDescr_Type) return nullptr;
  PyMethodDef* definition = reinterpret_cast<PyMethodDescrObject*>(found.ptr())->d_method;
  return definition->ml_flags == flags ? definition : nullptr;
}

template <typename Function>
PyCFunction plain(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

void remove_lengths() {
  LengthFunctions& ours = length_functions();
  if (ours.shape != nullptr) ours.shape->get = ours.get_shape;
  if (ours.size != nullptr) ours.size->ml_meth = plain(ours.get_size);
  if (ours.numel != nullptr) ours.numel->ml_meth = ours.get_numel;
  if (ours.nelement != nullptr) ours.nelement->ml_meth = ours.get_nelement;
  ours.shape = nullptr;
  ours.size = ours.numel = ours.nelement = nullptr;
  ours.on_shape.reset();
  ours.on_number.reset();
}

void install_lengths(nb::object on_shape, nb::object on_number) {
  remove_lengths();
  LengthFunctions& ours = length_functions();
  ours.on_shape = std::move(on_shape);
  ours.on_number = std::move(on_number);
  const nb::object type = nb::module_::import_("torch").attr("_C").attr("TensorBase");
  const nb::object attribute = type.attr("__dict__")["shape"];
  if (Py_TYPE(attribute.ptr()) == &PyGetSetDescr_Type) {
    ours.shape = reinterpret_cast<PyGetSetDescrObject*>(attribute.ptr())->d_getset;
    ours.get_shape = std::exchange(ours.shape->get, asked_shape);
  }
  ours.size = method(type, "size", METH_VARARGS | METH_KEYWORDS);
  if (ours.size != nullptr) {
    ours.get_size = reinterpret_cast<PyCFunctionWithKeywords>(
        reinterpret_cast<void (*)()>(std::exchange(ours.size->ml_meth, plain(asked_size))));
  }
  ours.numel = method(type, "numel", METH_NOARGS);
  if (ours.numel != nullptr) ours.get_numel = std::exchange(ours.numel->ml_meth, asked_numel);
  ours.nelement = method(type, "nelement", METH_NOARGS);
  if (ours.nelement != nullptr) ours.get_nelement = std::exchange(ours.nelement->ml_meth, asked_nelement);
}

/// Which dimension, and which operator chose its rows.
std::optional<std::pair<int, std::uintptr_t>> asked_rows(nb::handle tensor) {
  const RowsDim found = rows_of(tensor.ptr());
  if (found.dim < 0 || found.unit != 1) return std::nullopt;
  return std::pair(found.dim, reinterpret_cast<std::uintptr_t>(found.source));
}

/// What `ask` reads from tensors is an answer about the number of rows of `tensor`.
void ask_of_rows(const at::Tensor& tensor, const nb::callable& ask) {
  {
    const capture::SessionUse session;
    if (session) unlocked([&] { session->tensors().length_asked(tensor); });
  }
  const capture::AboutRows about;
  ask();
}

PyMethodDef length_definition = {"len", asked_length, METH_O, "Return the number of items in a container."};

}  // namespace

void bind_lengths(nb::module_& m) {
  m.def("install_lengths", &install_lengths);
  m.def("remove_lengths", &remove_lengths);
  m.def("rows", &asked_rows);
  m.def("ask_of_rows", &ask_of_rows);
  const nb::str module("builtins");
  m.attr("length") = nb::steal(PyCFunction_NewEx(&length_definition, nullptr, module.ptr()));
}

}  // namespace leapp::python
