// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory that runs out on the threads beside the loop: an error of theirs, never the end of the program. In a program
// of its own, which takes the place of the C library's function.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "runtime/recording/step_log_reader_testing.h"
#include "runtime/reload/reloader_access.h"
#include "runtime/reload/swap_testing.h"

namespace {

std::atomic<const char*> without_memory{nullptr};  ///< the name of threads that get none
std::atomic<long> requests{0};                     ///< of theirs, after which they get none
std::atomic<bool> only_one{false};                 ///< is refused

bool is_refused() {
  const char* const who = without_memory;
  if (who == nullptr) return false;
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  if (std::string_view(name) != who) return false;
  const long left = --requests;
  return only_one ? left == -1 : left < 0;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier): the C library's own name
void* malloc(std::size_t size) { return is_refused() ? nullptr : __libc_malloc(size); }
}

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Memory, OfTheRecordersThread) {
  RecordedRobot robot("recorder_memory");
  int refused = 0;
  for (long n = 0; n < 400; n += 7) {
    Recorder recorder = robot.record({.chunk_bytes = 2'000, .flush_interval = 1ms, .overwrite = true});
    requests = n;
    without_memory = "leapp-recorder";
    for (int i = 0; i < 200 && recorder.status().ok(); ++i) {
      ASSERT_EQ(robot.step(static_cast<float>(i)), StepResult::kOk);
      recorder.record();
      std::this_thread::sleep_for(20us);
    }
    const Status closed = recorder.close();
    without_memory = nullptr;
    const RecorderSummary summary = recorder.summary();
    EXPECT_EQ(summary.written + summary.dropped, summary.steps);
    const std::string bytes = bytes_of(robot.file());
    const ReadRecording read = read_recording(bytes);
    EXPECT_TRUE(read.status.ok()) << read.status.message();
    EXPECT_EQ(read.steps.size(), summary.written);
    if (closed.ok()) continue;
    ++refused;
    EXPECT_EQ(closed.code(), StatusCode::kOutOfMemory) << closed.message();
  }
  EXPECT_GT(refused, 5);
}

TEST(Memory, OfTheReloadersThread) {
  const SwapBundle one("reloader_memory_one");
  const SwapBundle two("reloader_memory_two", {.gain = 2});
  Pipeline pipeline = load_native(one.path());
  Reloader reloader = make_reloader(pipeline, {.watch = one.path(), .poll = 10ms});
  only_one = true;
  int failed = 0;
  for (long n = 0; n < 90; n += 3) {
    requests = n;
    without_memory = "leapp-reloader";
    reloader.request(two.path());
    const ReloadReport report = reloader.wait(kLong);
    without_memory = nullptr;
    ASSERT_NE(report.state, ReloadState::kLoading) << n;
    EXPECT_EQ(step(pipeline, 3), 3);
    if (report.state == ReloadState::kReady) continue;
    ++failed;
    EXPECT_EQ(report.status.code(), StatusCode::kOutOfMemory) << report.status.message();
  }
  only_one = false;
  EXPECT_GT(failed, 0);
  reloader.request(two.path());
  ASSERT_EQ(reloader.wait(kLong).state, ReloadState::kReady) << reloader.report().status.message();
  ASSERT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kSwapped);
  EXPECT_EQ(step(pipeline, 3), 6);
}

}  // namespace
}  // namespace leapp::runtime
