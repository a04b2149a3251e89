// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/console/engine_words.h"
#include "cli/console/load_flags.h"
#include "cli/console/progress.h"
#include "cli/console/table.h"
#include "cli/console/timeout.h"
#include "cli/io/inputs.h"
#include "cli/measure/allocations.h"
#include "cli/measure/latency.h"
#include "cli/measure/pacer.h"
#include "cli/measure/watched_engine.h"
#include "inspect/opened_bundle.h"
#include "inspect/words.h"
#include "runtime/pipeline/pipeline_access.h"

namespace leapp::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBarWidth = 50;
constexpr std::size_t kCountedSteps = 1000;

struct BenchOptions {
  std::string bundle;
  InputOptions inputs;
  std::size_t steps = 2000;
  std::size_t warmup = 100;
  std::optional<double> rate;
  ThreadOptions thread;
  runtime::LoadOptions load;
};

/// A pipeline that is stepped with data, over and over.
class Loop {
 public:
  static Result<std::unique_ptr<Loop>> load(const OpenedBundle& opened, const BenchOptions& options,
                                            runtime::EngineOpener open) {
    LEAPP_ASSIGN_OR_RETURN(runtime::Pipeline pipeline,
                           runtime::PipelineAccess::load(opened.yaml, options.load, std::move(open)));
    std::unique_ptr<Loop> loop(new Loop(std::move(pipeline)));
    loop->ports_ = traced_ports(opened.spec, opened.report.wiring);
    InputOptions inputs = options.inputs;
    inputs.memory_limit = options.load.memory_limit;
    LEAPP_ASSIGN_OR_RETURN(loop->inputs_, InputSource::open(loop->pipeline_, loop->ports_, inputs));
    for (std::size_t i = 0; i < options.warmup; ++i) {
      loop->feed(i);
      LEAPP_RETURN_IF_ERROR(loop->step());
    }
    return loop;
  }

  /// A file may have fewer steps than are asked for: it is gone through again and again.
  void feed(std::size_t step) { inputs_->feed(inputs_->steps() ? step % *inputs_->steps() : step); }

  Status step() {
    heartbeat(ExitCode::kFindings);
    return pipeline_.step() == runtime::StepResult::kOk ? Status() : pipeline_.error();
  }

  [[nodiscard]] runtime::Pipeline& pipeline() { return pipeline_; }

 private:
  explicit Loop(runtime::Pipeline pipeline) : pipeline_(std::move(pipeline)) {}

  runtime::Pipeline pipeline_;
  std::vector<TracedPort> ports_;
  std::optional<InputSource> inputs_;
};

class Bench {
 public:
  Bench(const BenchOptions& options, const Context& context)
      : options_(options), context_(context), whole_(options.steps) {}

  Status measure();
  [[nodiscard]] bool in_time() const { return !pacer_ || pacer_->overruns() == 0; }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json json() const;

 private:
  Status time_whole(Loop& loop, Progress& progress);
  Status count_allocations(Loop& loop);
  Status time_nodes(Progress& progress);
  [[nodiscard]] std::string histogram_text() const;
  [[nodiscard]] std::string rate_text() const;
  [[nodiscard]] Json rate_json() const;

  const BenchOptions& options_;
  const Context& context_;
  OpenedBundle opened_;
  Latencies whole_;
  ModelTimes nodes_;
  AllocationCounts allocations_;
  std::size_t counted_steps_ = 0;
  std::optional<Pacer> pacer_;
  bool fused_ = false;
  std::vector<engine::Report> engines_;
};

Status Bench::measure() {
  LEAPP_ASSIGN_OR_RETURN(opened_, open_bundle(options_.bundle));
  LEAPP_ASSIGN_OR_RETURN(const auto loop,
                         Loop::load(opened_, options_, watched_engines(options_.load.engine, nullptr, 0)));
  fused_ = loop->pipeline().fusion().ok();
  engines_ = loop->pipeline().engine();
  LEAPP_RETURN_IF_ERROR(apply(options_.thread));
  Progress progress(context_, "steps", 2 * options_.steps);
  LEAPP_RETURN_IF_ERROR(time_whole(*loop, progress));
  if (can_count_allocations()) LEAPP_RETURN_IF_ERROR(count_allocations(*loop));
  return time_nodes(progress);
}

