// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "naming.h"

#include <Python.h>
#include <frameobject.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "asked.h"
#include "capture/session/session.h"
#include "common/exceptions.h"
#include "module_calls.h"
#include "module_tensors.h"
#include "tensor_caster.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

// Guarded by Python's lock. Never destroyed: it holds Python objects, which may not outlive Python.
struct Namers {
  PyObject* call_code = nullptr;  // of the function through which torch calls every module
  nb::object find_holder;
  nb::object find_holders;
  std::unordered_map<PyObject*, nb::object> known;  // modules whose tensors have been named
};

Namers& namers() {
  static auto* held = new Namers();
  return *held;
}

nb::object owner_of(nb::handle frame) {
  const nb::object locals = nb::steal(PyObject_GetAttrString(frame.ptr(), "f_locals"));
  return locals.is_valid() ? nb::steal(PyMapping_GetItemString(locals.ptr(), "self")) : nb::object();
}

/// The outermost module that is being called on this thread.
nb::object called_module() {
  if (nb::object seen = outermost_called(); seen.is_valid()) return seen;
  nb::object found;  // a frame: asking one for its variables is what costs
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    if (reinterpret_cast<PyObject*>(code) == namers().call_code) found = nb::borrow(reinterpret_cast<PyObject*>(frame));
    Py_DECREF(code);
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  nb::object owner = found.is_valid() ? owner_of(found) : nb::object();
  PyErr_Clear();
  return owner;
}

void install_namers(nb::object call_code, nb::object find_holder, nb::object find_holders) {
  Namers& held = namers();
  held.call_code = call_code.release().ptr();  // code objects are never freed while torch is loaded
  held.find_holder = std::move(find_holder);
  held.find_holders = std::move(find_holders);
}

/// Gives the tensors of a module their names, and watches its buffers.
void name_tensors_of(nb::handle module) {
  const capture::SessionUse session;
  if (!session) return;
  const ModuleTensors found = tensors_of_module(module);
  unlocked([&] {
    for (const ModuleTensors::Named& one : found.tensors) session->tensors().name(one.tensor, one.name, one.parameter);
    if (!found.buffers.empty()) session->annotations().watch(found.buffers);
  });
}

nb::list named_modules() {
  nb::list modules;
  for (const auto& [address, module] : namers().known) modules.append(module);
  return modules;
}

}  // namespace

bool name_parameters() {
  if (!Py_IsInitialized()) return false;
  const nb::gil_scoped_acquire python;
  Namers& held = namers();
  if (!held.call_code) return false;
  const nb::object module = called_module();
  if (!module.is_valid() || !held.known.try_emplace(module.ptr(), module).second) return false;
  return asked("naming the parameters of a module", false, [&] {
    name_tensors_of(module);
    return true;
  });
}

std::string holder_name(const at::Tensor& tensor) {
  if (!tensor.defined() || !Py_IsInitialized()) return "";
  const nb::gil_scoped_acquire python;
  if (!namers().find_holder.is_valid()) return "";
  return asked("looking for the name of a tensor", std::string(),
               [&] { return nb::cast<std::string>(namers().find_holder(nb::cast(tensor))); });
}

std::vector<capture::Holder> holders(const std::vector<at::Tensor>& tensors) {
  if (tensors.empty() || !Py_IsInitialized()) return std::vector<capture::Holder>(tensors.size());
  const nb::gil_scoped_acquire python;
  if (!namers().find_holders.is_valid()) return std::vector<capture::Holder>(tensors.size());
  return asked("looking for the holders of tensors", std::vector<capture::Holder>(tensors.size()), [&] {
    nb::list list;
    for (const at::Tensor& tensor : tensors) list.append(nb::cast(tensor));
    std::vector<capture::Holder> found;
    for (auto& [name, attribute] : nb::cast<std::vector<std::pair<std::string, bool>>>(namers().find_holders(list))) {
      using Kind = capture::Holder::Kind;
      const Kind kind = name.empty() ? Kind::kNobody : attribute ? Kind::kAttribute : Kind::kVariable;
      found.push_back({kind, std::move(name)});
    }
    found.resize(tensors.size());
    return found;
  });
}

void bind_naming(nb::module_& m) {
  m.def("install_namers", &install_namers, nb::arg("call_code"), nb::arg("find_holder"), nb::arg("find_holders"));
  m.def("named_modules", &named_modules);
  m.def("forget_modules", [] { std::exchange(namers().known, {}); });  // their ends may run code of the program
}

}  // namespace leapp::python
