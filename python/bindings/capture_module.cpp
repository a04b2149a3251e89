// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The capture side of the Python package: a mirror of include/leapp/capture.h, errors turned into exceptions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "annotations.h"
#include "capture/hook/hook.h"
#include "capture/session/session.h"
#include "common/exceptions.h"
#include "console.h"
#include "exporter/compile.h"
#include "first_calls.h"
#include "front_end.h"
#include "indexing.h"
#include "leapp/capture.h"
#include "lengths.h"
#include "module_calls.h"
#include "naming.h"
#include "python_location.h"
#include "scripted.h"
#include "tensor_caster.h"
#include "torch_types/torch_build.h"
#include "yaml_values.h"

namespace nb = nanobind;
using leapp::capture::SessionUse;
using leapp::python::check;
using leapp::python::raise;
using leapp::python::take;
using leapp::python::unlocked;

namespace {

/// Not recorded itself; true while a session is active, so that the caller can spare itself the rest.
bool note_escape(const at::Tensor& tensor, const std::string& how) {
  const SessionUse session;
  if (!session) return false;
  unlocked([&] { session->tensors().escaped(tensor, how); });
  return true;
}

void note_default(const std::string& node, const at::Tensor& tensor) {
  const SessionUse session;
  if (session) unlocked([&] { session->annotations().note_default(node, tensor); });
}

/// See TensorNotices::view_at. None: do what torch does.
std::optional<at::Tensor> view_at(const at::Tensor& base, std::int64_t dim, const at::Tensor& start,
                                  const std::optional<at::Tensor>& stop, std::optional<std::int64_t> length) {
  const SessionUse session;
  if (!session) return std::nullopt;
  const at::Tensor view = unlocked([&] {
    return session->tensors().view_at({base, dim, start, stop.value_or(at::Tensor()), length});
  });
  return view.defined() ? std::optional(view) : std::nullopt;
}

void release(const at::Tensor& tensor) {
  const SessionUse session;
  if (session) unlocked([&] { session->tensors().release(tensor); });
}

void rewritten(const at::Tensor& tensor) {
  const SessionUse session;
  if (session) unlocked([&] { session->tensors().rewritten(tensor); });
}

void copied(const at::Tensor& source, const at::Tensor& copy) {
  const SessionUse session;
  if (session) unlocked([&] { session->tensors().copied(source, copy); });
}

/// Of each change the node, the user's line and what changed.
void note_changed_values(const std::vector<std::tuple<std::string, std::string, std::string>>& changes) {
  const SessionUse session;
  if (!session) return;
  std::vector<leapp::capture::ChangedValues> noted;
  for (const auto& [node, where, what] : changes) noted.push_back({node, where, what});
  session->set_changed_values(std::move(noted));
}

/// Into the log of the session that was started last, stopped or not.
void log_error(const std::string& text) {
  if (const auto session = leapp::capture::current_session()) unlocked([&] { session->recording().log->error(text); });
}

bool in_node() {
  const SessionUse session;
  return session && unlocked([&] { return session->tensors().in_node(); });
}

/// What `function` gives; the operators that it runs are not recorded.
nb::object unrecorded(const nb::callable& function) {
  const leapp::capture::Unrecorded quiet;
  return function();
}

bool repeated(const at::Tensor& recorded, const at::Tensor& result) {
  const SessionUse session;
  return session && unlocked([&] { return session->tensors().repeated(recorded, result); });
}

/// See TensorNotices::followed_number. None: no node is open.
nb::object followed_number(const at::Tensor& tensor) {
  const SessionUse session;
  if (!session) return nb::none();
  const auto number = unlocked([&] { return session->tensors().followed_number(tensor); });
  if (!number) return nb::none();
  return number->isFloatingPoint() ? nb::object(nb::float_(number->toDouble()))
                                   : nb::object(nb::int_(number->toLong()));
}

bool is_live(const at::Tensor& tensor) {
  return unlocked([&] { return leapp::is_live(tensor); });
}

void set_graph_configs(leapp::CompileOptions& options, std::optional<double> frequency, nb::handle extra) {
  options.graph_configs = {frequency, leapp::python::to_yaml_map("compile_graph: graph_configs: extra", extra)};
}

/// Ctrl-C (FrontEnd::interrupted) is raised as soon as the call returns.
template <typename Run>
leapp::CompileReport compiled(const Run& run) {
  auto report = unlocked(run);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return take(std::move(report));
}

leapp::CompileReport compile(const leapp::CompileOptions& options) {
  return compiled([&] { return leapp::compile_graph(options); });
}

leapp::CompileReport validate_written(const leapp::CompileOptions& options) {
  const auto session = leapp::capture::current_session();
  if (!session || !session->stopped()) raise(leapp::failed_precondition("validate_written: call compile_graph first"));
  return compiled([&] { return leapp::exporter::validate_written(session->recording(), options); });
}

}  // namespace