Status Bench::time_whole(Loop& loop, Progress& progress) {
  if (options_.rate) pacer_.emplace(*options_.rate, options_.steps);
  for (std::size_t i = 0; i < options_.steps; ++i) {
    loop.feed(i);
    if (pacer_) pacer_->wait();
    const auto begin = Clock::now();
    const Status stepped = loop.step();
    whole_.add(static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count()));
    if (pacer_) pacer_->done(i);
    if (!stepped.ok()) return stepped;
    progress.at(i + 1);
  }
  return {};
}

// Apart from the times: counting costs a little in every call of malloc.
Status Bench::count_allocations(Loop& loop) {
  counted_steps_ = std::min(options_.steps, kCountedSteps);
  const AllocationScope scope;
  for (std::size_t i = 0; i < counted_steps_; ++i) LEAPP_RETURN_IF_ERROR(loop.step());
  allocations_ = scope.counts();
  return {};
}

Status Bench::time_nodes(Progress& progress) {
  BenchOptions separate = options_;
  separate.load.fuse = false;
  const auto open = watched_engines(options_.load.engine, &nodes_, options_.steps);
  LEAPP_ASSIGN_OR_RETURN(const auto loop, Loop::load(opened_, separate, open));
  for (const auto& times : nodes_) times->clear();
  for (std::size_t i = 0; i < options_.steps; ++i) {
    loop->feed(i);
    LEAPP_RETURN_IF_ERROR(loop->step());
    progress.at(options_.steps + i + 1);
  }
  return {};
}

std::string Bench::histogram_text() const {
  const std::vector<LatencyBucket> buckets = histogram(whole_);
  std::size_t most = 1;
  for (const LatencyBucket& bucket : buckets) most = std::max(most, bucket.count);
  Table table({{"from", true}, {"to", true}, {"steps", true}, {""}});
  for (const LatencyBucket& bucket : buckets) {
    const std::size_t length = (bucket.count * kBarWidth + most - 1) / most;
    table.add({time_text(bucket.from), time_text(bucket.to), count_text(bucket.count), std::string(length, '#')});
  }
  return table.text(context_);
}

std::string Bench::rate_text() const {
  const LatencySummary late = summarise(pacer_->lateness());
  const std::string first = pacer_->first_overrun() ? fmt::format(", first in step {}", *pacer_->first_overrun()) : "";
  return context_.styled(fmt::format("{:g} Hz: {} of {} overran{}", *options_.rate, count_text(pacer_->overruns()),
                                     plural(whole_.count(), "step"), first),
                         in_time() ? Style::kGreen : Style::kRed) +
         fmt::format("\nsteps begun late by {} (p50), {} (p99), {} (max)\n", time_text(late.p50), time_text(late.p99),
                     time_text(late.most));
}

std::string Bench::text() const {
  const auto& engine = options_.load.engine;
  const bool several = opened_.spec.models.size() > 1;
  std::string text = context_.styled(one_line(opened_.name), Style::kBold);
  text += fmt::format(": {} after {} to warm up; threads: {} intra-op, {} inter-op{}\non {}\n",
                      plural(whole_.count(), "step"), count_text(options_.warmup), engine.intra_op_threads,
                      engine.inter_op_threads,
                      fused_    ? "; nodes fused to one model"
                      : several ? "; node by node"
                                : "",
                      engines_text(engines_));
  Table table({{""},
               {"p50", true},
               {"p90", true},
               {"p99", true},
               {"p99.9", true},
               {"max", true},
               {"jitter", true},
               {"mean", true}});
  const auto add = [&](const std::string& name, const Latencies& times, Style style) {
    std::vector<std::string> cells = summary_cells(summarise(times));
    cells.insert(cells.begin(), name);
    table.add(std::move(cells), style);
  };
  add("whole step", whole_, Style::kBold);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    add((fused_ ? "alone: " : "node ") + opened_.spec.models[opened_.report.wiring.order[i]].name, *nodes_[i],
        Style::kPlain);
  }
  text += table.text(context_);
  if (counted_steps_ > 0) {
    const auto each = [&](std::uint64_t count) {
      return static_cast<double>(count) / static_cast<double>(counted_steps_);
    };
    text += fmt::format("allocations in a step: {:.1f} of LEAPP, {:.1f} of the engine\n", each(allocations_.ours),
                        each(allocations_.engines));
  }
  if (pacer_) text += rate_text();
  return text + "\n" + histogram_text();
}

