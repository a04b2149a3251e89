// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// How long steps take while bundles are swapped, beside how long they take without: microseconds, as JSON.
//
//   bench_reload BUNDLE STEPS SWAPS [PERIOD_US]
//
// BUNDLE takes its own place. A step is swap_if_ready() and step(), timed together by the wall's clock and by the
// thread's, which stands still while the system runs something else: a step that is long by the first only was not made
// so by us. Page faults and lost cores are counted, too. With PERIOD_US a step begins every so many microseconds, as in
// a control loop, else one after the other. The loop has the last core to itself, as far as that is ours to say; what
// loads and what asks for it have the others.
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "leapp/runtime/loop.h"
#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/reloader.h"
#include "take.h"

namespace leapp::bench {
namespace {

using namespace leapp::runtime;
using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

struct Work {
  std::string bundle;
  std::uint64_t steps = 0;
  std::uint64_t swaps = 0;
  std::chrono::microseconds period{0};
};

/// One step, or the sums at some time.
struct Times {
  double wall = 0;  ///< microseconds
  double cpu = 0;   ///< of the thread
  long faults = 0;
  long lost = 0;  ///< how often the system gave the core to somebody else

  [[nodiscard]] static Times now() {
    timespec cpu{};
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return {.wall = Microseconds(Clock::now().time_since_epoch()).count(),
            .cpu = static_cast<double>(cpu.tv_sec) * 1e6 + static_cast<double>(cpu.tv_nsec) * 1e-3,
            .faults = usage.ru_minflt + usage.ru_majflt,
            .lost = usage.ru_nivcsw};
  }
};

/// In memory that is there from the start.
class Steps {
 public:
  explicit Steps(std::uint64_t most) {
    steps_.resize(most);  // touched
    steps_.clear();
  }

  void add(const Times& step) {
    if (steps_.size() < steps_.capacity()) steps_.push_back(step);
  }

  [[nodiscard]] std::string text() {
    // Longer than any step has reason to be.
    constexpr double kLong = 100;
    std::size_t long_steps = 0;
    std::size_t long_cpu = 0;
    long faults = 0;
    long lost = 0;
    for (const Times& step : steps_) {
      long_steps += step.wall > kLong ? 1 : 0;
      long_cpu += step.wall > kLong && step.cpu > kLong ? 1 : 0;
      faults += step.faults;
      lost += step.lost;
    }
    return fmt::format(
        "{{\"steps\": {}, \"wall\": {}, \"cpu\": {}, \"long\": {}, \"long_cpu\": {}, \"faults\": {}, \"lost\": {}}}",
        steps_.size(), quantiles(&Times::wall), quantiles(&Times::cpu), long_steps, long_cpu, faults, lost);
  }

 private:
  [[nodiscard]] std::string quantiles(double Times::*which) {
    std::sort(steps_.begin(), steps_.end(), [&](const Times& a, const Times& b) { return a.*which < b.*which; });
    const auto at = [&](double part) {
      return steps_.empty() ? 0
                            : steps_[static_cast<std::size_t>(part * static_cast<double>(steps_.size() - 1))].*which;
    };
    return fmt::format("{{\"p50\": {:.2f}, \"p99\": {:.2f}, \"p99.9\": {:.2f}, \"max\": {:.2f}}}", at(0.5), at(0.99),
                       at(0.999), at(1));
  }

  std::vector<Times> steps_;
};

/// Milliseconds that the machine below this one has kept from it.
double stolen() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft = 0, steal = 0;
  file >> name >> user >> nice >> system >> idle >> waiting >> irq >> soft >> steal;
  return steal * 1000 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// The loop's core is the last that this process may use, the others are the loader's. Empty: there is but one.
struct Cores {
  std::vector<int> loop;
  std::vector<int> others;

  static Cores find() {
    cpu_set_t set;
    CPU_ZERO(&set);
    Cores cores;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(static_cast<std::size_t>(i), &set)) cores.others.push_back(i);
    }
    if (cores.others.size() < 2) return {};
    cores.loop = {cores.others.back()};
    cores.others.pop_back();
    return cores;
  }
};

/// Asks for the bundle again and again, evenly over the steps.
class Requests {
 public:
  Requests(Reloader& reloader, const Work& work, std::uint64_t swaps, const Cores& cores)
      : thread_([this, &reloader, &work, swaps, &cores] {
          (void)make_realtime({.cpus = cores.others});
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

struct Found {
  std::string all;
  std::string swapping;
  double stolen_ms = 0;
};

/// Of all steps, and of those that swapped.
Found run(const Work& work, std::uint64_t swaps, const Cores& cores) {
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  Pipeline pipeline = take(Pipeline::load(work.bundle, options));
  Reloader reloader =
      take(Reloader::make(pipeline, {.load = options, .state = StateOnSwap::kKeepIfSame, .cpus = cores.others}));
  Steps all(4 * work.steps);
  Steps swapping(swaps);
  const double stolen_before = stolen();
  Requests requests(reloader, work, swaps, cores);
  Clock::time_point due = Clock::now();
  for (std::uint64_t i = 0; i < work.steps || reloader.swaps() < swaps; ++i) {
    due += work.period;
    while (work.period.count() > 0 && Clock::now() < due) {
    }
    const Times start = Times::now();
    const bool swapped = reloader.swap_if_ready(pipeline) == SwapResult::kSwapped;
    const StepResult result = pipeline.step();
    const double end = Microseconds(Clock::now().time_since_epoch()).count();
    const Times after = Times::now();
    if (result != StepResult::kOk) std::exit(1);
    const Times step{end - start.wall, after.cpu - start.cpu, after.faults - start.faults, after.lost - start.lost};
    all.add(step);
    if (swapped) swapping.add(step);
    requests.done.store(i + 1, std::memory_order_relaxed);
  }
  return {all.text(), swapping.text(), stolen() - stolen_before};
}

void report(const Work& work) {
  const Cores cores = Cores::find();
  (void)make_realtime({.cpus = cores.loop});
  (void)run({work.bundle, work.steps / 10 + 1, 0, work.period}, 0, cores);
  const Found without = run(work, 0, cores);
  const Found with = run(work, work.swaps, cores);
  std::printf("{\"without\": %s, \"with\": %s, \"swapping\": %s, \"stolen_ms\": [%.0f, %.0f]}\n", without.all.c_str(),
              with.all.c_str(), with.swapping.c_str(), without.stolen_ms, with.stolen_ms);
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
