// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands between a pipeline and a robot, beside the bare step: nanoseconds per step, as JSON. By the clock, and
// under "cpu_ns" by what the thread itself has worked: on a machine that does other things these are the better ones.
//
//   bench_robot BUNDLE STEPS    a bundle whose ports all are [1, joints] with names
//
// The recorder writes beside the bundle.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "leapp/runtime/loop.h"
#include "leapp/runtime/name_map.h"
#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/recorder.h"
#include "take.h"

namespace leapp::bench {
namespace {

using namespace leapp::runtime;
using Clock = std::chrono::steady_clock;

constexpr int kBlock = 200;

/// The system's time, and nobody sleeps.
class HastyClock final : public LoopClock {
 public:
  [[nodiscard]] Time now() noexcept override { return Clock::now(); }
  void sleep_until(Time /*time*/, const std::atomic<bool>& /*interrupted*/) noexcept override {}
};

struct Parts {
  bool maps = false;
  bool guards = false;
  bool loop = false;
  bool recorder = false;
};

/// A pipeline with some of the parts around it.
class Controller {
 public:
  Controller(const std::string& bundle, Parts parts) : parts_(parts) {
    LoadOptions options;
    options.engine.prefer = engine::Prefer::kNative;
    pipeline_ = std::make_unique<Pipeline>(take(Pipeline::load(bundle, options)));
    loop_ = std::make_unique<Loop>(take(Loop::make({.frequency = 1000.0, .clock = &clock_})));
    for (const Port& port : pipeline_->input_ports()) inputs_.push_back(map_of(port));
    for (const Port& port : pipeline_->output_ports()) outputs_.push_back(map_of(port));
    robot_.assign(pipeline_->input_ports().front().size(), 0.5F);
    if (parts.guards) guard();
    if (parts.recorder) record(bundle);
  }

  ~Controller() {
    if (!recorder_) return;
    (void)recorder_->close();
    const RecorderSummary summary = recorder_->summary();
    // A step that is dropped is cheaper than one that is not.
    if (summary.dropped * 100 > summary.steps) {
      std::fprintf(stderr, "%lu of %lu steps were dropped\n", summary.dropped, summary.steps);
    }
    std::filesystem::remove(file_);
  }
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  /// Lets the recorder's thread write, so that it does not do so while something else is measured.
  void settle() {
    for (int i = 0; recorder_ && i < 10; ++i) {
      const RecorderSummary summary = recorder_->summary();
      if (summary.written + summary.dropped == summary.steps) return;
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  }

  void block() {
    int left = kBlock;
    if (parts_.loop) {
      (void)loop_->run([&](Tick& tick) {
        tick.set_input_time(tick.woken);
        step();
        return --left > 0;
      });
      return;
    }
    for (; left > 0; --left) step();
  }

 private:
  // In the reverse order, scaled and moved: no part of it is left out. Like positions, velocities and so on of the same
  // joints, ports have a few conversions between them.
  NameMap map_of(const Port& port) const {
    std::vector<std::string> names = *port.element_names.back();
    std::reverse(names.begin(), names.end());
    std::vector<double> numbers;
    const auto kind = static_cast<double>((inputs_.size() + outputs_.size()) % 5);
    for (std::size_t i = 0; i < names.size(); ++i)
      numbers.push_back(0.5 + 0.001 * kind + 0.01 * static_cast<double>(i));
    return take(NameMap::make(port, -1, names, {.scale = numbers, .offset = numbers}));
  }

  // Everything is checked and nothing is found.
  void guard() {
    GuardRules rules;
    const auto add = [&](const std::vector<Port>& ports) {
      for (const Port& port : ports) {
        rules.push_back({.port = port.name, .all = {.lower = -100, .upper = 100, .per_step = 50}});
      }
    };
    add(pipeline_->input_ports());
    add(pipeline_->output_ports());
    if (!pipeline_->set_guards(rules).ok()) std::exit(1);
  }

  void record(const std::string& bundle) {
    file_ = bundle + (parts_.maps ? "_all.mcap" : "_recorder.mcap");
    recorder_ = std::make_unique<Recorder>(
        take(Recorder::make(*pipeline_, file_, {.flush_interval = std::chrono::milliseconds(0), .overwrite = true})));
  }

  void step() {
    robot_[0] += 0.001F;
    if (robot_[0] > 1) robot_[0] = 0;
    if (parts_.maps) {
      for (NameMap& map : inputs_) (void)map.write(std::span<const float>(robot_));
    }
    if (pipeline_->step() != StepResult::kOk || pipeline_->guard_event_count() != 0) std::exit(1);
    if (recorder_) recorder_->record();
    if (parts_.maps) {
      for (NameMap& map : outputs_) (void)map.read(std::span<float>(targets_.data(), robot_.size()));
    }
  }

  Parts parts_;
  HastyClock clock_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Loop> loop_;
  std::string file_;
  std::unique_ptr<Recorder> recorder_;
  std::vector<NameMap> inputs_;
  std::vector<NameMap> outputs_;
  std::vector<float> robot_;
  std::vector<float> targets_ = std::vector<float>(1024);
};

/// Nanoseconds per step, of each block.
struct Times {
  std::vector<double> wall;
  std::vector<double> cpu;
};

struct Row {
  std::string name;
  std::unique_ptr<Controller> controller;
  Times times;
};

double worked() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void measure(Row& row) {
  const auto start = Clock::now();
  const double worked_before = worked();
  row.controller->block();
  row.times.cpu.push_back((worked() - worked_before) / kBlock);
  row.times.wall.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kBlock);
  row.controller->settle();
}

/// The first row, and what the others have more than that.
std::string text_of(const std::vector<Row>& rows, std::vector<double> Times::*which) {
  const double bare = median(rows.front().times.*which);
  std::string text = fmt::format("\"bare\": {:.1f}", bare);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    text += fmt::format(", \"{}\": {:.1f}", rows[i].name, median(rows[i].times.*which) - bare);
  }
  return text;
}

void run(const std::string& bundle, int steps) {
  std::vector<Row> rows;
  const auto add = [&](const char* name, Parts parts) {
    rows.push_back({name, std::make_unique<Controller>(bundle, parts), {}});
  };
  add("bare", {});
  add("maps", {.maps = true});
  add("guards", {.guards = true});
  add("loop", {.loop = true});
  add("recorder", {.recorder = true});
  add("all", {.maps = true, .guards = true, .loop = true, .recorder = true});
  for (Row& row : rows) row.controller->block();
  for (int i = 0; i < steps / kBlock; ++i) {
    for (Row& row : rows) measure(row);  // in turns, so that whatever else the machine does hits all of them
  }
  std::printf("{%s, \"cpu_ns\": {%s}}\n", text_of(rows, &Times::wall).c_str(), text_of(rows, &Times::cpu).c_str());
}

}  // namespace
}  // namespace leapp::bench

int main(int count, char** arguments) {
  const int steps = count == 3 ? std::atoi(arguments[2]) : 0;
  if (steps < 1000) return std::fprintf(stderr, "usage: bench_robot BUNDLE STEPS (1000 or more)\n"), 2;
  leapp::bench::run(arguments[1], steps);
  return 0;
}