Json Bench::rate_json() const {
  if (!pacer_) return nullptr;
  return {{"hz", *options_.rate},
          {"overruns", pacer_->overruns()},
          {"first_overrun", pacer_->first_overrun() ? Json(*pacer_->first_overrun()) : Json(nullptr)},
          {"lateness", summary_json(summarise(pacer_->lateness()))}};
}

Json Bench::json() const {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Json node = {{"node", opened_.spec.models[opened_.report.wiring.order[i]].name}};
    node.update(summary_json(summarise(*nodes_[i])));
    nodes.push_back(std::move(node));
  }
  Json buckets = Json::array();
  for (const LatencyBucket& bucket : histogram(whole_)) {
    buckets.push_back({{"from_us", bucket.from / 1000}, {"to_us", bucket.to / 1000}, {"count", bucket.count}});
  }
  Json allocations = nullptr;
  if (counted_steps_ > 0) {
    const auto steps = static_cast<double>(counted_steps_);
    allocations = {{"ours_per_step", static_cast<double>(allocations_.ours) / steps},
                   {"engine_per_step", static_cast<double>(allocations_.engines) / steps}};
  }
  return {{"name", opened_.name},
          {"steps", whole_.count()},
          {"fused", fused_},
          {"engines", engines_json(engines_)},
          {"intra_op_threads", options_.load.engine.intra_op_threads},
          {"inter_op_threads", options_.load.engine.inter_op_threads},
          {"whole", summary_json(summarise(whole_))},
          {"nodes", nodes},
          {"allocations", allocations},
          {"histogram", buckets},
          {"rate", rate_json()}};
}

Result<ExitCode> bench(const BenchOptions& options, Context& context) {
  Bench bench(options, context);
  LEAPP_RETURN_IF_ERROR(bench.measure());
  if (context.json) {
    context.print_json(bench.json());
  } else {
    context.print(bench.text());
  }
  return bench.in_time() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App& command = add_command(app, context,
                                  {.name = "bench",
                                   .summary = "Measure step latency, in total and per node",
                                   .examples = "  leapp bench walk/walk.yaml\n"
                                               "  leapp bench walk/walk.yaml --rate 500 --steps 5000 --cpu 3"},
                                  [options, &context] { return bench(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_option("-n,--steps", options->steps, "Number of timed steps (2000)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000'000}));
  command.add_option("--warmup", options->warmup, "Number of warm-up steps (100)");
  command.add_option("-i,--inputs", options->inputs.file, "Input values, as for `leapp run` (default: random)");
  command.add_option("--seed", options->inputs.seed, "Seed of the random inputs (0)");
  command.add_option("--rate", options->rate, "Start this many steps per second and count overruns")
      ->check(CLI::Range(0.001, 1e6));
  command.add_option("--cpu", options->thread.cpu, "Pin the process to this CPU")
      ->check(CLI::Range(0, CPU_SETSIZE - 1));
  command.add_option("--priority", options->thread.priority, "Use this real-time priority (SCHED_FIFO)")
      ->check(CLI::Range(1, 99));
  add_load_options(command, options->load);
  add_trust_options(command, options->load);
}

}  // namespace leapp::cli
