// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "reloader.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/text.h"
#include "common/exceptions.h"
#include "leapp/runtime/reloader.h"
#include "load.h"
#include "manager.h"
#include "options.h"
#include "runtime/reload/reloader_access.h"
#include "signing.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

using runtime::ReloadReport;
using runtime::StateOnSwap;
using runtime::SwapResult;

constexpr std::array<std::pair<const char*, StateOnSwap>, 3> kStates{
    {{"reset", StateOnSwap::kReset}, {"keep_if_same", StateOnSwap::kKeepIfSame}, {"keep", StateOnSwap::kKeep}}};

/// A reloader for a manager, which outlives it.
class PythonReloader {
 public:
  PythonReloader(Manager& manager, const std::string& state, const std::string& reset,
                 const std::filesystem::path& watch, double poll, const nb::kwargs& load)
      : manager_(&manager) {
    runtime::ReloaderOptions options;
    options.load = load_options(load);
    options.load.engine.stop = nullptr;  // the reloader has one for each load
    options.state = choose("state", state, kStates);
    options.reset = reset_mode("reset", reset);
    options.watch = watch;
    if (!(poll >= 0.001 && poll <= 86400)) {
      raise(invalid_argument(fmt::format("poll: expected 0.001 to 86400 seconds, found {}", poll)));
    }
    options.poll = std::chrono::milliseconds(std::llround(poll * 1000));
    Result<runtime::Reloader> made = failed_precondition("");
    manager.with_pipeline([&](runtime::Pipeline& pipeline) {
      made = runtime::ReloaderAccess::make(pipeline, std::move(options), &load_anywhere);
    });
    reloader_ = std::make_shared<runtime::Reloader>(take(std::move(made)));
  }

  // The loading thread may be waiting for Python's lock.
  ~PythonReloader() { close(); }

  // Other threads may be in the middle of a call: they see that it is closed, and leave.
  void close() {
    std::shared_ptr<runtime::Reloader> ending = std::exchange(reloader_, nullptr);
    if (!ending) return;
    const Released others_may_run;
    constexpr std::chrono::milliseconds kPause{1};
    constexpr std::chrono::milliseconds kLongest{2000};
    for (std::chrono::milliseconds waited{0}; ending.use_count() > 1; waited += kPause) {
      // One that waits for a step that does not end: nobody frees what it holds.
      if (waited > kLongest) return void(new std::shared_ptr<runtime::Reloader>(std::move(ending)));
      std::this_thread::sleep_for(kPause);
    }
    ending.reset();
  }

  std::uint64_t request(const std::filesystem::path& bundle) { return open()->request(bundle); }

  /// Whether it was swapped; None when something was refused.
  nb::object swap() {  // NOLINT(bugprone-exception-escape): takes any function of this name for one like std::swap
    const std::shared_ptr<runtime::Reloader> reloader = open();
    SwapResult result = SwapResult::kNothing;
    manager_->with_pipeline([&](runtime::Pipeline& pipeline) {
      result = reloader->swap_if_ready(pipeline);
      if (result == SwapResult::kSwapped) manager_->look_at_states();
    });
    return result == SwapResult::kRefused ? nb::none() : nb::cast(result == SwapResult::kSwapped);
  }

  nb::tuple wait(double seconds, bool loaded_is_enough) {
    if (!(seconds >= 0)) raise(invalid_argument(fmt::format("timeout: expected 0 or more seconds, found {}", seconds)));
    const auto longest = std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, 1e8) * 1e9));
    const ReloadReport report = wait_for(longest, loaded_is_enough);
    static constexpr const char* kNames[] = {"idle", "loading", "ready", "swapped", "failed"};
    return nb::make_tuple(
        kNames[static_cast<int>(report.state)], report.number, report.bundle.string(), report.status.message(),
        report.signature ? nb::object(signature_tuple(*report.signature)) : nb::none(), report.state_kept);
  }

  [[nodiscard]] std::uint64_t swaps() { return open()->swaps(); }

 private:
  /// In pieces, between which Ctrl-C is seen.
  ReloadReport wait_for(std::chrono::nanoseconds longest, bool loaded_is_enough) {
    constexpr std::chrono::nanoseconds kPiece = std::chrono::milliseconds(100);
    for (;; longest -= kPiece) {
      ReloadReport report = wait_piece(open(), std::min(longest, kPiece), loaded_is_enough);
      const bool waits = report.state == runtime::ReloadState::kLoading ||
                         (!loaded_is_enough && report.state == runtime::ReloadState::kReady);
      if (!waits || longest <= kPiece) return report;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

  static ReloadReport wait_piece(const std::shared_ptr<runtime::Reloader>& reloader, std::chrono::nanoseconds longest,
                                 bool loaded_is_enough) {
    return unlocked([&] { return reloader->wait(longest, loaded_is_enough); });
  }

  std::shared_ptr<runtime::Reloader> open() {
    if (!reloader_) raise(failed_precondition("this Reloader is closed"));
    return reloader_;
  }

  Manager* manager_;
  std::shared_ptr<runtime::Reloader> reloader_;
};

}  // namespace

void bind_reloader(nb::module_& module) {
  nb::class_<PythonReloader>(module, "Reloader")
      .def(
          "__init__",
          [](PythonReloader* self, Manager& manager, const std::string& state, const std::string& reset,
             const std::filesystem::path& watch, double poll,
             const nb::kwargs& load) { new (self) PythonReloader(manager, state, reset, watch, poll, load); },
          nb::arg("manager"), nb::arg("state"), nb::arg("reset"), nb::arg("watch"), nb::arg("poll"), nb::arg("load"),
          nb::keep_alive<1, 2>())
      .def("request", &PythonReloader::request, nb::arg("bundle"))
      .def("swap", &PythonReloader::swap)
      .def("wait", &PythonReloader::wait, nb::arg("seconds"), nb::arg("loaded_is_enough"))
      .def("close", &PythonReloader::close)
      .def_prop_ro("swaps", &PythonReloader::swaps);
}

}  // namespace leapp::python
