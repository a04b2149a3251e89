// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/replay_recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "bundle/files/mapped_file.h"
#include "bundle/folder/file_system.h"
#include "cli/console/timeout.h"
#include "cli/measure/replay_report.h"
#include "inspect/opened_bundle.h"
#include "inspect/words.h"
#include "leapp/bundle/reader.h"
#include "mcap/records.h"
#include "runtime/pipeline/budget.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/recording/recording_layout.h"
#include "runtime/recording/step_log_reader.h"

namespace leapp::cli {
namespace {

using runtime::Pipeline;
using runtime::Port;
using runtime::RecordedStep;
using runtime::StepLogReader;
using runtime::StepResult;

constexpr std::array<const char*, 4> kResults{"succeeds", "fails", "is not prepared", "is refused by a guard"};

const char* result_text(std::uint64_t result) { return kResults[std::min(result, std::uint64_t{3})]; }

std::string types_text(const std::vector<std::string>& types) { return types.empty() ? "none" : join(types, ", "); }

/// That the bundle's ports are those of the recording, in the same order.
Status check_ports(const char* what, const std::vector<Port>& ours, const std::vector<StepLogReader::Port>& theirs) {
  std::vector<std::string> expected;
  std::vector<std::string> found;
  for (const Port& port : ours) expected.push_back(fmt::format("{} {}", port.name, type_text(port.dtype, port.shape)));
  for (const StepLogReader::Port& port : theirs) {
    found.push_back(fmt::format("{} {}", port.name, type_text(port.dtype, port.shape)));
  }
  if (expected == found) return {};
  return invalid_argument(fmt::format("{}: expected those of the bundle, {}; the recording has {}", what,
                                      types_text(expected), types_text(found)));
}

/// A pipeline beside a recording of it. Stays where it is: the recording is read from `bytes_`.
class RecordedRun {
 public:
  RecordedRun(const RecordingReplay& options, const Context& context)
      : options_(options), context_(context), report_(options.file, options.tolerance) {}
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  Status prepare();
  Status step_all();
  [[nodiscard]] bool agrees() const { return report_.agrees() && !odd_result_; }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json json() const;

 private:
  struct OddResult {
    std::uint64_t step = 0;
    std::string expected;
    std::string found;
    std::string why;
  };

  Status open();
  void let_go_of_what_was_read();
  void note_other_files();
  Status step(const RecordedStep& recorded);
  Status set_state(const std::vector<std::vector<std::byte>>& values);
  void compare(std::size_t first, const std::vector<Port>& ports, const std::vector<std::vector<std::byte>>& expected);
  Status at(const Status& status) const;
  [[nodiscard]] std::string place(const Port& port, const TensorDifference& found) const;

