// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/loop.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/robot/passed.h"

namespace leapp::runtime {
namespace {

using std::chrono::nanoseconds;

/// clock_nanosleep at absolute times. steady_clock is CLOCK_MONOTONIC.
class SystemClock final : public LoopClock {
 public:
  [[nodiscard]] Time now() noexcept override { return std::chrono::steady_clock::now(); }

  void sleep_until(Time time, const std::atomic<bool>& interrupted) noexcept override {
    const std::int64_t at = std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count();
    const timespec until{.tv_sec = at / 1'000'000'000, .tv_nsec = at % 1'000'000'000};
    // Ends early only when a signal handler ran.
    while (!interrupted.load(std::memory_order_relaxed) &&
           clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
};

SystemClock system_clock;

void raise(std::atomic<std::uint64_t>& counter, std::uint64_t by) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

DurationSummary summarise(const Histogram& histogram) noexcept {
  return {.count = histogram.count(),
          .mean = histogram.mean(),
          .p50 = histogram.percentile(0.5),
          .p99 = histogram.percentile(0.99),
          .p999 = histogram.percentile(0.999),
          .max = histogram.max()};
}

}  // namespace

struct Loop::Impl {
  /// The n-th deadline: not the sum of n rounded periods.
  [[nodiscard]] Time deadline(Time start, std::uint64_t n) const noexcept {
    return start + nanoseconds(static_cast<std::int64_t>(std::llround(static_cast<long double>(n) * period)));
  }

  // stop() of another thread wakes nobody up, so a long sleep on the system's clock is several.
  void sleep_until(Time now, Time due) noexcept {
    constexpr std::chrono::milliseconds kPiece{100};
    while (clock == &system_clock && due - now > kPiece && !stopped.load(std::memory_order_relaxed)) {
      clock->sleep_until(now + kPiece, stopped);
      now = clock->now();
    }
    clock->sleep_until(due, stopped);
  }

  double frequency = 0;
  long double period = 0;  ///< nanoseconds
  Overrun overrun = Overrun::kSkip;
  LoopClock* clock = nullptr;
  std::vector<std::string> notes;
  LoopStatistics statistics;
  std::atomic<bool> stopped{false};
};

LoopSummary LoopStatistics::summary() const noexcept {
  return {.calls = calls.load(std::memory_order_relaxed),
          .overruns = overruns.load(std::memory_order_relaxed),
          .skipped = skipped.load(std::memory_order_relaxed),
          .step = summarise(step),
          .lateness = summarise(lateness),
          .input_age = summarise(input_age)};
}

Loop::Loop(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Loop::Loop(Loop&&) noexcept = default;
Loop& Loop::operator=(Loop&&) noexcept = default;
Loop::~Loop() = default;

Result<Loop> Loop::make(const LoopOptions& options) {
  if (!options.frequency) {
    return invalid_argument(
        "the loop's frequency: expected one in LoopOptions or in the bundle (GraphConfigs(frequency=...) at export), "
        "found none");
  }
  // Above that, a period is no whole nanosecond; below, a century does not fit.
  constexpr double kHighest = 1e6;
  constexpr double kLowest = 1e-6;
  if (!(*options.frequency >= kLowest && *options.frequency <= kHighest)) {
    return invalid_argument(
        fmt::format("the loop's frequency: expected {} to {} Hz, found {}", kLowest, kHighest, *options.frequency));
  }
  auto impl = std::make_unique<Impl>();
  impl->frequency = *options.frequency;
  impl->period = 1e9L / static_cast<long double>(*options.frequency);
  impl->overrun = options.overrun;
  impl->clock = options.clock != nullptr ? options.clock : &system_clock;
  LEAPP_ASSIGN_OR_RETURN(impl->notes, make_realtime(options.realtime));
  return Loop(std::move(impl));
}

Result<Loop> Loop::make(const Pipeline& pipeline, LoopOptions options) {
  if (!options.frequency) options.frequency = pipeline.frequency();
  return make(options);
}

Status Loop::run_calls(bool (*call)(void*, Tick&), void* target) {
  Impl& self = *impl_;
  LoopStatistics& statistics = self.statistics;
  const Time start = self.clock->now();
  Tick tick;
  tick.deadline = tick.woken = start;
  while (!self.stopped.load(std::memory_order_relaxed)) {
    tick.has_input_time_ = false;
    const bool goes_on = call(target, tick);
    const Time end = self.clock->now();
    raise(statistics.calls, 1);
    statistics.step.add(passed_between(tick.woken, end));
    statistics.lateness.add(passed_between(tick.deadline, tick.woken));
    if (tick.has_input_time_) statistics.input_age.add(passed_between(tick.input_time_, end));
    std::uint64_t next = tick.period + 1;
    Time due = self.deadline(start, next);
    if (end > due) {
      raise(statistics.overruns, 1);
      if (self.overrun == Overrun::kStop) {
        return failed_precondition(fmt::format("call {} of the loop took {} ns, at {} Hz there are {:.0f}", tick.number,
                                               passed_between(tick.woken, end), self.frequency,
                                               static_cast<double>(self.period)));
      }
      const auto passed =
          static_cast<std::uint64_t>(static_cast<long double>(passed_between(start, end)) / self.period);
      const std::uint64_t after = std::max(passed + 1, next);
      raise(statistics.skipped, after - next);
      next = after;
      due = self.deadline(start, next);
    }
    if (!goes_on) break;
    ++tick.number;
    tick.period = next;
    tick.deadline = due;
    self.sleep_until(end, due);
    tick.woken = self.clock->now();
  }
  return {};
}

void Loop::stop() noexcept { impl_->stopped.store(true, std::memory_order_relaxed); }
double Loop::frequency() const { return impl_->frequency; }
const std::vector<std::string>& Loop::notes() const { return impl_->notes; }
const LoopStatistics& Loop::statistics() const { return impl_->statistics; }

}  // namespace leapp::runtime
