// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// How long steps take while bundles are swapped, beside how long they take without: microseconds, as JSON.
//
//   bench_reload BUNDLE STEPS SWAPS [PERIOD_US]
//
// BUNDLE takes its own place. A step is swap_if_ready() and step(), timed together; with PERIOD_US one begins every so
// many microseconds, as in a control loop, else one after the other. The loading thread wants a core of its own.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/reloader.h"

namespace leapp::bench {
namespace {

using namespace leapp::runtime;
using Clock = std::chrono::steady_clock;

struct Work {
  std::string bundle;
  std::uint64_t steps = 0;
  std::uint64_t swaps = 0;
  std::chrono::microseconds period{0};
};

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().message().c_str());
    std::exit(1);
  }
  return std::move(result).value();
}

/// Times in microseconds, in memory that is there from the start.
class Times {
 public:
  explicit Times(std::uint64_t most) { times_.reserve(most); }

  void add(Clock::duration time) {
    if (times_.size() < times_.capacity()) {
      times_.push_back(std::chrono::duration<double, std::micro>(time).count());
    }
  }

  [[nodiscard]] std::string text() {
    std::sort(times_.begin(), times_.end());
    const auto at = [&](double part) {
      return times_.empty() ? 0 : times_[static_cast<std::size_t>(part * static_cast<double>(times_.size() - 1))];
    };
    return fmt::format("{{\"steps\": {}, \"p50\": {:.2f}, \"p99\": {:.2f}, \"p99.9\": {:.2f}, \"max\": {:.2f}}}",
                       times_.size(), at(0.5), at(0.99), at(0.999), at(1));
  }

 private:
  std::vector<double> times_;
};

/// Asks for the bundle again and again, evenly over the steps.
class Requests {
 public:
  Requests(Reloader& reloader, const Work& work, std::uint64_t swaps)
      : thread_([this, &reloader, &work, swaps] {
          for (std::uint64_t i = 0; i < swaps; ++i) {
            while (done < i * work.steps / swaps) std::this_thread::sleep_for(std::chrono::microseconds(100));
            reloader.request(work.bundle);
            const ReloadReport report = reloader.wait(std::chrono::minutes(1), false);
            if (report.state == ReloadState::kSwapped) continue;
            std::fprintf(stderr, "%s\n", report.status.message().c_str());
            std::exit(1);
          }
        }) {}

  std::atomic<std::uint64_t> done{0};

 private:
  std::jthread thread_;
};

/// Of all steps, and of those that swapped.
std::pair<std::string, std::string> run(const Work& work, std::uint64_t swaps) {
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  Pipeline pipeline = take(Pipeline::load(work.bundle, options));
  Reloader reloader = take(Reloader::make(pipeline, {.load = options, .state = StateOnSwap::kKeepIfSame}));
  Times all(4 * work.steps);
  Times swapping(swaps);
  Requests requests(reloader, work, swaps);
  Clock::time_point due = Clock::now();
  for (std::uint64_t i = 0; i < work.steps || reloader.swaps() < swaps; ++i) {
    due += work.period;
    while (work.period.count() > 0 && Clock::now() < due) {
    }
    const auto start = Clock::now();
    const bool swapped = reloader.swap_if_ready(pipeline) == SwapResult::kSwapped;
    if (pipeline.step() != StepResult::kOk) std::exit(1);
    const auto time = Clock::now() - start;
    all.add(time);
    if (swapped) swapping.add(time);
    requests.done.store(i + 1, std::memory_order_relaxed);
  }
  return {all.text(), swapping.text()};
}

void report(const Work& work) {
  (void)run({work.bundle, work.steps / 10 + 1, 0, work.period}, 0);
  const std::string without = run(work, 0).first;
  const auto [with, swaps] = run(work, work.swaps);
  std::printf("{\"without\": %s, \"with\": %s, \"swapping\": %s}\n", without.c_str(), with.c_str(), swaps.c_str());
}

}  // namespace
}  // namespace leapp::bench

int main(int count, char** arguments) {
  leapp::bench::Work work;
  if (count == 4 || count == 5) {
    work = {arguments[1], std::strtoull(arguments[2], nullptr, 10), std::strtoull(arguments[3], nullptr, 10),
            std::chrono::microseconds(count == 5 ? std::atoi(arguments[4]) : 0)};
  }
  if (work.steps < 1000 || work.swaps < 1) {
    return std::fprintf(stderr, "usage: bench_reload BUNDLE STEPS SWAPS [PERIOD_US] (1000 steps or more)\n"), 2;
  }
  leapp::bench::report(work);
  return 0;
}
