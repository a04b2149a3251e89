// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a recorder's file, and of the recorder, when somebody else has a hand in it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "runtime/recording/step_log_reader_testing.h"
#include "runtime/reload/forked_testing.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

/// Steps until recording stops.
void step_until_it_stops(RecordedRobot& robot, Recorder& recorder) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  for (int i = 0; recorder.status().ok() && std::chrono::steady_clock::now() < end; ++i) {
    ASSERT_EQ(robot.step(static_cast<float>(i)), StepResult::kOk);
    recorder.record();
    std::this_thread::sleep_for(20us);
  }
}

TEST(RecorderFile, OneThatIsRemovedIsAnError) {
  RecordedRobot robot("recorder_removed");
  Recorder recorder = robot.record({.chunk_bytes = 2'000, .flush_interval = 1ms});
  fs::remove(robot.file());
  step_until_it_stops(robot, recorder);
  expect_refused(recorder.close(), StatusCode::kIo, {"run.mcap", "it was removed", "recording has stopped after"});
  EXPECT_FALSE(fs::exists(robot.file()));
  const RecorderSummary summary = recorder.summary();
  EXPECT_EQ(summary.written + summary.dropped, summary.steps);
  Recorder again = robot.record();
  EXPECT_EQ(robot.step(1), StepResult::kOk);
  EXPECT_TRUE(again.record());
  EXPECT_TRUE(again.close().ok());
}

TEST(RecorderFile, OneThatIsMovedIsWhereItWasMovedTo) {
  RecordedRobot robot("recorder_moved");
  Recorder recorder = robot.record();
  fs::create_directory(robot.bundle.folder() / "there");
  const fs::path there = robot.bundle.folder() / "there/other.mcap";
  fs::rename(robot.file(), there);
  EXPECT_EQ(robot.step(1), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  EXPECT_TRUE(recorder.close().ok());
  EXPECT_EQ(read_recording(bytes_of(there)).steps.size(), 1U);
}

TEST(RecorderFile, OneThatIsEmptiedIsAnError) {
  RecordedRobot robot("recorder_emptied");
  Recorder recorder = robot.record({.chunk_bytes = 2'000, .flush_interval = 1ms});
  fs::resize_file(robot.file(), 0);
  step_until_it_stops(robot, recorder);
  expect_refused(recorder.close(), StatusCode::kIo, {"run.mcap", "somebody else has changed it"});
}

TEST(RecorderFile, TwoRecordersDoNotWriteIntoOne) {
  RecordedRobot robot("recorder_two");
  Recorder recorder = robot.record({.overwrite = true});
  Pipeline other = robot.bundle.load();
  expect_refused(Recorder::make(other, robot.file(), {.overwrite = true}).status(), StatusCode::kIo,
                 {"run.mcap", "another recorder writes to it"});
  EXPECT_EQ(robot.step(1), StepResult::kOk);
  EXPECT_TRUE(recorder.record());
  EXPECT_TRUE(recorder.close().ok());
  const std::string bytes = bytes_of(robot.file());
  EXPECT_EQ(read_recording(bytes).steps.size(), 1U);
  // Closed is enough: the object may live on.
  EXPECT_TRUE(Recorder::make(other, robot.file(), {.overwrite = true}).ok());
}

TEST(RecorderFile, APipeThatNobodyReadsIsAnError) {
  RecordedRobot robot("recorder_pipe");
  ASSERT_EQ(::mkfifo(robot.file().c_str(), 0600), 0);
  expect_refused(Recorder::make(robot.pipeline, robot.file(), {.overwrite = true}).status(), StatusCode::kIo,
                 {"run.mcap", "No such device"});
  EXPECT_TRUE(fs::exists(robot.file()));
  const int reader = ::open(robot.file().c_str(), O_RDONLY | O_NONBLOCK);
  Recorder recorder = robot.record({.chunk_bytes = 1, .flush_interval = 1ms, .overwrite = true});
  ::close(reader);  // and SIGPIPE is not the end
  step_until_it_stops(robot, recorder);
  expect_refused(recorder.close(), StatusCode::kIo, {"Broken pipe"});
}

TEST(RecorderFile, AnIntervalThatDoesNotFit) {
  RecordedRobot robot("recorder_interval");
  expect_refused(
      Recorder::make(robot.pipeline, robot.file(), {.flush_interval = std::chrono::milliseconds::max()}).status(),
      StatusCode::kInvalidArgument, {"flush_interval"});
}

TEST(RecorderFile, AChunkForEachStepHasItsIndex) {
  RecordedRobot robot("recorder_chunks");
  Recorder recorder = robot.record({.ring_bytes = std::size_t{1} << 26U, .chunk_bytes = 1});
  constexpr int kSteps = 20'000;
  for (int i = 0; i < kSteps; ++i) {
    ASSERT_EQ(robot.step(static_cast<float>(i)), StepResult::kOk);
    recorder.record();
  }
  ASSERT_TRUE(recorder.close().ok()) << recorder.status().message();
  const std::string bytes = bytes_of(robot.file());
  EXPECT_EQ(recorder.summary().bytes, bytes.size());
  EXPECT_EQ(read_recording(bytes).steps.size(), recorder.summary().written);
  EXPECT_TRUE(bytes.ends_with(mcap::kMagic));
}

TEST(RecorderFile, AChildOfForkLeavesItAlone) {
  if (kCannotFork != nullptr) GTEST_SKIP() << kCannotFork;
  RecordedRobot robot("recorder_forked");
  auto recorder = std::make_unique<Recorder>(robot.record());
  EXPECT_EQ(robot.step(1), StepResult::kOk);
  EXPECT_TRUE(recorder->record());
  const int code = forked([&] {
    if (robot.pipeline.step() != StepResult::kOk) return 1;
    if (recorder->record()) return 2;
    if (recorder->status().message().find("forked") == std::string::npos) return 3;
    if (recorder->close().code() != StatusCode::kFailedPrecondition) return 4;
    recorder.reset();
    if (robot.pipeline.step() != StepResult::kOk) return 5;
    return Recorder::make(robot.pipeline, robot.bundle.folder() / "child.mcap").ok() ? 0 : 6;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(robot.step(2), StepResult::kOk);
  EXPECT_TRUE(recorder->record());
  EXPECT_TRUE(recorder->close().ok());
  EXPECT_EQ(read_recording(bytes_of(robot.file())).steps.size(), 2U);
}

TEST(RecorderFile, ManyOneAfterTheOther) {
  RecordedRobot robot("recorder_many");
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto threads = [] {
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  };
  const auto files_before = open_files();
  const auto threads_before = threads();
  for (int i = 0; i < 200; ++i) {
    Recorder recorder = robot.record({.ring_bytes = 0, .overwrite = true});
    ASSERT_EQ(robot.step(static_cast<float>(i)), StepResult::kOk);
    EXPECT_TRUE(recorder.record());
    if (i % 2 == 0) {
      ASSERT_TRUE(recorder.close().ok());
    }
  }
  EXPECT_EQ(open_files(), files_before);
  EXPECT_LE(threads(), threads_before + 1) << "one that is gone may be listed for a moment";
  EXPECT_EQ(read_recording(bytes_of(robot.file())).steps.size(), 1U);
}

}  // namespace
}  // namespace leapp::runtime
