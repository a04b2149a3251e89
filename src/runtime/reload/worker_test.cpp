// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/reload/worker.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "runtime/reload/forked_testing.h"
#include "runtime/robot/watchdog.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Worker, SignalsAreTheProgramsOwn) {
  sigset_t seen{};
  Worker worker;
  ASSERT_TRUE(worker.start("leapp-test", "a test", [&] { pthread_sigmask(SIG_SETMASK, nullptr, &seen); }).ok());
  EXPECT_TRUE(worker.is_here());
  worker.join();
  EXPECT_FALSE(worker.is_here());
  for (const int theirs : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGXFSZ}) EXPECT_EQ(sigismember(&seen, theirs), 1);
  // Of an instruction that failed: to block these would end the program.
  for (const int ours : {SIGSEGV, SIGBUS, SIGFPE}) EXPECT_EQ(sigismember(&seen, ours), 0);
  sigset_t mine;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_EQ(sigismember(&mine, SIGTERM), 0) << "of the thread alone";
}

TEST(Worker, AChildOfForkDoesNotWaitForIt) {
  if (kCannotFork != nullptr) GTEST_SKIP() << kCannotFork;
  std::atomic<bool> done{false};
  Worker worker;
  ASSERT_TRUE(worker
                  .start("leapp-test", "a test",
                         [&] {
                           while (!done) std::this_thread::sleep_for(1ms);
                         })
                  .ok());
  const int code = forked([&] {
    if (worker.is_here() || !worker.is_elsewhere()) return 1;
    worker.~Worker();
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(worker.is_here());
  done = true;
}

// To be called on a thread with SCHED_FIFO, which not everybody may have.
TEST(Worker, GoesAwayFromALoopThatNeverLetsGoOfItsCore) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  bool real_time = false;
  int policy = -1;
  int priority = -1;
  cpu_set_t cores;
  int core = 0;
  while (CPU_ISSET(core, &all) == 0) ++core;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    const sched_param high{.sched_priority = 10};
    real_time = ::sched_setaffinity(0, sizeof one, &one) == 0 && ::sched_setscheduler(0, SCHED_FIFO, &high) == 0;
    Worker worker;
    ASSERT_TRUE(worker
                    .start("leapp-test", "a test",
                           [&] {
                             leave_the_loop_alone(Priority::kAboveWhereItMust);
                             policy = ::sched_getscheduler(0);
                             sched_param now{};
                             ::sched_getparam(0, &now);
                             priority = now.sched_priority;
                             ::sched_getaffinity(0, sizeof cores, &cores);
                           })
                    .ok());
    worker.join();
  }).join();
  if (!real_time) {
    EXPECT_EQ(policy, SCHED_OTHER);
    GTEST_SKIP() << "no right to SCHED_FIFO";
  }
  if (CPU_COUNT(&all) > 1) {
    EXPECT_EQ(policy, SCHED_OTHER);
    EXPECT_EQ(CPU_ISSET(core, &cores), 0) << "there it would never run";
  } else {
    EXPECT_EQ(policy, SCHED_FIFO);
    EXPECT_EQ(priority, 11);
  }
}

TEST(Watchdog, WatchesInAChildOfForkToo) {
  if (kCannotFork != nullptr) GTEST_SKIP() << kCannotFork;
  const auto stop = std::make_shared<engine::Stop>();
  auto dog = std::make_unique<Watchdog>(stop, 5ms);
  const auto late = [&] {
    dog->begin();
    while (!stop->requested()) std::this_thread::yield();
    return dog->end() && !stop->requested();
  };
  for (int i = 0; i < 3; ++i) {  // whatever the thread does at that moment
    const int code = forked([&] {
      if (!late()) return 1;
      dog.reset();
      return 0;
    });
    EXPECT_EQ(code, 0);
    EXPECT_EQ(forked([&] { return dog.reset(), 0; }), 0) << "without a step";
    EXPECT_TRUE(late());
  }
}

TEST(Watchdog, TheLongestLimitIsNone) {
  const auto stop = std::make_shared<engine::Stop>();
  Watchdog dog(stop, std::chrono::nanoseconds::max());
  dog.begin();
  std::this_thread::sleep_for(120ms);  // it looks every 50
  EXPECT_FALSE(stop->requested());
  EXPECT_FALSE(dog.end());
}

// A step that ends at the very moment at which its time is over: told to stop or not, nothing of it is left.
TEST(Watchdog, StepsThatEndWhenTheirTimeIsOver) {
  const auto stop = std::make_shared<engine::Stop>();
  Watchdog dog(stop, 1ms);
  int late = 0;
  for (int i = 0; i < 400; ++i) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(900 + i % 20 * 60);
    dog.begin();
    while (std::chrono::steady_clock::now() < end && !stop->requested()) {
    }
    late += dog.end() ? 1 : 0;
    ASSERT_FALSE(stop->requested());
  }
  EXPECT_GT(late, 0);
}

}  // namespace
}  // namespace leapp::runtime
