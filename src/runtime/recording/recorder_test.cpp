// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/recording/step_log_reader_testing.h"

extern char** environ;

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<std::vector<float>> all_of(const std::vector<std::vector<std::byte>>& values) {
  std::vector<std::vector<float>> found;
  for (const auto& one : values) found.push_back(floats_of(one));
  return found;
}

TEST(Recorder, EveryStepIsInTheFile) {
  RecordedRobot robot("recorder_steps");
  Recorder recorder = robot.record();
  std::vector<std::vector<float>> actions;
  std::vector<std::vector<float>> states;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(robot.step(static_cast<float>(i)), StepResult::kOk);
    EXPECT_TRUE(recorder.record({.deadline = Time(1s), .woken = Time(2s), .input = Time(3s)}));
    actions.push_back(values_of(robot.pipeline.output<float>("policy/action").value()));
    states.push_back(values_of(robot.pipeline.feedback_input("policy/h").value().as<const float>().value()));
  }
  ASSERT_TRUE(recorder.close().ok());
  EXPECT_TRUE(recorder.close().ok());
  const RecorderSummary summary = recorder.summary();
  EXPECT_EQ(summary.steps, 100U);
  EXPECT_EQ(summary.written, 100U);
  EXPECT_EQ(summary.dropped, 0U);
  const std::string bytes = bytes_of(robot.file());
  EXPECT_EQ(summary.bytes, bytes.size());
  const ReadRecording read = read_recording(bytes);
  ASSERT_TRUE(read.status.ok()) << read.status.message();
  EXPECT_FALSE(read.cut_off);
  ASSERT_EQ(read.steps.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    const RecordedStep& step = read.steps[i];
    EXPECT_EQ(step.info.number, i);
    EXPECT_EQ(step.info.result, 0U);
    EXPECT_EQ(step.info.deadline, 1'000'000'000U);
    EXPECT_EQ(step.info.woken, 2'000'000'000U);
    EXPECT_EQ(step.info.input, 3'000'000'000U);
    EXPECT_LE(step.info.begin, step.info.end);
    ASSERT_EQ(step.inputs.size(), 2U);
    EXPECT_EQ(floats_of(step.inputs[0]), std::vector<float>(3, static_cast<float>(i)));
    EXPECT_EQ(floats_of(step.outputs[0]), actions[i]);
    EXPECT_EQ(floats_of(step.states[0]), states[i]);
    EXPECT_EQ(step.starts.size(), i == 0 ? 1U : 0U) << i;
    EXPECT_EQ(step.memory.has_value(), false);
  }
  EXPECT_EQ(floats_of(read.steps[0].starts[0]), (std::vector<float>{1, 2, 3}));
  EXPECT_LT(read.steps[0].log_time, read.steps[99].log_time);
}

TEST(Recorder, SaysWhatItHasRecorded) {
  RecordedRobot robot("recorder_about");
  const GuardRules rules{{.port = "policy/action",
                          .non_finite = GuardAction::kHold,
                          .bounds = GuardAction::kFail,
                          .rate = GuardAction::kPass,
                          .all = {.lower = -0.1, .upper = 1e30, .per_second = 8},
                          .elements = {{"knee", {.lower = 0}}, {"[0,2]", {.per_step = 1.0 / 3}}}},
                         {.port = "policy/h", .role = PortRole::kFeedback}};
  ASSERT_TRUE(robot.pipeline.set_guards(rules).ok());
  ASSERT_TRUE(robot.record().close().ok());
  const std::string bytes = bytes_of(robot.file());
  const StepLogReader recording = StepLogReader::open(bytes).value();
  EXPECT_EQ(recording.about("bundle"), "bundle");
  EXPECT_EQ(recording.about("frequency"), "50");
  EXPECT_EQ(recording.about("no such key"), "");
  EXPECT_EQ(parse_guards(recording.about("guards")).value(), rules);
  std::vector<std::string> files;
  for (const auto& [name, sum] : recording.files()) {
    files.push_back(name);
    EXPECT_EQ(sum, sha256_of_file(robot.bundle.folder() / name).value());
  }
  EXPECT_EQ(files, (std::vector<std::string>{"bundle.yaml", "bundle_initial_values.safetensors", "policy.onnx"}));
  ASSERT_EQ(recording.inputs().size(), 2U);
  EXPECT_EQ(recording.inputs()[0].name, "policy/q");
  EXPECT_EQ(recording.outputs()[1].shape, (std::vector<std::int64_t>{1, 4, 3}));
  EXPECT_EQ(recording.states()[0].name, "policy/h_in");
}

TEST(Recorder, AStateThatSomebodyHasSetIsWrittenDown) {
  RecordedRobot robot("recorder_reset");
  Recorder recorder = robot.record();
  const auto step = [&] {
    ASSERT_EQ(robot.step(1), StepResult::kOk);
    EXPECT_TRUE(recorder.record());
  };
  step();
  step();
  (void)robot.pipeline.reset(ResetMode::kZeros);
  step();
  robot.pipeline.feedback_input("policy/h").value().as<float>().value()[1] = 7;
  step();
  step();
  ASSERT_TRUE(recorder.close().ok());
  const std::string bytes = bytes_of(robot.file());
  const ReadRecording read = read_recording(bytes);
  ASSERT_EQ(read.steps.size(), 5U);
  EXPECT_EQ(all_of(read.steps[0].starts), (std::vector<std::vector<float>>{{1, 2, 3}}));
  EXPECT_TRUE(read.steps[1].starts.empty());
  EXPECT_EQ(all_of(read.steps[2].starts), (std::vector<std::vector<float>>{{0, 0, 0}}));
  EXPECT_EQ(all_of(read.steps[3].starts), (std::vector<std::vector<float>>{{1, 7, 1}}));
  EXPECT_TRUE(read.steps[4].starts.empty());
}

TEST(Recorder, StepsThatGuardsRefuse) {
  RecordedRobot robot("recorder_refused");
  ASSERT_TRUE(robot.pipeline.set_guards({{.port = "policy/q", .all = {.upper = 10}}}).ok());
  Recorder recorder = robot.record();
  ASSERT_EQ(robot.step(1), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  ASSERT_EQ(robot.step(kNaN), StepResult::kRefused);
  EXPECT_TRUE(recorder.record());
  ASSERT_EQ(robot.step(20), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  ASSERT_TRUE(recorder.close().ok());
  const std::string bytes = bytes_of(robot.file());
  const ReadRecording read = read_recording(bytes);
  ASSERT_EQ(read.steps.size(), 3U) << read.status.message();
  EXPECT_EQ(read.steps[1].info.result, static_cast<std::uint64_t>(StepResult::kRefused));
  EXPECT_EQ(read.steps[1].outputs, read.steps[0].outputs);
  EXPECT_EQ(read.steps[1].states, read.steps[0].states);
  EXPECT_TRUE(std::isnan(floats_of(read.steps[1].inputs[0])[0])) << "inputs as they were given";
  EXPECT_EQ(floats_of(read.steps[2].inputs[0])[0], 20) << "and not as the guard has left them";
  EXPECT_EQ(read.steps[2].info.guard_events, 3U);
  EXPECT_TRUE(read.steps[0].memory.has_value());
  EXPECT_FALSE(read.steps[2].memory.has_value());
}

TEST(Recorder, GuardsThatAreSetLaterAreTold) {
  RecordedRobot robot("recorder_guards_later");
  Recorder recorder = robot.record();
  ASSERT_EQ(robot.step(1), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  ASSERT_TRUE(robot.pipeline.set_guards({{.port = "policy/q", .all = {.upper = 10}}}).ok());
  ASSERT_EQ(robot.step(1), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  ASSERT_TRUE(recorder.close().ok());
  const std::string bytes = bytes_of(robot.file());
  const ReadRecording read = read_recording(bytes);
  ASSERT_EQ(read.steps.size(), 2U);
  EXPECT_EQ(read.steps[0].info.guards_changed, 0U);
  EXPECT_EQ(read.steps[1].info.guards_changed, 1U);
}

TEST(Recorder, RecordIsForStepsOnly) {
  RecordedRobot robot("recorder_calls");
  Recorder recorder = robot.record();
  EXPECT_FALSE(recorder.record()) << "there was no step";
  ASSERT_EQ(robot.step(1), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  EXPECT_FALSE(recorder.record()) << "twice the same";
  ASSERT_EQ(robot.step(2), StepResult::kOk);  // nobody wants this one
  ASSERT_EQ(robot.step(3), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  ASSERT_TRUE(recorder.close().ok());
  ASSERT_EQ(robot.step(4), StepResult::kOk);
  EXPECT_FALSE(recorder.record()) << "it is closed";
  EXPECT_EQ(recorder.summary().steps, 2U);
  const std::string bytes = bytes_of(robot.file());
  const ReadRecording read = read_recording(bytes);
  ASSERT_EQ(read.steps.size(), 2U);
  EXPECT_EQ(read.steps[1].info.number, 2U);
  EXPECT_EQ(floats_of(read.steps[1].inputs[0])[0], 3);
  EXPECT_EQ(read.steps[1].starts.size(), 1U) << "the step between has changed the state";
}

TEST(Recorder, APipelineThatIsGone) {
  TestFolder folder("recorder_gone");
  std::optional<RecordedRobot> robot;
  robot.emplace("recorder_gone_bundle");
  Recorder recorder = Recorder::make(robot->pipeline, folder.path() / "run.mcap").value();
  ASSERT_EQ(robot->step(1), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  Pipeline moved = std::move(robot->pipeline);
  ASSERT_EQ(moved.step(), StepResult::kOk);
  EXPECT_TRUE(recorder.record()) << "a pipeline that was moved is the same";
  { const Pipeline last = std::move(moved); }
  EXPECT_FALSE(recorder.record());
  EXPECT_TRUE(recorder.close().ok());
  EXPECT_EQ(recorder.summary().written, 2U);
}

TEST(Recorder, WhatCannotBe) {
  RecordedRobot robot("recorder_refusals");
  const fs::path file = robot.file();
  const auto refused = [&](const fs::path& path, RecorderOptions options, StatusCode code,
                           const std::vector<std::string>& words) {
    expect_refused(Recorder::make(robot.pipeline, path, std::move(options)).status(), code, words);
  };
  refused("/nowhere/run.mcap", {}, StatusCode::kIo, {"/nowhere/run.mcap", "No such file"});
  const fs::path full = robot.bundle.folder() / "full";
  fs::create_symlink("/dev/full", full);
  refused(full, {.overwrite = true}, StatusCode::kIo, {full.string(), "No space left"});
  EXPECT_TRUE(fs::is_symlink(full)) << "it was not made here, so it stays";
  refused(file, {.chunk_bytes = std::size_t{1} << 40U}, StatusCode::kInvalidArgument, {"chunk_bytes"});
  refused(file, {.flush_interval = -1ms}, StatusCode::kInvalidArgument, {"flush_interval", "-1"});
  refused(file, {.cpus = {100'000}}, StatusCode::kInvalidArgument, {"cpus", "100000"});
  refused(file, {.ring_bytes = ~std::size_t{0}}, StatusCode::kInvalidArgument, {"bytes"});
  EXPECT_FALSE(fs::exists(file));
  std::ofstream(file) << "precious";
  refused(file, {}, StatusCode::kIo, {"run.mcap", "exists"});
  EXPECT_EQ(bytes_of(file), "precious");
  {
    const Recorder recorder = robot.record({.overwrite = true});
    refused(robot.bundle.folder() / "other.mcap", {}, StatusCode::kFailedPrecondition, {"already"});
  }
  Recorder again = robot.record({.overwrite = true});
  EXPECT_TRUE(again.close().ok());
  LoadOptions options;
  options.prepare = false;
  options.engine.prefer = engine::Prefer::kNative;
  Pipeline unprepared = Pipeline::load(robot.bundle.write(), options).value();
  expect_refused(Recorder::make(unprepared, file, {.overwrite = true}).status(), StatusCode::kFailedPrecondition,
                 {"prepare"});
}

// Whoever may write to the folder could have put it there.
TEST(Recorder, OverwritesNothingThroughALink) {
  RecordedRobot robot("recorder_links");
  const fs::path precious = robot.bundle.folder() / "precious";
  for (const bool hard : {false, true}) {
    std::ofstream(precious) << "keep";
    fs::remove(robot.file());
    hard ? fs::create_hard_link(precious, robot.file()) : fs::create_symlink(precious, robot.file());
    Recorder recorder = robot.record({.overwrite = true});
    EXPECT_TRUE(recorder.close().ok());
    EXPECT_EQ(bytes_of(precious), "keep");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(robot.file())));
  }
  fs::remove(robot.file());
  ASSERT_EQ(::mkfifo(robot.file().c_str(), 0600), 0);
  expect_refused(Recorder::make(robot.pipeline, robot.file(), {.overwrite = true}).status(), StatusCode::kIo,
                 {"run.mcap"});
}

// Holds the thread that writes up by a pipe that nobody reads; the loop does not notice.
TEST(Recorder, StepsForWhichThereIsNoRoomAreCounted) {
  RecordedRobot robot("recorder_dropped");
  const fs::path fifo = robot.bundle.folder() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_EQ(::fcntl(reader, F_SETPIPE_SZ, 1 << 16), 1 << 16);
  auto made = Recorder::make(robot.pipeline, fifo,
                             {.ring_bytes = 1, .chunk_bytes = 1 << 16, .flush_interval = 0ms, .overwrite = true});
  ASSERT_TRUE(made.ok()) << made.status().message();
  Recorder recorder = std::move(made).value();
  std::vector<bool> taken;
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(robot.step(static_cast<float>(i)), StepResult::kOk);
    taken.push_back(recorder.record());
  }
  const auto in_ring = static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), true));
  EXPECT_LT(in_ring, 20'000U);
  EXPECT_EQ(recorder.summary().steps, 20'000U);
  EXPECT_EQ(recorder.summary().dropped, 20'000U - in_ring);
  ASSERT_EQ(robot.step(-1), StepResult::kOk);
  std::string bytes;
  std::atomic<bool> done{false};
  std::thread draining([&] {
    std::vector<char> room(1 << 16);
    for (;;) {
      const bool last = done;
      const ::ssize_t count = ::read(reader, room.data(), room.size());
      if (count > 0) bytes.append(room.data(), static_cast<std::size_t>(count));
      if (count <= 0 && last) break;
      if (count <= 0) std::this_thread::sleep_for(1ms);
    }
  });
  EXPECT_TRUE(recorder.close().ok()) << recorder.status().message();
  done = true;
  draining.join();
  ::close(reader);
  EXPECT_EQ(recorder.summary().written, in_ring);
  const ReadRecording read = read_recording(bytes);
  ASSERT_TRUE(read.status.ok()) << read.status.message();
  ASSERT_EQ(read.steps.size(), in_ring);
  std::uint64_t dropped = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) ++dropped;
    if (!taken[i]) continue;
    EXPECT_EQ(read.steps[at].info.number, i);
    EXPECT_EQ(read.steps[at].info.dropped, dropped);
    EXPECT_EQ(floats_of(read.steps[at].inputs[0])[0], static_cast<float>(i));
    if (at > 0 && !taken[i - 1]) {
      EXPECT_EQ(read.steps[at].starts.size(), 1U) << "where steps are missing";
    }
    ++at;
  }
}

/// No file may grow above so many bytes, for as long as it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

// The signal that comes with this limit would end the program; nothing here ignores it.
TEST(Recorder, AFileThatMayNotGrowEndsTheRecordingAndNotTheLoop) {
  RecordedRobot robot("recorder_full");
  constexpr rlim_t kLimit = 50'000;
  const FileLimit limit(kLimit);
  Recorder recorder = robot.record({.chunk_bytes = 4'000, .flush_interval = 0ms});
  int steps = 0;
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (recorder.status().ok() && std::chrono::steady_clock::now() < until) {
    ASSERT_EQ(robot.step(static_cast<float>(steps++)), StepResult::kOk);
    recorder.record();
    std::this_thread::sleep_for(20us);
  }
  expect_refused(recorder.status(), StatusCode::kIo, {"run.mcap", "File too large", "recording has stopped after"});
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(robot.step(static_cast<float>(steps++)), StepResult::kOk);
    EXPECT_FALSE(recorder.record());
  }
  EXPECT_EQ(recorder.close().code(), StatusCode::kIo);
  const RecorderSummary summary = recorder.summary();
  EXPECT_EQ(summary.steps, static_cast<std::uint64_t>(steps));
  EXPECT_EQ(summary.written + summary.dropped, summary.steps);
  EXPECT_GT(summary.written, 10U);
  const std::string bytes = bytes_of(robot.file());
  EXPECT_LE(bytes.size(), kLimit);
  const ReadRecording read = read_recording(bytes);
  EXPECT_TRUE(read.status.ok()) << read.status.message();
  ASSERT_EQ(read.steps.size(), summary.written);
  for (std::size_t i = 0; i < read.steps.size(); ++i) EXPECT_EQ(read.steps[i].info.number, i);
}

TEST(Recorder, AFileThatMayNotEvenBegin) {
  RecordedRobot robot("recorder_full_at_once");
  const FileLimit limit(100);
  expect_refused(Recorder::make(robot.pipeline, robot.file()).status(), StatusCode::kIo, {"File too large"});
  EXPECT_FALSE(fs::exists(robot.file()));
  EXPECT_EQ(robot.step(1), StepResult::kOk);
}

TEST(Recorder, TheThreadThatWritesIsAnOrdinaryOne) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one core";
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t i = 0; CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  RecordedRobot robot("recorder_thread");
  const Recorder recorder = robot.record();
  ::sched_setaffinity(0, sizeof before, &before);
  bool found = false;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::ifstream comm(task.path() / "comm");
    std::string name;
    std::getline(comm, name);
    if (name != "leapp-recorder") continue;
    found = true;
    const int thread = std::stoi(task.path().filename().string());
    cpu_set_t cores;
    ASSERT_EQ(::sched_getaffinity(thread, sizeof cores, &cores), 0);
    EXPECT_GT(CPU_COUNT(&cores), 1) << "not only where the loop is";
    EXPECT_EQ(::sched_getscheduler(thread), SCHED_OTHER);
  }
  EXPECT_TRUE(found);
}

// Whoever wants to, looks at the counts while the loop runs; thread sanitizer looks at all of it.
TEST(Recorder, OtherThreadsMayLook) {
  RecordedRobot robot("recorder_threads");
  Recorder recorder = robot.record({.ring_bytes = 1 << 14, .chunk_bytes = 2'000, .flush_interval = 1ms});
  std::atomic<bool> done{false};
  std::thread looking([&] {
    while (!done) {
      const RecorderSummary summary = recorder.summary();
      EXPECT_LE(summary.written, 10'000U);
      EXPECT_TRUE(recorder.status().ok());
    }
  });
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(robot.step(static_cast<float>(i)), StepResult::kOk);
    recorder.record();
  }
  done = true;
  looking.join();
  ASSERT_TRUE(recorder.close().ok());
  const RecorderSummary summary = recorder.summary();
  EXPECT_EQ(summary.written + summary.dropped, 10'000U);
  const std::string bytes = bytes_of(robot.file());
  EXPECT_EQ(read_recording(bytes).steps.size(), summary.written);
}

/// The program, until it is killed after so many microseconds from its first step on.
/// When to kill: once the file has grown by so much, and so long after that.
struct Moment {
  std::uintmax_t bytes = 0;
  std::chrono::microseconds later{0};
};

// By the file's size: on a busy machine nothing at all may be written in any time that one would choose.
void wait_for(const Moment& moment, const fs::path& file) {
  const auto size = [&] {
    std::error_code none;
    const std::uintmax_t found = fs::file_size(file, none);
    return none ? 0 : found;
  };
  const std::uintmax_t begin = size();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (size() < begin + moment.bytes && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  std::this_thread::sleep_for(moment.later);
}

// The program, after what it takes to run it here.
std::vector<std::string> victim_command() {
  std::vector<std::string> words;
  std::stringstream command(LEAPP_TEST_VICTIM);
  for (std::string word; std::getline(command, word, '|');) words.push_back(word);
  return words;
}

void run_and_kill(const fs::path& bundle, const fs::path& file, const Moment& moment) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<std::string> words = victim_command();
  words.insert(words.end(), {bundle.string(), file.string()});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1) << "it has not begun";
  wait_for(moment, file);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ends[0]);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(Recorder, KilledAtAHundredMoments) {
  RobotBundle bundle("recorder_killed");
  const fs::path yaml = bundle.write();
  const fs::path file = bundle.folder() / "run.mcap";
  std::mt19937 random(20);
  std::size_t most = 0;
  int in_the_middle = 0;
  for (int i = 0; i < 100; ++i) {
    fs::remove(file);
    const bool early = random() % 4 == 0;  // before anything but the beginning is there, perhaps
    run_and_kill(yaml, file, {early ? 0 : random() % 100'000, std::chrono::microseconds(random() % 3'000)});
    const std::string bytes = bytes_of(file);
    const ReadRecording read = read_recording(bytes);
    ASSERT_TRUE(read.status.ok()) << read.status.message();
    EXPECT_TRUE(read.cut_off);
    for (std::size_t at = 0; at < read.steps.size(); ++at) {
      ASSERT_EQ(floats_of(read.steps[at].inputs[0]),
                std::vector<float>(3, static_cast<float>(read.steps[at].info.number)));
      ASSERT_EQ(read.steps[at].info.number, at + read.steps[at].info.dropped);
    }
    most = std::max(most, read.steps.size());
    in_the_middle += read.steps.empty() ? 0 : 1;
  }
  EXPECT_GT(most, 100U);
  EXPECT_GT(in_the_middle, 50);
}

}  // namespace
}  // namespace leapp::runtime
