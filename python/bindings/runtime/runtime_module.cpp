// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// leapp._runtime: runs bundles. Neither linked to torch nor in need of it, unless a bundle has nodes that are.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "base/text.h"
#include "common/exceptions.h"
#include "common/released.h"
#include "fleet.h"
#include "manager.h"
#include "options.h"
#include "recorder.h"
#include "reloader.h"
#include "robot.h"
#include "signing.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

using engine::Optimisation;
using engine::Prefer;
using engine::Provider;

constexpr std::array<std::pair<const char*, Prefer>, 3> kEngines{
    {{"auto", Prefer::kAuto}, {"native", Prefer::kNative}, {"onnxruntime", Prefer::kOnnxRuntime}}};
constexpr std::array<std::pair<const char*, Provider>, 3> kProviders{
    {{"auto", Provider::kAuto}, {"cpu", Provider::kCpu}, {"cuda", Provider::kCuda}}};
constexpr std::array<std::pair<const char*, Optimisation>, 4> kOptimisations{{{"off", Optimisation::kOff},
                                                                              {"basic", Optimisation::kBasic},
                                                                              {"extended", Optimisation::kExtended},
                                                                              {"all", Optimisation::kAll}}};

constexpr std::array<std::pair<const char*, runtime::ResetMode>, 3> kResets{
    {{"exported", runtime::ResetMode::kExported},
     {"zeros", runtime::ResetMode::kZeros},
     {"first_frame", runtime::ResetMode::kFirstFrame}}};

}  // namespace

runtime::ResetMode reset_mode(const char* option, const std::string& mode) { return choose(option, mode, kResets); }

runtime::LoadOptions load_options(const nb::kwargs& given) {
  runtime::LoadOptions options;
  options.engine.stop = std::make_shared<engine::Stop>();
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "allow_outside") {
      options.allow_outside = nb::cast<bool>(value);
    } else if (name == "verify_checksums") {
      options.verify_checksums = nb::cast<bool>(value);
    } else if (name == "trusted_keys") {
      options.trusted_keys = nb::cast<std::vector<std::string>>(value);
    } else if (name == "minimum_serial") {
      options.minimum_serial = nb::cast<std::uint64_t>(value);
    } else if (name == "fuse") {
      options.fuse = nb::cast<bool>(value);
    } else if (name == "threads") {
      options.engine.intra_op_threads = nb::cast<int>(value);
    } else if (name == "engine") {
      options.engine.prefer = choose("engine", nb::cast<std::string>(value), kEngines);
    } else if (name == "provider") {
      options.engine.provider = choose("provider", nb::cast<std::string>(value), kProviders);
    } else if (name == "optimisation") {
      options.engine.optimisation = choose("optimisation", nb::cast<std::string>(value), kOptimisations);
    } else if (name == "memory_limit") {
      options.memory_limit = nb::cast<std::uint64_t>(value);
    } else if (name == "timeout") {
      constexpr double kCentury = 3e9;  // more does not fit
      const double seconds = std::min(nb::cast<double>(value), kCentury);
      options.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    } else if (name == "allow_torchscript") {
      options.allow_torchscript = nb::cast<bool>(value);
    } else if (name == "batch") {
      options.batch = nb::cast<std::size_t>(value);
    } else if (name == "onnxruntime_library") {
      options.engine.onnxruntime_library = nb::cast<std::string>(value);
    } else if (name == "profile_prefix") {
      options.engine.profile_prefix = nb::cast<std::string>(value);
    } else {
      raise(wrong_type(fmt::format("unexpected option {}", quote(name))));
    }
  }
  if (options.engine.intra_op_threads < 1) {
    raise(invalid_argument(fmt::format("threads: expected 1 or more, found {}", options.engine.intra_op_threads)));
  }
  return options;
}

}  // namespace leapp::python

NB_MODULE(_runtime, module) {
  using leapp::python::Manager;
  leapp::python::watch_for_the_end();
  nb::class_<Manager> manager(module, "Manager");
  manager
      .def(
          "__init__",
          [](Manager* self, const std::filesystem::path& bundle, const std::string& node, nb::object on_missing,
             const nb::kwargs& options) {
            new (self) Manager(bundle, node, leapp::python::load_options(options), std::move(on_missing));
          },
          nb::arg("bundle"), nb::arg("node"), nb::arg("on_missing").none(), nb::arg("options"))
      .def("run", &Manager::run, nb::arg("inputs").none())
      .def("set_input_value", &Manager::set_input_value, nb::arg("node"), nb::arg("name"), nb::arg("value").none())
      .def("reset", &Manager::reset, nb::arg("mode"))
      .def("mock_input", &Manager::mock_input, nb::arg("seed").none())
      .def("input_value", &Manager::input_value, nb::arg("key"))
      .def("output_value", &Manager::output_value, nb::arg("key"))
      .def("zeros", &Manager::zeros, nb::arg("node"), nb::arg("inputs"))
      .def_prop_ro("inputs", &Manager::inputs)
      .def_prop_ro("outputs", &Manager::outputs)
      .def_prop_ro("feedback_inputs", &Manager::feedback_inputs)
      .def_prop_ro("histories", &Manager::histories)
      .def_prop_ro("nodes", &Manager::nodes)
      .def_prop_ro("description", &Manager::description)
      .def_prop_ro("notes", &Manager::notes)
      .def_prop_ro("engines", &Manager::engines)
      .def_prop_ro("file", &Manager::file)
      .def_prop_ro("batch", &Manager::batch)
      .def_prop_ro("widened", &Manager::widened)
      .def("reset_row", &Manager::reset_row, nb::arg("row"), nb::arg("mode"))
      .def_prop_ro("signature", &Manager::signature);
  leapp::python::bind_robot(module, manager);
  leapp::python::bind_recorder(module);
  leapp::python::bind_signing(module);
  leapp::python::bind_reloader(module);
  leapp::python::bind_fleet(module);
  module.attr("__version__") = LEAPP_VERSION;
}