// Its file is named after the torch that it is for; in Python it is leapp._capture, whichever that is.
NB_MODULE(LEAPP_CAPTURE_MODULE, m) {
  leapp::python::watch_for_the_end();
  m.attr("__name__") = "leapp._capture";
  m.attr("built_for_torch") = leapp::built_for_torch();
  m.def("running_torch", &leapp::running_torch);
  m.doc() = "Capture and export of pipelines (see the leapp package).";
  nb::enum_<leapp::Leaks>(m, "Leaks")
      .value("promote", leapp::Leaks::kPromote)
      .value("error", leapp::Leaks::kError)
      .value("constant", leapp::Leaks::kConstant);
  nb::class_<leapp::StartOptions>(m, "StartOptions")
      .def(nb::init<>())
      .def_rw("save_path", &leapp::StartOptions::save_path)
      .def_rw("verbose", &leapp::StartOptions::verbose)
      .def_rw("dry_run", &leapp::StartOptions::dry_run)
      .def_rw("non_traced", &leapp::StartOptions::non_traced)
      .def_rw("leaks", &leapp::StartOptions::leaks)
      .def_rw("max_cached_io", &leapp::StartOptions::max_cached_io)
      .def_rw("python_version", &leapp::StartOptions::python_version)
      .def_rw("torch_version", &leapp::StartOptions::torch_version);
  nb::class_<leapp::CompileOptions>(m, "CompileOptions")
      .def(nb::init<>())
      .def_rw("visualize", &leapp::CompileOptions::visualize)
      .def_rw("verbose", &leapp::CompileOptions::verbose)
      .def_rw("validate", &leapp::CompileOptions::validate)
      .def_rw("dry_run", &leapp::CompileOptions::dry_run)
      .def_rw("rtol", &leapp::CompileOptions::rtol)
      .def_rw("atol", &leapp::CompileOptions::atol)
      .def_rw("strict", &leapp::CompileOptions::strict)
      .def("set_graph_configs", &set_graph_configs, nb::arg("frequency").none(), nb::arg("extra").none());
  nb::class_<leapp::Finding>(m, "Finding", "One thing that is wrong, or worth knowing: what, where, what to change.")
      .def_ro("kind", &leapp::Finding::kind)
      .def_ro("fails", &leapp::Finding::fails)
      .def_ro("node", &leapp::Finding::node)
      .def_ro("what", &leapp::Finding::what)
      .def_ro("file", &leapp::Finding::file)
      .def_ro("line", &leapp::Finding::line)
      .def_ro("code", &leapp::Finding::code)
      .def_ro("details", &leapp::Finding::details)
      .def_ro("remedy", &leapp::Finding::remedy)
      .def_ro("snippet", &leapp::Finding::snippet)
      .def("__repr__", [](const leapp::Finding& finding) {
        return "<Finding " + finding.kind + " in " + finding.node + ": " + finding.what + ">";
      });
  nb::class_<leapp::NodeResult>(m, "NodeResult",
                                "Outcome of checking one node's model; true when it passed or was skipped.")
      .def_ro("node", &leapp::NodeResult::node)
      .def_prop_ro("status", [](const leapp::NodeResult& result) { return leapp::check_status_name(result.status); })
      .def_ro("samples", &leapp::NodeResult::samples)
      .def_ro("outputs", &leapp::NodeResult::outputs)
      .def_ro("message", &leapp::NodeResult::message)
      .def_ro("findings", &leapp::NodeResult::findings)
      .def("__bool__", &leapp::NodeResult::ok)
      .def("__repr__", [](const leapp::NodeResult& result) {
        return "<NodeResult " + result.node + ": " + std::string(leapp::check_status_name(result.status)) +
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
  m.def("validate_written", &validate_written);
  m.def("is_active", &leapp::is_active);
  m.def("sessions_begun", &leapp::capture::sessions_begun);
  m.def("hook_installed", &leapp::capture::hook_installed);
  m.def("note_escape", &note_escape);
  m.def("note_default", &note_default);
  m.def("view_at", &view_at, nb::arg("base"), nb::arg("dim"), nb::arg("start"), nb::arg("stop").none() = nb::none(),
        nb::arg("length").none() = nb::none());
  m.def("copied", &copied);
  m.def("release", &release);
  m.def("rewritten", &rewritten);
  m.def("note_changed_values", &note_changed_values);
  m.def("log_error", &log_error);
  m.def("is_live", &is_live);
  m.def("in_node", &in_node);
  m.def("repeated", &repeated);
  m.def("unrecorded", &unrecorded);
  m.def("followed_number", &followed_number);
  leapp::python::bind_annotations(m);
  leapp::python::bind_first_calls(m);
  leapp::python::bind_indexing(m);
  leapp::python::bind_lengths(m);
  leapp::python::bind_module_calls(m);
  leapp::python::bind_naming(m);
  leapp::python::bind_scripted(m);
  leapp::python::bind_console(m);
  m.def("install_location_provider", &leapp::python::skip_folders);
  m.def("is_users_code", &leapp::python::is_users_code);
  leapp::capture::set_front_end(leapp::python::python_front_end());
}
