// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/console/engine_words.h"
#include "cli/console/load_flags.h"
#include "cli/console/progress.h"
#include "cli/console/table.h"
#include "cli/console/timeout.h"
#include "cli/io/arrays.h"
#include "cli/io/inputs.h"
#include "cli/measure/array_log.h"
#include "cli/measure/replay.h"
#include "cli/measure/replay_recording.h"
#include "cli/measure/statistics.h"
#include "inspect/opened_bundle.h"
#include "inspect/words.h"

namespace leapp::cli {
namespace {

constexpr std::size_t kMockSteps = 10;
constexpr std::size_t kShownElements = 4;

struct RunOptions {
  std::string bundle;
  InputOptions inputs;
  std::optional<std::size_t> steps;
  std::string output;
  std::string trace;
  std::string replay;
  std::optional<double> rtol;
  std::optional<double> atol;
  runtime::ResetMode reset = runtime::ResetMode::kExported;
  bool compress = false;
  runtime::LoadOptions load;
};

Tolerance tolerance_of(const RunOptions& options) {
  const Tolerance usual;
  return {options.rtol.value_or(usual.rtol), options.atol.value_or(usual.atol)};
}

/// One run, from its files to its numbers. Stays where it is: parts of it point at others.
class Run {
 public:
  Run(const RunOptions& options, const Context& context) : options_(options), context_(context) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Status prepare();
  Status step_all();
  Status write_files() const;
  [[nodiscard]] bool agrees() const { return !replay_ || replay_->agrees(); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json json() const;

 private:
  Status choose_steps();
  Status step(std::size_t number);
  Status note(std::size_t number, bool before);
  [[nodiscard]] std::string source_text() const;

  const RunOptions& options_;
  const Context& context_;
  OpenedBundle opened_;
  std::vector<TracedPort> ports_;
  std::optional<runtime::Pipeline> pipeline_;
  std::optional<InputSource> inputs_;
  std::optional<TraceReplay> replay_;
  std::optional<ArrayLog> trace_;
  std::optional<ArrayLog> outputs_;
  std::vector<TensorView> views_;  ///< of the pipeline's own outputs
  std::vector<std::string> names_;
  std::vector<PortStatistics> statistics_;
  std::size_t steps_ = 0;
};

Status Run::prepare() {
  for (const std::string& file : {options_.output, options_.trace}) {
    if (!file.empty()) LEAPP_RETURN_IF_ERROR(check_writable(file));
  }
  LEAPP_ASSIGN_OR_RETURN(opened_, open_bundle(options_.bundle));
  runtime::LoadOptions load = options_.load;
  load.all_outputs = !options_.trace.empty() || !options_.replay.empty();
  LEAPP_ASSIGN_OR_RETURN(pipeline_, runtime::Pipeline::load(opened_.yaml, load));
  ports_ = traced_ports(opened_.spec, opened_.report.wiring);
  InputOptions inputs = options_.inputs;
  inputs.memory_limit = load.memory_limit;
  if (!options_.replay.empty()) {
    const ReplayOptions how{options_.replay, tolerance_of(options_), load.memory_limit};
    LEAPP_ASSIGN_OR_RETURN(replay_, TraceReplay::open(ports_, how));
    inputs.file = options_.replay;
  }
  LEAPP_ASSIGN_OR_RETURN(inputs_, InputSource::open(*pipeline_, ports_, inputs));
  LEAPP_RETURN_IF_ERROR(choose_steps());
  LEAPP_RETURN_IF_ERROR(pipeline_->reset(options_.reset));
  // A trace of a run that was begun so has the state as it was before the histories were filled.
  const bool fills = options_.reset == runtime::ResetMode::kFirstFrame;
  if (replay_ && !fills) LEAPP_RETURN_IF_ERROR(replay_->set_state(*pipeline_));

  std::vector<ArrayType> types;
  for (const bundle::PortIndex at : opened_.report.wiring.outputs) {
    names_.push_back(output_name(opened_.spec, at));
    LEAPP_ASSIGN_OR_RETURN(const TensorView view, pipeline_->output(names_.back()));
    views_.push_back(view);
    types.push_back({names_.back(), view.dtype, {view.shape.begin(), view.shape.end()}});
  }
  statistics_.resize(views_.size());
  if (!options_.output.empty()) {
    LEAPP_ASSIGN_OR_RETURN(outputs_, ArrayLog::create(std::move(types), steps_));
  }
  if (!options_.trace.empty()) {
    std::vector<ArrayType> all;
    for (const TracedPort& port : ports_) all.push_back(port.type);
    LEAPP_ASSIGN_OR_RETURN(trace_, ArrayLog::create(std::move(all), steps_));
  }
  return {};
}

Status Run::choose_steps() {
  const std::optional<std::size_t> there = replay_ ? std::optional(replay_->steps()) : inputs_->steps();
  const std::size_t fallback = options_.inputs.file.empty() ? kMockSteps : 1;
  steps_ = options_.steps.value_or(there.value_or(fallback));
  if (there && steps_ > *there) {
    return invalid_argument(
        fmt::format("--steps: expected at most {}, for which there is data, found {}", *there, steps_));
  }
  return {};
}

// Feedback is read before a step, what comes out of it afterwards.
Status Run::note(std::size_t number, bool before) {
  if (!trace_ && !replay_) return {};
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if ((ports_[i].where != TracedPort::Where::kOutput) != before) continue;
    LEAPP_ASSIGN_OR_RETURN(const TensorView view, value_of(ports_[i], *pipeline_));
    if (trace_) trace_->add(i, view);
    if (replay_) replay_->compare(i, number, view);
  }
  return {};
}

Status Run::step(std::size_t number) {
  inputs_->feed(number);
  heartbeat(ExitCode::kFindings);
  LEAPP_RETURN_IF_ERROR(note(number, true));
  if (pipeline_->step() != runtime::StepResult::kOk) {
    return Status(pipeline_->error().code(), fmt::format("step {}: {}", number, pipeline_->error().message()));
  }
  LEAPP_RETURN_IF_ERROR(note(number, false));
  for (std::size_t i = 0; i < views_.size(); ++i) {
    statistics_[i].add(views_[i]);
    if (outputs_) outputs_->add(i, views_[i]);
  }
  return {};
}

Status Run::step_all() {
  Progress progress(context_, "steps", steps_);
  for (std::size_t number = 0; number < steps_; ++number) {
    LEAPP_RETURN_IF_ERROR(step(number));
    progress.at(number + 1);
  }
  return {};
}

Status Run::write_files() const {
  if (outputs_) LEAPP_RETURN_IF_ERROR(write_arrays(options_.output, outputs_->arrays(), options_.compress));
  if (trace_) LEAPP_RETURN_IF_ERROR(write_arrays(options_.trace, trace_->arrays(), options_.compress));
  return {};
}

std::string Run::source_text() const {
  if (replay_) return "the inputs of " + options_.replay;
  if (!options_.inputs.file.empty()) return options_.inputs.file;
  return fmt::format("mock data, seed {}", options_.inputs.seed);
}

std::string Run::text() const {
  std::string text = context_.styled(one_line(opened_.name), Style::kBold);
  const char* how = pipeline_->fusion().ok()         ? ", nodes fused to one model"
                    : opened_.spec.models.size() > 1 ? ", node by node"
                                                     : "";
  text += fmt::format(": {} with {}{}, on {}\n", plural(steps_, "step"), one_line(source_text()), how,
                      engines_text(pipeline_->engine()));
  Table table(
      {{"output"}, {"type"}, {"min", true}, {"mean", true}, {"max", true}, {"not finite", true}, {"last step"}});
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const PortStatistics& found = statistics_[i];
    const auto number = [&](double value) { return found.numbers() == 0 ? "" : fmt::format("{:.5g}", value); };
    table.add({names_[i], type_text(views_[i].dtype, views_[i].shape), number(found.least()), number(found.mean()),
               number(found.most()), found.not_numbers() == 0 ? "" : count_text(found.not_numbers()),
               first_elements(views_[i], kShownElements)});
  }
  text += table.text(context_);
  if (outputs_) text += fmt::format("outputs written to {}\n", one_line(options_.output));
  if (trace_)
    text += fmt::format("trace of {} written to {}\n", plural(ports_.size(), "port"), one_line(options_.trace));
  if (replay_) text += replay_->text(context_);
  return text;
}

Json Run::json() const {
  Json outputs = Json::array();
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const PortStatistics& found = statistics_[i];
    const auto number = [&](double value) { return found.numbers() == 0 ? Json(nullptr) : Json(value); };
    outputs.push_back({{"port", names_[i]},
                       {"dtype", dtype_name(views_[i].dtype)},
                       {"shape", std::vector<std::int64_t>(views_[i].shape.begin(), views_[i].shape.end())},
                       {"min", number(found.least())},
                       {"mean", number(found.mean())},
                       {"max", number(found.most())},
                       {"not_finite", found.not_numbers()}});
  }
  const auto file = [](const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); };
  return {{"name", opened_.name},
          {"steps", steps_},
          {"inputs", file(replay_ ? options_.replay : options_.inputs.file)},
          {"fused", pipeline_->fusion().ok()},
          {"engines", engines_json(pipeline_->engine())},
          {"outputs", outputs},
          {"output", file(options_.output)},
          {"trace", file(options_.trace)},
          {"replay", replay_ ? replay_->json() : Json(nullptr)}};
}

