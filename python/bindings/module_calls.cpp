// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "module_calls.h"

#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace nb = nanobind;

namespace leapp::python {
namespace {

/// An object of the type below. Each has a function of its own: somebody may call it long after its session.
struct ModuleCall {
  PyObject_HEAD  // NOLINT: CPython's
      vectorcallfunc call;
  PyObject* original;
};

/// Guarded by Python's lock. Never destroyed: it holds Python objects, which may not outlive Python.
struct Watch {
  void (*notice)(nb::handle) = nullptr;                                   // null: nobody
  std::unordered_map<PyTypeObject*, std::pair<nb::object, bool>> torchs;  // classes that were met, and whose they are
};

/// Of this thread. Whoever calls the module holds it.
thread_local PyObject* t_outermost = nullptr;

Watch& held_watch() {
  static auto* held = new Watch();
  return *held;
}

bool is_torchs_class(PyTypeObject* type) {
  auto& known = held_watch().torchs;
  if (const auto found = known.find(type); found != known.end()) return found->second.second;
  const nb::handle kind(reinterpret_cast<PyObject*>(type));
  const nb::object module = nb::getattr(kind, "__module__", nb::none());
  const bool torchs =
      nb::isinstance<nb::str>(module) && std::string_view(nb::borrow<nb::str>(module).c_str()).starts_with("torch.nn.");
  known.try_emplace(type, nb::borrow(kind), torchs);
  return torchs;
}

// False: an exception was raised.
bool tell(PyObject* module) {
  try {
    if (!is_torchs_class(Py_TYPE(module))) held_watch().notice(module);
    return true;
  } catch (nb::python_error& failure) {
    failure.restore();
    return false;
  }
}

PyObject* call_module(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* names) {
  // As they came, but for the leave to write before the first of them, which was given to us alone.
  const auto given = static_cast<std::size_t>(PyVectorcall_NARGS(count));
  if (given > 0 && held_watch().notice && !tell(arguments[0])) return nullptr;
  const bool outermost = given > 0 && !t_outermost;
  if (outermost) t_outermost = arguments[0];
  PyObject* const result = PyObject_Vectorcall(reinterpret_cast<ModuleCall*>(self)->original, arguments, given, names);
  if (outermost) t_outermost = nullptr;
  return result;
}

PyObject* bound_call(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

int visit_call(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<ModuleCall*>(self)->original);
  return 0;
}

int clear_call(PyObject* self) {
  Py_CLEAR(reinterpret_cast<ModuleCall*>(self)->original);
  return 0;
}

void delete_call(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_call(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyTypeObject* module_call_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(ModuleCall, call), READONLY, nullptr},
      {"__wrapped__", T_OBJECT, offsetof(ModuleCall, original), READONLY, nullptr},  // inspect.signature follows it
      {nullptr, 0, 0, 0, nullptr},
  };
  static PyType_Slot slots[] = {
      {Py_tp_members, members},
      {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
      {Py_tp_descr_get, reinterpret_cast<void*>(&bound_call)},
      {Py_tp_traverse, reinterpret_cast<void*>(&visit_call)},
      {Py_tp_clear, reinterpret_cast<void*>(&clear_call)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&delete_call)},
      {0, nullptr},
  };
  static PyType_Spec spec = {"leapp._capture.ModuleCall", sizeof(ModuleCall), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             slots};
  static PyObject* const type = PyType_FromSpec(&spec);
  return reinterpret_cast<PyTypeObject*>(type);
}

nb::object module_call(const nb::object& original) {
  PyTypeObject* const type = module_call_type();
  ModuleCall* const made = type ? PyObject_GC_New(ModuleCall, type) : nullptr;
  if (!made) nb::raise_python_error();
  made->call = &call_module;
  made->original = original.inc_ref().ptr();
  PyObject_GC_Track(made);
  return nb::steal(reinterpret_cast<PyObject*>(made));
}

}  // namespace

void watch_module_calls(void (*notice)(nb::handle)) { held_watch().notice = notice; }

nb::object outermost_called() { return nb::borrow(t_outermost); }

void forget_module_calls() {
  held_watch().notice = nullptr;
  std::exchange(held_watch().torchs, {});
}

void bind_module_calls(nb::module_& m) { m.def("module_call", &module_call, nb::arg("original")); }

}  // namespace leapp::python
