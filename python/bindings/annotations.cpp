// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "annotations.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/session/session.h"
#include "common/exceptions.h"
#include "first_calls.h"
#include "leapp/capture.h"
#include "payload.h"
#include "tensor_caster.h"
#include "type_error.h"
#include "yaml_values.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

std::string text_argument(const char* call, const char* argument, nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return nb::cast<std::string>(value);
  raise_type_error(std::string(call) + ": " + argument + " must be a string, found " + type_text(value));
}

/// The tensor of a dict with one tensor in it, the case that has to be fast when nothing is captured.
PyObject* only_tensor(nb::handle tensors) {
  if (!PyDict_CheckExact(tensors.ptr()) || PyDict_GET_SIZE(tensors.ptr()) != 1) return nullptr;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  PyDict_Next(tensors.ptr(), &at, &key, &value);
  return PyUnicode_Check(key) && THPVariable_Check(value) ? value : nullptr;
}

nb::object given(const std::vector<PyPort>& ports) {
  std::vector<nb::object> values;
  for (const PyPort& port : ports) values.push_back(nb::borrow(port.value));
  return unpacked(values);
}

nb::object handed_back(const char* call, nb::handle node, nb::handle tensors) {
  if (!PyUnicode_Check(node.ptr())) text_argument(call, "node_name", node);
  if (PyObject* const tensor = only_tensor(tensors)) return nb::borrow(tensor);
  const std::vector<PyPort> ports = ports_of(call, tensors);
  check_values(call, ports);
  return given(ports);
}

nb::object rebuilt(const std::vector<PyPort>& ports, const std::vector<Nested>& values, Arrays arrays) {
  std::vector<nb::object> objects;
  for (std::size_t i = 0; i < ports.size(); ++i) objects.push_back(rebuilt(ports[i].value, values[i], arrays));
  return unpacked(objects);
}

/// Compiled code makes no operators. Its compiler may be loaded at any time.
void run_compiled_code_eagerly() {
  static PyObject* const compiler = PyUnicode_InternFromString("torch._dynamo");
  if (PyDict_Contains(PyImport_GetModuleDict(), compiler) == 1)
    nb::module_::import_("leapp.capture.front_end").attr("refresh")();
}

nb::object input_tensors(nb::handle node_name, nb::handle tensors, bool quiet) {
  constexpr const char* kCall = "input_tensors";
  if (!is_active()) return handed_back(kCall, node_name, tensors);
  const std::string node = text_argument(kCall, "node_name", node_name);
  run_compiled_code_eagerly();
  begin_first_call(node, tensors);
  const std::vector<PyPort> ports = ports_of(kCall, tensors);
  const Payload payload = to_payload(kCall, ports, quiet ? Leaves::kAny : Leaves::kSimple);
  const auto values = take(unlocked([&] { return annotate::input_tensors(node, payload); }));
  return rebuilt(ports, values, Arrays::kRecorded);
}

OutputOptions output_options(const char* call, nb::handle export_with, nb::handle backend_params) {
  OutputOptions options;
  if (!export_with.is_none()) options.export_with = text_argument(call, "export_with", export_with);
  options.backend_params = to_yaml_map(std::string(call) + ": backend_params", backend_params);
  return options;
}

nb::object output_tensors(nb::handle node_name, nb::handle tensors, nb::handle static_outputs, nb::handle export_with,
                          nb::handle backend_params) {
  constexpr const char* kCall = "output_tensors";
  const std::vector<PyPort> constants =
      static_outputs.is_none() ? std::vector<PyPort>{} : ports_of("static_outputs", static_outputs);
  if (!is_active()) {
    check_values("static_outputs", constants);
    return handed_back(kCall, node_name, tensors);
  }
  const std::string node = text_argument(kCall, "node_name", node_name);
  const std::vector<PyPort> ports = ports_of(kCall, tensors);
  OutputOptions options = output_options(kCall, export_with, backend_params);
  const Payload payload = to_payload(kCall, ports);
  options.static_outputs = to_payload("static_outputs", constants);
  const auto values = take(unlocked([&] { return annotate::output_tensors(node, payload, options); }));
  end_first_call(node);
  return rebuilt(ports, values, Arrays::kPlain);
}

void check_dict(const char* call, nb::handle tensors) {
  if (PyDict_Check(tensors.ptr())) return;
  raise_type_error(std::string(call) + ": expected a dict of names and tensors, found " + type_text(tensors));
}

/// The entries of a dict whose values are tensors or arrays.
std::vector<PyPort> named_tensors(const char* call, nb::handle tensors) {
  check_dict(call, tensors);
  std::vector<PyPort> ports = ports_of(call, tensors);
  for (const PyPort& port : ports) {
    if (is_tensor(port.value) || is_array(port.value)) continue;
    raise_type_error(std::string(call) + ": '" + port.name +
                     "' must be a torch.Tensor or a numpy.ndarray (nested values are not supported here), found " +
                     type_text(port.value));
  }
  return ports;
}

using StateCall = Result<std::vector<at::Tensor>> (*)(const std::string&, const NamedTensors&);

