// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads that do not end by themselves, and reloaders that end before them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "runtime/reload/forked_testing.h"
#include "runtime/reload/reloader_access.h"
#include "runtime/reload/swap_testing.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

/// A bundle of this name takes as long as nobody ends it.
constexpr const char* kEndless = "endless";

class Endless {
 public:
  Result<Reloader> make(Pipeline& pipeline) {
    return ReloaderAccess::make(pipeline, {.load = native_options()},
                                [this](const fs::path& bundle, const LoadOptions& how) -> Result<Pipeline> {
                                  if (bundle != kEndless) return Pipeline::load(bundle, how);
                                  begun = true;
                                  while (!how.engine.stop->requested()) std::this_thread::sleep_for(1ms);
                                  ++ended;
                                  return failed_precondition("it was told to stop");
                                });
  }

  void wait_until_it_begins() const {
    while (!begun) std::this_thread::sleep_for(1ms);
  }

  std::atomic<bool> begun{false};
  std::atomic<int> ended{0};
};

TEST(ReloaderEnd, ALoadThatNeverEndsDoesNotKeepIt) {
  const SwapBundle one("endless_one");
  Pipeline pipeline = load_native(one.path());
  Endless endless;
  {
    Reloader reloader = endless.make(pipeline).value();
    reloader.request(kEndless);
    endless.wait_until_it_begins();
  }
  EXPECT_EQ(endless.ended, 1);
  EXPECT_EQ(step(pipeline, 3), 3);
}

TEST(ReloaderEnd, ANewerRequestEndsIt) {
  const SwapBundle one("endless_newer_one");
  const SwapBundle two("endless_newer_two", {.gain = 2});
  Pipeline pipeline = load_native(one.path());
  Endless endless;
  Reloader reloader = endless.make(pipeline).value();
  reloader.request(kEndless);
  endless.wait_until_it_begins();
  EXPECT_EQ(reloader.request(two.path()), 2U);
  ASSERT_EQ(reloader.wait(kLong).state, ReloadState::kReady) << reloader.report().status.message();
  EXPECT_EQ(endless.ended, 1);
  ASSERT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kSwapped);
  EXPECT_EQ(step(pipeline, 3), 6);
  reloader.request(kEndless);  // what runs has another Stop than what is loaded
  while (endless.ended < 1) std::this_thread::sleep_for(1ms);
  reloader.request(one.path());
  ASSERT_EQ(reloader.wait(kLong).state, ReloadState::kReady);
  EXPECT_EQ(step(pipeline, 3), 6);
}

TEST(ReloaderEnd, AChildOfForkHasNone) {
  if (kCannotFork != nullptr) GTEST_SKIP() << kCannotFork;
  const SwapBundle one("reload_forked_one");
  const SwapBundle two("reload_forked_two", {.gain = 2});
  Pipeline pipeline = load_native(one.path());
  std::optional<Reloader> reloader = make_reloader(pipeline);
  const int code = forked([&] {
    if (reloader->request(two.path()) != 0) return 1;
    const ReloadReport report = reloader->wait(kLong);
    if (report.state != ReloadState::kFailed) return 2;
    if (report.status.message().find("forked") == std::string::npos) return 3;
    if (step(pipeline, 3) != 3) return 4;
    reloader.reset();
    Reloader again = make_reloader(pipeline);
    again.request(two.path());
    if (again.wait(kLong).state != ReloadState::kReady) return 5;
    return again.swap_if_ready(pipeline) == SwapResult::kSwapped && step(pipeline, 3) == 6 ? 0 : 6;
  });
  EXPECT_EQ(code, 0);
  reloader->request(two.path());
  EXPECT_EQ(reloader->wait(kLong).state, ReloadState::kReady);
}

// A folder that is removed and made again, is not readable for a while, or is a link that is moved.
TEST(ReloaderEnd, AWatchedFolderThatComesAndGoes) {
  SwapBundle watched("watched_gone");
  const SwapBundle two("watched_gone_two", {.gain = 2});
  const SwapBundle three("watched_gone_three", {.gain = 3});
  Pipeline pipeline = load_native(watched.path());
  Reloader reloader = make_reloader(pipeline, {.watch = watched.path(), .poll = 2ms});
  const auto copy = [&](const SwapBundle& from) {
    fs::create_directories(watched.folder());
    fs::copy(from.folder(), watched.folder(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  };
  const auto swapped_to = [&](float gain) {
    const auto end = std::chrono::steady_clock::now() + kLong;
    while (step(pipeline, 1) != gain && std::chrono::steady_clock::now() < end) {
      (void)reloader.swap_if_ready(pipeline);
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(step(pipeline, 1), gain);
  };
  fs::remove_all(watched.folder());
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(reloader.report().state, ReloadState::kIdle) << "nothing is no news";
  copy(two);
  swapped_to(2);
  fs::permissions(watched.folder(), fs::perms::none);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(step(pipeline, 1), 2);
  fs::permissions(watched.folder(), fs::perms::owner_all);
  fs::remove_all(watched.folder());
  copy(three);
  swapped_to(3);
}

}  // namespace
}  // namespace leapp::runtime
