// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A callback at a fixed rate, and how well that went.
//
//   auto loop = Loop::make(pipeline, {.realtime = {.cpus = {3}, .fifo_priority = 80, .lock_memory = true}}).value();
//   Status status = loop.run([&](Tick& tick) {
//     tick.set_input_time(robot.read(q));
//     if (!map.write(q) || pipeline.step() != StepResult::kOk) return false;
//     ...
//     return true;
//   });
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/runtime/histogram.h"
#include "leapp/runtime/pipeline.h"

namespace leapp::runtime {

/// On Linux the same clock as CLOCK_MONOTONIC.
using Time = std::chrono::steady_clock::time_point;

/// What a thread asks of the system before it controls anything.
struct RealtimeOptions {
  std::vector<int> cpus;     ///< the thread runs on these cores only; empty: as it was
  int fifo_priority = 0;     ///< 1 to 99: SCHED_FIFO with that priority; 0: as it was
  bool lock_memory = false;  ///< mlockall: no page of the process is ever written out, or missing
  bool required = false;     ///< what the system refuses is an error; else it is told and the thread goes on without
};

/// Applies them to the calling thread (and, of memory, to the process), each by itself: the result has a sentence for
/// each that the system refused, with the reason and what would help. With `required` these are one error. A core or a
/// priority that does not exist is an error in any case. Nothing is undone.
LEAPP_API Result<std::vector<std::string>> make_realtime(const RealtimeOptions& options);

/// Where a loop takes its time from: the system, or a simulation.
class LEAPP_API LoopClock {
 public:
  virtual ~LoopClock() = default;
  [[nodiscard]] virtual Time now() noexcept = 0;
  /// Returns at `time` or later; earlier when `interrupted` has become true, if it can tell.
  virtual void sleep_until(Time time, const std::atomic<bool>& interrupted) noexcept = 0;
};

/// When a callback has taken longer than there was time.
enum class Overrun {
  kSkip,  ///< the periods that are over are left out; the next call is at the next multiple of the period
  kStop,  ///< the loop ends with an error
};

/// Options of Loop::make.
struct LoopOptions {
  /// In Hz. Nothing: the bundle's.
  std::optional<double> frequency;
  Overrun overrun = Overrun::kSkip;
  /// Of the thread that calls make(), which should be the one that calls run().
  RealtimeOptions realtime;
  /// Not owned, outlives the loop. Null: the system's, with absolute deadlines (clock_nanosleep).
  LoopClock* clock = nullptr;
};

/// One call.
class Tick {
 public:
  std::uint64_t number = 0;  ///< counts calls, from 0
  std::uint64_t period = 0;  ///< counts periods, from 0: more than `number` when some were skipped
  Time deadline;             ///< when the call was due
  Time woken;                ///< when it came

  /// When the newest of the inputs was measured: the loop's statistics then have its age at the end of this call, which
  /// is how late the robot reacts.
  void set_input_time(Time time) noexcept {
    input_time_ = time;
    has_input_time_ = true;
  }
  [[nodiscard]] std::optional<Time> input_time() const noexcept {
    return has_input_time_ ? std::optional<Time>(input_time_) : std::nullopt;
  }

 private:
  friend class Loop;
  Time input_time_;
  bool has_input_time_ = false;
};

/// Durations in nanoseconds.
struct DurationSummary {
  std::uint64_t count = 0;
  double mean = 0;
  std::int64_t p50 = 0;
  std::int64_t p99 = 0;
  std::int64_t p999 = 0;
  std::int64_t max = 0;
};

/// Statistics of a loop at one moment.
struct LoopSummary {
  std::uint64_t calls = 0;
  std::uint64_t overruns = 0;  ///< calls that ended after the next was due
  std::uint64_t skipped = 0;   ///< periods without a call because of them
  DurationSummary step;        ///< from waking up to the end of the callback
  DurationSummary lateness;    ///< from the deadline to waking up
  DurationSummary input_age;   ///< from Tick::set_input_time to the end of the callback
};

/// What a loop counts, in fixed memory. Any thread may read while the loop runs; no lock, and nothing of the loop
/// waits.
struct LoopStatistics {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> overruns{0};
  std::atomic<std::uint64_t> skipped{0};
  Histogram step;
  Histogram lateness;
  Histogram input_age;

  /// A summary of what was counted so far. Any thread may call it.
  [[nodiscard]] LEAPP_API LoopSummary summary() const noexcept;
};

/// Calls back at a fixed rate. Deadlines are absolute: start + n / frequency, whatever a call took, so nothing drifts.
class LEAPP_API Loop {
 public:
  /// kInvalidArgument for a frequency that is not above 0, or that nobody gave; for what make_realtime refuses.
  static Result<Loop> make(const LoopOptions& options);
  /// The same at the frequency of the bundle, unless the options have another.
  static Result<Loop> make(const Pipeline& pipeline, LoopOptions options = {});

  Loop(Loop&&) noexcept;
  Loop& operator=(Loop&&) noexcept;
  ~Loop();

  /// Calls `call(Tick&)` until it returns false or stop() is called; the first time at once. Allocates nothing. Ok, or
  /// kFailedPrecondition after an overrun with Overrun::kStop. What the callback throws comes out of here.
  template <typename Call>
  Status run(Call&& call) {
    static_assert(std::is_invocable_r_v<bool, Call&, Tick&>, "expected bool(Tick&): whether to go on");
    return run_calls(
        [](void* f, Tick& tick) -> bool { return (*static_cast<std::remove_reference_t<Call>*>(f))(tick); },
        const_cast<void*>(static_cast<const void*>(&call)));
  }

  /// The loop ends after the call that is running, or, when it sleeps on the system's clock, within a tenth of a
  /// second; at once when a signal wakes it. May be called from any thread and from a signal handler. A loop that was
  /// stopped stays so.
  void stop() noexcept;

  /// How often the loop calls, in Hz.
  [[nodiscard]] double frequency() const;
  /// What the system refused of the real-time options: a sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const;
  /// In place for as long as the loop lives, moved or not.
  [[nodiscard]] const LoopStatistics& statistics() const;

 private:
  struct Impl;
  explicit Loop(std::unique_ptr<Impl> impl);
  Status run_calls(bool (*call)(void*, Tick&), void* target);

  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp::runtime