  const RecordingReplay& options_;
  const Context& context_;
  OpenedBundle opened_;
  std::shared_ptr<const bundle::MappedFile> mapped_;
  std::span<const std::byte> bytes_;
  std::size_t released_ = 0;  ///< of these: read, and let go
  std::optional<StepLogReader> recording_;
  std::optional<Pipeline> pipeline_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::vector<Port> states_;
  ReplayReport report_;
  std::optional<OddResult> odd_result_;
  std::vector<std::string> notes_;
  std::uint64_t number_ = 0;  ///< of the step that is being compared
  std::size_t steps_ = 0;
  std::uint64_t dropped_ = 0;
  bool all_read_ = false;
};

Status RecordedRun::at(const Status& status) const {
  return {status.code(), fmt::format("{}: {}", options_.file, status.message())};
}

// Mapped: a recording of days is larger than the machine's memory.
Status RecordedRun::open() {
  bundle::FileDescriptor file(
      ::open(options_.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe must not wait
  struct ::stat about {};
  if (!file.is_open() || ::fstat(file.number(), &about) != 0) return bundle::file_error("read", options_.file, errno);
  if (!S_ISREG(about.st_mode)) return io_error(fmt::format("cannot read {}: it is not a regular file", options_.file));
  if (about.st_size > 0) {
    LEAPP_ASSIGN_OR_RETURN(mapped_, bundle::MappedFile::map(std::move(file), about, options_.file));
    if (!mapped_) return io_error(fmt::format("cannot read {}: too many files are mapped", options_.file));
    bytes_ = mapped_->bytes();
  }
  auto recording = StepLogReader::open({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
  if (!recording.ok()) return at(recording.status());
  recording_ = std::move(recording).value();
  return {};
}

// What was compared is not looked at again.
void RecordedRun::let_go_of_what_was_read() {
  constexpr std::size_t kOften = std::size_t{16} << 20U;
  const std::size_t read = std::min<std::size_t>(recording_->offset(), bytes_.size()) / kOften * kOften;
  if (read <= released_) return;
  // The mapping begins with a page, and so does each part.
  auto* const from = const_cast<std::byte*>(bytes_.data()) + released_;
  (void)::madvise(from, read - released_, MADV_DONTNEED);
  released_ = read;
}

Status RecordedRun::prepare() {
  LEAPP_RETURN_IF_ERROR(open());
  LEAPP_ASSIGN_OR_RETURN(opened_, open_bundle(options_.bundle));
  LEAPP_ASSIGN_OR_RETURN(pipeline_, Pipeline::load(opened_.yaml, options_.load));
  inputs_ = pipeline_->input_ports();
  outputs_ = pipeline_->output_ports();
  states_ = pipeline_->feedback_ports();
  for (const Status& status :
       {check_ports("inputs", inputs_, recording_->inputs()), check_ports("outputs", outputs_, recording_->outputs()),
        check_ports("feedback inputs", states_, recording_->states())}) {
    if (!status.ok()) return at(status);
  }
  if (const std::string guards = recording_->about("guards"); !guards.empty()) {
    const auto rules = runtime::parse_guards(guards);
    if (!rules.ok()) return at(rules.status());
    if (const Status set = pipeline_->set_guards(rules.value()); !set.ok()) return at(set);
  }
  for (const Port& port : outputs_) report_.add_port("outputs/" + port.name);
  for (const Port& port : states_) report_.add_port("state/" + port.name);
  note_other_files();
  return {};
}

void RecordedRun::note_other_files() {
  std::vector<std::string> others;
  std::map<std::filesystem::path, std::string> sums;  // a recording may name a file as often as it likes
  for (const auto& [name, sum] : recording_->files()) {
    if (sum.empty()) continue;
    // The bundle may have been renamed, and its YAML with it. What the recording says of other places is not looked at.
    const auto file = name.ends_with(".yaml") ? Result<std::filesystem::path>(opened_.yaml)
                                              : bundle::locate_file(opened_.folder, name);
    if (file.ok() && !sums.contains(file.value())) {
      const auto found = sha256_of_file(file.value());
      sums[file.value()] = found.ok() ? found.value() : "";
    }
    if (!file.ok() || sums[file.value()] != sum) others.push_back(name);
  }
  if (!others.empty()) notes_.push_back(fmt::format("not the files that were recorded: {}", join(others, ", ")));
  if (const std::string engine = runtime::engines_text(*pipeline_); engine != recording_->about("engine")) {
    notes_.push_back(fmt::format("recorded with {}, replayed with {}", recording_->about("engine"), engine));
  }
  if ((recording_->about("fused") == "true") != pipeline_->fusion().ok()) {
    notes_.push_back(fmt::format("recorded with nodes {}, replayed with nodes {}",
                                 pipeline_->fusion().ok() ? "one after the other" : "fused to one model",
                                 pipeline_->fusion().ok() ? "fused to one model" : "one after the other"));
  }
}

Status RecordedRun::set_state(const std::vector<std::vector<std::byte>>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(const TensorView view, pipeline_->feedback_input(states_[i].name));
    if (!values[i].empty()) std::memcpy(view.data, values[i].data(), values[i].size());
  }
  return {};
}

std::string RecordedRun::place(const Port& port, const TensorDifference& found) const {
  return found.first ? port.element_text(found.first->element) : "";
}

void RecordedRun::compare(std::size_t first, const std::vector<Port>& ports,
                          const std::vector<std::vector<std::byte>>& expected) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    TensorView view = ports[i].view();
    if (ports[i].role == runtime::PortRole::kFeedback) view = pipeline_->feedback_input(ports[i].name).value();
    const TensorDifference found =
        options_.tolerance ? cli::compare(view, expected[i], *options_.tolerance) : compare_bits(view, expected[i]);
    report_.add(first + i, number_, found, place(ports[i], found));
  }
}

Status RecordedRun::step(const RecordedStep& recorded) {
  number_ = recorded.info.number;
  if (recorded.info.guards_changed != 0) {
    return unimplemented(fmt::format(
        "step {}: the guards were changed while it was recorded; replay the steps before it with --steps {}", number_,
        steps_));
  }
  if (!recorded.starts.empty()) LEAPP_RETURN_IF_ERROR(set_state(recorded.starts));
  if (recorded.memory) LEAPP_RETURN_IF_ERROR(runtime::PipelineAccess::set_guard_memory(*pipeline_, *recorded.memory));
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!recorded.inputs[i].empty()) std::memcpy(inputs_[i].data, recorded.inputs[i].data(), recorded.inputs[i].size());
  }
  const auto result = static_cast<std::uint64_t>(pipeline_->step());
  if (result != recorded.info.result && !odd_result_) {
    odd_result_ = {number_, result_text(recorded.info.result), result_text(result), pipeline_->error().message()};
  }
  // A step that did not succeed leaves outputs of one that may not be here, and the caller may have put state back.
  if (recorded.info.result != static_cast<std::uint64_t>(StepResult::kOk)) return set_state(recorded.states);
  compare(0, outputs_, recorded.outputs);
  compare(outputs_.size(), states_, recorded.states);
  return {};
}

Status RecordedRun::step_all() {
  RecordedStep recorded;
  while (!options_.steps || steps_ < *options_.steps) {
    const auto there = recording_->next(recorded);
    if (!there.ok()) return at(there.status());
    if (!there.value()) {
      all_read_ = true;
      break;
    }
    heartbeat(ExitCode::kFindings);
    if (const Status stepped = step(recorded); !stepped.ok()) return at(stepped);
    dropped_ = recorded.info.dropped;
    ++steps_;
    let_go_of_what_was_read();
  }
  // It may be written to while it is replayed, and then has more than was looked at; but not become another.
  if (mapped_ && all_read_) LEAPP_RETURN_IF_ERROR(mapped_->not_shorter());
  if (steps_ < options_.steps.value_or(0)) {
    return invalid_argument(
        fmt::format("--steps: expected at most {}, for which there is data, found {}", steps_, *options_.steps));
  }
  return {};
}

std::string RecordedRun::text() const {
  std::string text = context_.styled(one_line(opened_.name), Style::kBold) +
                     fmt::format(": {} with the inputs of {}\n", plural(steps_, "step"), one_line(options_.file));
  for (const std::string& note : notes_) text += fmt::format("note: {}\n", one_line(note));
  if (dropped_ != 0)
    text += fmt::format("note: {} are missing: there was no room for them\n", plural(dropped_, "step"));
  if (all_read_ && recording_->cut_off()) {
    text += fmt::format("note: the recording was cut off: {} whole {} there\n", count_text(steps_),
                        steps_ == 1 ? "step is" : "steps are");
  }
  const bool before_all = odd_result_ && (!report_.first() || odd_result_->step <= report_.first()->step);
  if (odd_result_) {
    text += context_.styled("differs", Style::kRed) +
            fmt::format(" from {}: {}step {} {}, and there it {}{}\n", one_line(options_.file),
                        before_all ? "first " : "", odd_result_->step, odd_result_->found, odd_result_->expected,
                        odd_result_->why.empty() ? "" : ": " + one_line(odd_result_->why));
  }
  if (!odd_result_ || !report_.agrees()) text += report_.text(context_, steps_);
  return text;
}

Json RecordedRun::json() const {
  Json replay = report_.json(steps_);
  replay["agrees"] = agrees();
  replay["cut_off"] = all_read_ ? Json(recording_->cut_off()) : Json(nullptr);
  replay["dropped"] = dropped_;
  replay["notes"] = notes_;
  replay["first_other_result"] =
      odd_result_
          ? Json{{"step", odd_result_->step}, {"expected", odd_result_->expected}, {"found", odd_result_->found}}
          : Json(nullptr);
  return {{"name", opened_.name},
          {"steps", steps_},
          {"inputs", options_.file},
          {"fused", pipeline_->fusion().ok()},
          {"replay", replay}};
}

}  // namespace

bool is_recording(const std::string& file) {
  if (file.ends_with(".mcap")) return true;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;  // a pipe that nobody writes to never opens
  std::string start(mcap::kMagic.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(start.data(), static_cast<std::streamsize>(start.size())) && start == mcap::kMagic;
}

Result<ExitCode> replay_recording(const RecordingReplay& options, Context& context) {
  RecordedRun run(options, context);
  LEAPP_RETURN_IF_ERROR(run.prepare());
  LEAPP_RETURN_IF_ERROR(run.step_all());
  if (context.json) {
    context.print_json(run.json());
  } else {
    context.print(run.text());
  }
  return run.agrees() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace leapp::cli
