// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The capture side of the Python package: a mirror of include/leapp/capture.h, errors turned into exceptions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "capture/hook.h"
#include "capture/session.h"
#include "leapp/capture.h"
#include "python_location.h"
#include "tensor_caster.h"

namespace nb = nanobind;

namespace {

const char* exception_name(leapp::StatusCode code) {
  switch (code) {
    case leapp::StatusCode::kInvalidArgument:
    case leapp::StatusCode::kDataLoss:
      return "LeappValueError";
    case leapp::StatusCode::kWrongType:
      return "LeappTypeError";
    case leapp::StatusCode::kNotFound:
      return "LeappKeyError";
    case leapp::StatusCode::kIo:
      return "LeappOSError";
    case leapp::StatusCode::kUnimplemented:
      return "LeappNotImplementedError";
    default:
      return "LeappRuntimeError";
  }
}

[[noreturn]] void raise(const leapp::Status& status, const char* name = nullptr) {
  const nb::object type = nb::module_::import_("leapp.errors").attr(name ? name : exception_name(status.code()));
  PyErr_SetString(type.ptr(), status.message().c_str());
  throw nb::python_error();
}

void check(const leapp::Status& status) {
  if (!status.ok()) raise(status);
}

template <typename T>
T take(leapp::Result<T> result) {
  if (!result.ok()) raise(result.status());
  return std::move(result).value();
}

/// Runs without Python's lock: whoever holds ours may be waiting for it.
template <typename Call>
auto unlocked(Call call) {
  const nb::gil_scoped_release others_may_run;
  return call();
}

/// Not recorded itself; true while a session is active, so that the caller can spare itself the rest.
bool note_escape(const at::Tensor& tensor, const std::string& how) {
  const auto session = leapp::capture::current_session();
  if (!session || session->stopped()) return false;
  unlocked([&] { session->note_escape(tensor, how); });
  return true;
}

void release(const at::Tensor& tensor) {
  const auto session = leapp::capture::current_session();
  if (session && !session->stopped()) unlocked([&] { session->release(tensor); });
}

void rewritten(const at::Tensor& tensor) {
  const auto session = leapp::capture::current_session();
  if (session && !session->stopped()) unlocked([&] { session->rewritten(tensor); });
}

void copied(const at::Tensor& source, const at::Tensor& copy) {
  const auto session = leapp::capture::current_session();
  if (session && !session->stopped()) unlocked([&] { session->copied(source, copy); });
}

bool is_live(const at::Tensor& tensor) {
  const auto session = leapp::capture::current_session();
  return session && !session->stopped() && unlocked([&] { return session->is_live(tensor); });
}

leapp::CompileReport compile(const leapp::CompileOptions& options) {
  return take(unlocked([&] { return leapp::compile_graph(options); }));
}

}  // namespace

NB_MODULE(_capture, m) {
  m.doc() = "Capture and export of pipelines (see the leapp package).";
  nb::class_<leapp::StartOptions>(m, "StartOptions")
      .def(nb::init<>())
      .def_rw("save_path", &leapp::StartOptions::save_path)
      .def_rw("verbose", &leapp::StartOptions::verbose)
      .def_rw("max_cached_io", &leapp::StartOptions::max_cached_io)
      .def_rw("python_version", &leapp::StartOptions::python_version)
      .def_rw("torch_version", &leapp::StartOptions::torch_version);
  nb::class_<leapp::CompileOptions>(m, "CompileOptions")
      .def(nb::init<>())
      .def_rw("visualize", &leapp::CompileOptions::visualize)
      .def_rw("verbose", &leapp::CompileOptions::verbose)
      .def_rw("validate", &leapp::CompileOptions::validate)
      .def_rw("rtol", &leapp::CompileOptions::rtol)
      .def_rw("atol", &leapp::CompileOptions::atol)
      .def_rw("strict", &leapp::CompileOptions::strict);
  nb::class_<leapp::NodeResult>(m, "NodeResult",
                                "Outcome of checking one node's model; true when it passed or was skipped.")
      .def_ro("node", &leapp::NodeResult::node)
      .def_ro("status", &leapp::NodeResult::status)
      .def_ro("samples", &leapp::NodeResult::samples)
      .def_ro("outputs", &leapp::NodeResult::outputs)
      .def_ro("message", &leapp::NodeResult::message)
      .def("__bool__", &leapp::NodeResult::ok)
      .def("__repr__", [](const leapp::NodeResult& result) {
        return "<NodeResult " + result.node + ": " + result.status +
               (result.message.empty() ? ">" : ", " + result.message + ">");
      });
  nb::class_<leapp::CompileReport>(m, "CompileReport")
      .def_ro("folder", &leapp::CompileReport::folder)
      .def_ro("nodes", &leapp::CompileReport::nodes)
      .def("raise_for_validation", [](const leapp::CompileReport& report) {
        if (!report.validation.ok()) raise(report.validation, "ValidationError");
      });

  m.def("start", [](const std::string& name, const leapp::StartOptions& options) {
    check(unlocked([&] { return leapp::start(name, options); }));
  });
  m.def("stop", [] { check(unlocked([] { return leapp::stop(); })); });
  m.def("compile_graph", &compile);
  m.def("is_active", &leapp::is_active);
  m.def("hook_installed", &leapp::capture::hook_installed);
  m.def("name_tensor", [](const at::Tensor& tensor, const std::string& name, bool parameter) {
    unlocked([&] { leapp::name_tensor(tensor, name, parameter); });
  });
  m.def("note_escape", &note_escape);
  m.def("copied", &copied);
  m.def("release", &release);
  m.def("rewritten", &rewritten);
  m.def("is_live", &is_live);
  m.def("input_tensors", [](const std::string& node, const leapp::NamedTensors& tensors) {
    return take(unlocked([&] { return leapp::annotate::input_tensors(node, tensors); }));
  });
  m.def(
      "output_tensors",
      [](const std::string& node, const leapp::NamedTensors& tensors, std::optional<std::string> export_with) {
        return take(unlocked([&] { return leapp::annotate::output_tensors(node, tensors, {export_with}); }));
      },
      nb::arg("node"), nb::arg("tensors"), nb::arg("export_with").none());
  m.def("install_location_provider", &leapp::python::install_location_provider);
}
