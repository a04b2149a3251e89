// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the loading thread does by itself.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "leapp/runtime/reloader.h"
#include "runtime/reload/reloader_access.h"
#include "runtime/reload/swap_testing.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

TEST(ReloaderThread, AWatchedBundleIsLoadedWhenItChanged) {
  const bundle::KeyPair key = bundle::make_key_pair().value();
  SwapBundle watched("watched");
  watched.sign(key);
  Pipeline pipeline = load_native(watched.path(), {key.public_pem});
  Reloader reloader =
      make_reloader(pipeline, {.load = native_options({key.public_pem}), .watch = watched.path(), .poll = 5ms});
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(reloader.report().state, ReloadState::kIdle) << "what is there is not news";
  for (int gain = 2; gain <= 4; ++gain) {
    watched.write({.gain = static_cast<float>(gain)});
    watched.sign(key);
    const auto end = std::chrono::steady_clock::now() + kLong;
    while (reloader.swap_if_ready(pipeline) != SwapResult::kSwapped && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(step(pipeline, 1), static_cast<float>(gain));
  }
}

// As with a copy that takes its time: the YAML is there, the model is not yet.
TEST(ReloaderThread, AWatchedBundleIsTriedAgainWhenItsModelCame) {
  SwapBundle watched("watched_late");
  Pipeline pipeline = load_native(watched.path());
  Reloader reloader = make_reloader(pipeline, {.watch = watched.path(), .poll = 5ms});
  watched.write({.gain = 2});
  const auto model = bundle::read_file(watched.folder() / "policy.onnx", 1 << 20).value();
  std::ofstream(watched.folder() / "policy.onnx") << "half";
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (reloader.report().state != ReloadState::kFailed && std::chrono::steady_clock::now() < end) {
    (void)reloader.swap_if_ready(pipeline);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(reloader.report().state, ReloadState::kFailed);
  std::ofstream(watched.folder() / "policy.onnx", std::ios::binary)
      .write(reinterpret_cast<const char*>(model.data()), static_cast<std::streamsize>(model.size()));
  while (reloader.swap_if_ready(pipeline) != SwapResult::kSwapped && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(step(pipeline, 1), 2);
}

TEST(ReloaderThread, GivesWayToTheLoop) {
  const SwapBundle one("gives_way");
  Pipeline pipeline = load_native(one.path());
  std::atomic<int> policy{-1};
  std::atomic<int> nice{-1};
  ReloaderOptions options{.load = native_options(), .nice = 12};
  auto reloader = ReloaderAccess::make(pipeline, options, [&](const fs::path& bundle, const LoadOptions& how) {
    policy = ::sched_getscheduler(0);
    nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
    return Pipeline::load(bundle, how);
  });
  ASSERT_TRUE(reloader.ok()) << reloader.status().message();
  const int mine = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
  reloader.value().request(one.path());
  ASSERT_EQ(reloader.value().wait(kLong).state, ReloadState::kReady);
  EXPECT_EQ(policy, SCHED_BATCH);
  EXPECT_EQ(nice, std::max(12, mine));
  EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER) << "its own, not the loop's";
  EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())), mine);
}

}  // namespace
}  // namespace leapp::runtime