Result<ExitCode> run_recorded(const RunOptions& options, Context& context) {
  for (const auto& [given, name] :
       {std::pair(!options.output.empty(), "--output"), std::pair(!options.trace.empty(), "--trace"),
        std::pair(options.reset != runtime::ResetMode::kExported, "--reset")}) {
    if (given) return invalid_argument(fmt::format("{}: expected none with a recording as --replay", name));
  }
  RecordingReplay replay{
      .bundle = options.bundle, .file = options.replay, .steps = options.steps, .load = options.load};
  if (options.rtol || options.atol) replay.tolerance = {options.rtol.value_or(0), options.atol.value_or(0)};
  return replay_recording(replay, context);
}

Result<ExitCode> run_bundle(const RunOptions& options, Context& context) {
  if (is_recording(options.replay)) return run_recorded(options, context);
  Run run(options, context);
  LEAPP_RETURN_IF_ERROR(run.prepare());
  if (const Status stepped = run.step_all(); !stepped.ok()) {
    context.fail(stepped.message());
    return ExitCode::kFindings;
  }
  heartbeat(ExitCode::kUnusable);
  LEAPP_RETURN_IF_ERROR(run.write_files());
  if (context.json) {
    context.print_json(run.json());
  } else {
    context.print(run.text());
  }
  return run.agrees() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App& command = add_command(app, context,
                                  {.name = "run",
                                   .summary = "Step a bundle; record or compare its outputs",
                                   .examples = "  leapp run walk/walk.yaml --steps 100 --trace walk.npz\n"
                                               "  leapp run walk/walk.yaml --replay walk.npz --no-fuse\n"
                                               "  leapp run walk/walk.yaml --replay robot.mcap\n"
                                               "  leapp run walk/walk.yaml --inputs log.csv --output actions.csv"},
                                  [options, &context] { return run_bundle(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  CLI::Option* inputs =
      command.add_option("-i,--inputs", options->inputs.file, "Input values: .npz, .safetensors or .csv (random)");
  command.add_option("-n,--steps", options->steps, "Number of steps (all of the data; 10 if random)")
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", options->inputs.seed, "Seed of the random inputs (0)");
  command.add_flag("--cast", options->inputs.cast, "Convert values to the port's dtype");
  static const std::map<std::string, runtime::ResetMode> kModes{{"exported", runtime::ResetMode::kExported},
                                                                {"zeros", runtime::ResetMode::kZeros},
                                                                {"first-frame", runtime::ResetMode::kFirstFrame}};
  CLI::Option* reset = command.add_option("--reset", options->reset, "Initial state: exported, zeros or first-frame")
                           ->transform(CLI::CheckedTransformer(kModes).description(""));
  command
      .add_flag_callback(
          "--zeros", [options] { options->reset = runtime::ResetMode::kZeros; }, "Same as --reset zeros")
      ->excludes(reset);
  command.add_option("-o,--output", options->output, "Write all outputs: .npz, .safetensors or .csv");
  command.add_option("--trace", options->trace, "Write all ports: .npz, .safetensors or .csv");
  command.add_flag("--compress", options->compress, "Compress .npz files");
  CLI::Option* replay =
      command.add_option("--replay", options->replay, "Replay a trace or recording (.mcap) and compare");
  replay->excludes(inputs);
  command.add_option("--rtol", options->rtol, "--replay: relative tolerance (0.001; .mcap: 0)")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--atol", options->atol, "--replay: absolute tolerance (0.00001; .mcap: 0)")
      ->check(CLI::NonNegativeNumber);
  add_load_options(command, options->load);
  add_trust_options(command, options->load);
}

}  // namespace leapp::cli