/// `node.values` go through `function`, and come back in the shape of input_tensors.
nb::object state_call(const char* call, StateCall function, nb::handle node_name, nb::handle tensors) {
  if (!PyUnicode_Check(node_name.ptr())) text_argument(call, "node_name", node_name);
  const std::vector<PyPort> ports = named_tensors(call, tensors);
  if (!is_active()) return given(ports);
  const std::string node = nb::cast<std::string>(node_name);
  NamedTensors named;
  for (const PyPort& port : ports) named.emplace_back(port.name, to_tensor(call, port.name, port.value));
  const auto found = take(unlocked([&] { return function(node, named); }));
  return rebuilt(ports, std::vector<Nested>(found.begin(), found.end()), Arrays::kRecorded);
}

nb::object state_tensors(nb::handle node, nb::handle tensors) {
  return state_call("state_tensors", annotate::state_tensors, node, tensors);
}

void reset_from(const std::string& node, const std::vector<std::string>& states, const std::string& from) {
  check(unlocked([&] { return annotate::reset_from(node, states, from); }));
}

nb::object update_state(nb::handle node, nb::handle tensors) {
  state_call("update_state", annotate::update_state, node, tensors);
  return given(named_tensors("update_state", tensors));
}

nb::object register_buffer(nb::handle node_name, nb::handle tensors) {
  constexpr const char* kCall = "register_buffer";
  check_dict(kCall, tensors);
  if (!is_active()) return handed_back(kCall, node_name, tensors);
  const std::string node = text_argument(kCall, "node_name", node_name);
  const std::vector<PyPort> ports = ports_of(kCall, tensors);
  const Payload payload = to_payload(kCall, ports);
  const auto values = take(unlocked([&] { return annotate::register_buffer(node, payload); }));
  return rebuilt(ports, values, Arrays::kRecorded);
}

/// A Python function that C++ may call, copy and drop on any thread.
std::function<at::Tensor()> getter(nb::handle function) {
  const std::shared_ptr<PyObject> held(function.inc_ref().ptr(), [](PyObject* object) {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire lock;
    Py_DECREF(object);
  });
  return [held] {
    const nb::gil_scoped_acquire lock;
    try {
      const nb::object value = nb::handle(held.get())();
      return is_tensor(value) ? nb::cast<at::Tensor>(value) : at::Tensor();
    } catch (const nb::python_error& failure) {
      if (failure.matches(PyExc_MemoryError)) throw std::bad_alloc();
      return at::Tensor();  // the module does not have it any more
    }
  };
}

void module(const std::string& node, const std::vector<std::pair<std::string, nb::callable>>& buffers) {
  std::vector<annotate::Buffer> places;
  for (const auto& [name, function] : buffers) places.push_back({name, getter(function)});
  check(unlocked([&] { return annotate::module(node, places); }));
}

nb::object mirror(nb::handle source, nb::handle target) {
  constexpr const char* kCall = "mirror_leapp_tags";
  for (const auto& [name, value] : {std::pair{"source", source}, std::pair{"target", target}}) {
    if (!is_tensor(value) && !is_array(value)) to_tensor(kCall, name, value);
  }
  if (is_active()) {
    const at::Tensor from = to_tensor(kCall, "source", source);
    const at::Tensor to = to_tensor(kCall, "target", target);
    check(unlocked([&] { return annotate::mirror_leapp_tags(from, to); }));
    if (is_array(target)) return nb::module_::import_("leapp.capture.arrays.published").attr("mirrored")(target, to);
  }
  return nb::borrow(target);
}

bool is_open(const std::string& node) {
  const capture::SessionUse session;
  return session && unlocked([&] { return session->annotations().is_open(node); });
}

bool abandon(const std::string& node) {
  const capture::SessionUse session;
  return session && unlocked([&] { return session->annotations().abandon(node); });
}

}  // namespace

void bind_annotations(nb::module_& m) {
  m.def("input_tensors", &input_tensors, nb::arg("node_name"), nb::arg("tensors").none(), nb::arg("quiet") = false);
  m.def("output_tensors", &output_tensors, nb::arg("node_name"), nb::arg("tensors").none(),
        nb::arg("static_outputs").none() = nb::none(), nb::arg("export_with").none() = nb::none(),
        nb::arg("backend_params").none() = nb::none());
  m.def("state_tensors", &state_tensors, nb::arg("node_name"), nb::arg("tensors").none());
  m.def("reset_from", &reset_from, nb::arg("node_name"), nb::arg("states"), nb::arg("input_name"));
  m.def("update_state", &update_state, nb::arg("node_name"), nb::arg("tensors").none());
  m.def("register_buffer", &register_buffer, nb::arg("node_name"), nb::arg("tensors").none());
  m.def("module", &module);
  m.def("mirror_leapp_tags", &mirror, nb::arg("source").none(), nb::arg("target").none());
  m.def("is_open", &is_open);
  m.def("abandon", &abandon);
  m.def("holds_tensor", &holds_tensor, nb::arg("value").none());
}

}  // namespace leapp::python
