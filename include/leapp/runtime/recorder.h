// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Every step of a pipeline in a file: what went in, what came out, state and times. The file is MCAP, which Foxglove,
// PlotJuggler and others show; `leapp run BUNDLE --replay FILE` does the run again and compares.
//
//   Recorder recorder = Recorder::make(pipeline, "run.mcap").value();
//   loop.run([&](Tick& tick) {
//     ...
//     const StepResult result = pipeline.step();
//     recorder.record(tick);
//     ...
//   });
//   Status status = recorder.close();
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/runtime/loop.h"
#include "leapp/runtime/pipeline.h"

namespace leapp::runtime {

/// Options of Recorder::make.
struct RecorderOptions {
  /// Of the memory between the loop and the thread that writes; room for eight steps at least.
  std::size_t ring_bytes = std::size_t{4} << 20U;
  /// A chunk is written when it has so many bytes, or when its first step is this old. What is written survives the end
  /// of the program, however it ends; of a program that is killed the last chunk is missing.
  std::size_t chunk_bytes = std::size_t{1} << 20U;
  std::chrono::milliseconds flush_interval{500};
  /// Each chunk is forced to disk: survives the machine's end, too.
  bool sync = false;
  /// A file that is there is replaced; else it is an error.
  bool overwrite = false;
  /// The cores of the thread that writes; empty: any. It never runs with SCHED_FIFO, whatever the calling thread does.
  std::vector<int> cpus;
};

/// When things happened, if it is known: the clock's epoch stands for "not known".
struct StepTimes {
  Time deadline;  ///< when the step was due
  Time woken;     ///< when the loop began with it
  Time input;     ///< when the newest of the inputs was measured
};

/// In the end steps = written + dropped.
struct RecorderSummary {
  std::uint64_t steps = 0;    ///< calls of record()
  std::uint64_t written = 0;  ///< steps that are in the file, in whole chunks
  std::uint64_t dropped = 0;  ///< steps that are not: there was no room for them, or recording has stopped
  std::uint64_t bytes = 0;    ///< of the file
};

/// Records the steps of one pipeline, from when it is made. A thread of its own writes. When the disk is full, or
/// cannot be written for another reason, recording stops: what was written stays readable, status() says why, and the
/// pipeline goes on. So it does when a Reloader swaps another bundle in: a recording is of one. In a child that fork()
/// has made nothing is recorded, and status() says so.
class LEAPP_API Recorder {
 public:
  /// Makes the file, with what the bundle and its guards are, and starts the thread. Set guards before: a step with
  /// others cannot be replayed. kIo for a file that is there (unless `overwrite`) or cannot be written,
  /// kFailedPrecondition when the pipeline has a recorder already or is not prepared, kInvalidArgument for options that
  /// cannot be right and for ports that a file cannot hold.
  static Result<Recorder> make(Pipeline& pipeline, const std::filesystem::path& file, RecorderOptions options = {});

  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  /// As close(). The pipeline may be gone.
  ~Recorder();

  /// Takes down the step that the pipeline has just done, whether it succeeded or not. Call it after step(), on the
  /// same thread. Allocates nothing, takes no lock, waits for nobody: when there is no room the step is dropped and
  /// counted. False then, and when there was no step since the last call.
  bool record(const StepTimes& times = {}) noexcept;
  bool record(const Tick& tick) noexcept;

  /// How it goes; from any thread. Nobody waits.
  [[nodiscard]] RecorderSummary summary() const noexcept;
  /// Why recording has stopped; ok while it goes on and after close() has succeeded. From any thread.
  [[nodiscard]] Status status() const;

  /// Writes what is left, and the index that viewers use; ends the thread. status() afterwards. Does nothing the second
  /// time. Of the thread that calls record().
  Status close();

  /// The file that is written.
  [[nodiscard]] const std::filesystem::path& file() const;

 private:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp::runtime
