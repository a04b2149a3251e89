// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "common/exceptions.h"
#include "leapp/runtime/recorder.h"
#include "manager.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

std::chrono::milliseconds milliseconds_of(double seconds) {
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e9) {
    raise(invalid_argument(fmt::format("flush_interval: expected seconds, found {}", seconds)));
  }
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

/// Records the steps of a manager, which outlives it. What touches the pipeline waits for its turn.
class PythonRecorder {
 public:
  PythonRecorder(Manager& manager, const std::filesystem::path& file, runtime::RecorderOptions options)
      : manager_(&manager) {
    Status status;
    manager.with_pipeline([&](runtime::Pipeline& pipeline) {
      auto made = runtime::Recorder::make(pipeline, file, std::move(options));
      status = made.status();
      if (made.ok()) recorder_ = std::make_unique<runtime::Recorder>(std::move(made).value());
    });
    check(status);
  }

  ~PythonRecorder() {
    if (!recorder_) return;
    try {
      manager_->with_pipeline([&](runtime::Pipeline&) { recorder_.reset(); });
    } catch (...) {  // a step goes on that does not end any more, and may still look at it
      (void)recorder_.release();
    }
  }
  PythonRecorder(const PythonRecorder&) = delete;
  PythonRecorder& operator=(const PythonRecorder&) = delete;

  bool record(const runtime::Tick* tick) {
    bool recorded = false;
    manager_->with_pipeline(
        [&](runtime::Pipeline&) { recorded = tick != nullptr ? recorder_->record(*tick) : recorder_->record(); });
    return recorded;
  }

  void close() {
    Status status;
    manager_->with_pipeline([&](runtime::Pipeline&) { status = unlocked([&] { return recorder_->close(); }); });
    check(status);
  }

  /// When nobody has closed it: as close(), unless a step takes too long, and nobody is told what went wrong.
  void finish() {
    constexpr std::chrono::milliseconds kLongest{1000};
    try {
      (void)manager_->with_pipeline_within(
          kLongest, [&](runtime::Pipeline&) { (void)unlocked([&] { return recorder_->close(); }); });
    } catch (...) {  // NOLINT(bugprone-empty-catch): in the middle of a step on this very thread
    }
  }

  /// Steps, of these written and dropped, and the file's bytes.
  [[nodiscard]] nb::tuple summary() const {
    const runtime::RecorderSummary summary = recorder_->summary();
    return nb::make_tuple(summary.steps, summary.written, summary.dropped, summary.bytes);
  }

  /// Why it has stopped; None while it goes on.
  [[nodiscard]] nb::object error() const {
    const Status status = recorder_->status();
    return status.ok() ? nb::none() : nb::object(nb::str(status.message().c_str()));
  }

 private:
  Manager* manager_;
  std::unique_ptr<runtime::Recorder> recorder_;
};

}  // namespace

void bind_recorder(nb::module_& module) {
  nb::class_<PythonRecorder>(module, "Recorder")
      .def(
          "__init__",
          [](PythonRecorder* self, Manager& manager, const std::filesystem::path& file, std::size_t ring_bytes,
             std::size_t chunk_bytes, double flush_interval, bool sync, bool overwrite, std::vector<int> cpus) {
            new (self) PythonRecorder(manager, file,
                                      {.ring_bytes = ring_bytes,
                                       .chunk_bytes = chunk_bytes,
                                       .flush_interval = milliseconds_of(flush_interval),
                                       .sync = sync,
                                       .overwrite = overwrite,
                                       .cpus = std::move(cpus)});
          },
          nb::arg("manager"), nb::arg("file"), nb::arg("ring_bytes"), nb::arg("chunk_bytes"), nb::arg("flush_interval"),
          nb::arg("sync"), nb::arg("overwrite"), nb::arg("cpus"), nb::keep_alive<1, 2>())
      .def("record", &PythonRecorder::record, nb::arg("tick").none())
      .def("close", &PythonRecorder::close)
      .def("finish", &PythonRecorder::finish)
      .def_prop_ro("summary", &PythonRecorder::summary)
      .def_prop_ro("error", &PythonRecorder::error);
}

}  // namespace leapp::python
