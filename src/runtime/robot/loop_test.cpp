// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/loop.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

/// Time that passes only when the test says so, and while the loop sleeps.
class TestClock final : public LoopClock {
 public:
  [[nodiscard]] Time now() noexcept override { return now_; }
  void sleep_until(Time time, const std::atomic<bool>& /*interrupted*/) noexcept override {
    if (time > now_) now_ = time + late_;
  }
  void pass(std::chrono::nanoseconds time) { now_ += time; }
  void be_late(std::chrono::nanoseconds time) { late_ = time; }

 private:
  Time now_{1h};
  std::chrono::nanoseconds late_{0};
};

Loop loop_of(TestClock& clock, double frequency, Overrun overrun = Overrun::kSkip) {
  return Loop::make({.frequency = frequency, .overrun = overrun, .clock = &clock}).value();
}

TEST(Histogram, BucketsAreASixteenthWide) {
  for (const std::int64_t value : {0LL, 1LL, 15LL, 16LL, 17LL, 31LL, 32LL, 1000LL, 123'456'789LL, 1LL << 42}) {
    const std::size_t bucket = Histogram::bucket_of(static_cast<std::uint64_t>(value));
    EXPECT_LT(value, Histogram::upper_end(bucket)) << value;
    EXPECT_TRUE(bucket == 0 || value >= Histogram::upper_end(bucket - 1)) << value;
    EXPECT_LE(static_cast<double>(Histogram::upper_end(bucket) - value), static_cast<double>(value) / 16 + 1) << value;
  }
  EXPECT_EQ(Histogram::bucket_of(~std::uint64_t{0}), Histogram::kBuckets - 1);
}

TEST(Histogram, Percentiles) {
  Histogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0);
  EXPECT_EQ(histogram.mean(), 0);
  for (int i = 1; i <= 1000; ++i) histogram.add(i);
  histogram.add(-5);
  EXPECT_EQ(histogram.count(), 1001U);
  EXPECT_NEAR(static_cast<double>(histogram.percentile(0.5)), 500, 500.0 / 16);
  EXPECT_NEAR(static_cast<double>(histogram.percentile(0.99)), 990, 990.0 / 16);
  EXPECT_EQ(histogram.percentile(1), 1000);
  EXPECT_EQ(histogram.max(), 1000);
  EXPECT_NEAR(histogram.mean(), 500, 1);
}

TEST(Loop, DeadlinesAreMultiplesOfThePeriodWhateverACallTakes) {
  TestClock clock;
  Loop loop = loop_of(clock, 3);  // no whole number of nanoseconds
  const Time start = clock.now();
  std::vector<Time> deadlines;
  const Status status = loop.run([&](Tick& tick) {
    EXPECT_EQ(tick.number, deadlines.size());
    EXPECT_EQ(tick.woken, tick.deadline);
    deadlines.push_back(tick.deadline);
    clock.pass(std::chrono::milliseconds(7 * deadlines.size() % 100));
    return tick.number < 3'000'000;
  });
  EXPECT_TRUE(status.ok());
  ASSERT_EQ(deadlines.size(), 3'000'001U);
  EXPECT_EQ(deadlines[1] - start, 333'333'333ns);
  EXPECT_EQ(deadlines[2] - start, 666'666'667ns);
  EXPECT_EQ(deadlines[3'000'000] - start, 1'000'000s) << "nothing drifts";
  EXPECT_EQ(loop.statistics().summary().overruns, 0U);
}

TEST(Loop, MissedPeriodsAreSkippedAndCounted) {
  TestClock clock;
  Loop loop = loop_of(clock, 100);
  std::vector<std::uint64_t> periods;
  ASSERT_TRUE(loop.run([&](Tick& tick) {
                    periods.push_back(tick.period);
                    clock.pass(tick.number == 1 ? 35ms : 2ms);  // due at 10 ms, over at 45
                    return tick.number < 4;
                  })
                  .ok());
  EXPECT_EQ(periods, (std::vector<std::uint64_t>{0, 1, 5, 6, 7}));
  const LoopSummary summary = loop.statistics().summary();
  EXPECT_EQ(summary.calls, 5U);
  EXPECT_EQ(summary.overruns, 1U);
  EXPECT_EQ(summary.skipped, 3U);
  EXPECT_EQ(summary.step.max, 35'000'000);
  EXPECT_NEAR(static_cast<double>(summary.step.p50), 2e6, 2e6 / 16);
}

TEST(Loop, ACallThatEndsExactlyOnTimeIsNoOverrun) {
  TestClock clock;
  Loop loop = loop_of(clock, 100);
  ASSERT_TRUE(loop.run([&](Tick& tick) {
                    clock.pass(10ms);
                    return tick.number < 9;
                  })
                  .ok());
  EXPECT_EQ(loop.statistics().summary().overruns, 0U);
  EXPECT_EQ(loop.statistics().summary().calls, 10U);
}

TEST(Loop, MayEndAtAnOverrun) {
  TestClock clock;
  Loop loop = loop_of(clock, 100, Overrun::kStop);
  const Status status = loop.run([&](Tick&) {
    clock.pass(11ms);
    return true;
  });
  expect_refused(status, StatusCode::kFailedPrecondition, {"call 0", "11000000 ns", "100 Hz", "10000000"});
}

TEST(Loop, LatenessAndAgeOfInputs) {
  TestClock clock;
  Loop loop = loop_of(clock, 100);
  clock.be_late(1ms);
  ASSERT_TRUE(loop.run([&](Tick& tick) {
                    EXPECT_EQ(tick.woken - tick.deadline, tick.number == 0 ? 0ms : 1ms);
                    if (tick.number % 2 == 1) tick.set_input_time(tick.woken - 4ms);
                    clock.pass(2ms);
                    return tick.number < 10;
                  })
                  .ok());
  const LoopSummary summary = loop.statistics().summary();
  EXPECT_EQ(summary.lateness.max, 1'000'000);
  EXPECT_EQ(summary.lateness.count, 11U);
  EXPECT_EQ(summary.input_age.count, 5U) << "only of calls that told it";
  EXPECT_EQ(summary.input_age.max, 6'000'000);
}

TEST(Loop, RunsAtTheBundlesFrequency) {
  RobotBundle bundle("loop");
  const Pipeline pipeline = bundle.load();
  EXPECT_EQ(Loop::make(pipeline).value().frequency(), 50);
  EXPECT_EQ(Loop::make(pipeline, {.frequency = 200.0}).value().frequency(), 200);
  bundle.spec().pipeline.configs = {};
  expect_refused(Loop::make(bundle.load()).status(), StatusCode::kInvalidArgument, {"frequency", "found none"});
  for (const double wrong : {0.0, -50.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(Loop::make({.frequency = wrong}).status().code(), StatusCode::kInvalidArgument) << wrong;
  }
}

TEST(Loop, WhatTheSystemRefusesIsTold) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  expect_refused(make_realtime({.cpus = {100'000}}).status(), StatusCode::kInvalidArgument, {"cpus", "100000"});
  expect_refused(make_realtime({.cpus = {-1}}).status(), StatusCode::kInvalidArgument, {"-1"});
  expect_refused(make_realtime({.fifo_priority = 200}).status(), StatusCode::kInvalidArgument, {"1 to 99", "200"});
  expect_refused(Loop::make({.frequency = 50.0, .realtime = {.fifo_priority = -3}}).status(),
                 StatusCode::kInvalidArgument, {"-3"});
  ASSERT_GT(cores, 0);
  // On a thread of its own, which keeps what it gets.
  std::thread([] {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int first = 0;
    while (CPU_ISSET(first, &before) == 0) ++first;
    EXPECT_EQ(make_realtime({.cpus = {first}}).value(), std::vector<std::string>());
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_EQ(CPU_COUNT(&after), 1);
    EXPECT_NE(CPU_ISSET(first, &after), 0);
  }).join();
}

// Without the right to it the priority is refused: whoever runs the tests may have it, so it is given up first, in a
// child, where also the limit of locked memory is none.
TEST(LoopDeathTest, WithoutTheRightsTheLoopRunsAndSaysSo) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer takes mlockall for itself: it says yes and does nothing";
#endif
  const auto unprivileged = [] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_RTPRIO, &none);
    setrlimit(RLIMIT_MEMLOCK, &none);
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(2);
    const RealtimeOptions wanted{.fifo_priority = 50, .lock_memory = true};
    const auto told = make_realtime(wanted);
    if (!told.ok() || told.value().size() != 2) _exit(3);
    if (told.value()[0].find("SCHED_FIFO with priority 50") == std::string::npos) _exit(4);
    if (told.value()[1].find("mlockall") == std::string::npos) _exit(5);
    const auto loop = Loop::make({.frequency = 50.0, .realtime = wanted});
    if (!loop.ok() || loop.value().notes().size() != 2) _exit(6);
    const auto refused = make_realtime({.fifo_priority = 50, .lock_memory = true, .required = true});
    if (refused.ok() || refused.status().message().find("mlockall") == std::string::npos) _exit(7);
    _exit(0);
  };
  EXPECT_EXIT(unprivileged(), ::testing::ExitedWithCode(0), "");
}

TEST(Loop, OnTheSystemsClock) {
  Loop loop = Loop::make({.frequency = 1000.0}).value();
  const Time start = std::chrono::steady_clock::now();
  std::atomic<bool> reading{true};
  std::uint64_t last = 0;
  std::thread reader([&] {  // another thread looks while it runs
    while (reading) {
      const LoopSummary summary = loop.statistics().summary();
      EXPECT_GE(summary.calls, last);
      last = summary.calls;
    }
  });
  ASSERT_TRUE(loop.run([&](Tick& tick) {
                    EXPECT_GE(tick.woken, tick.deadline) << "never early";
                    tick.set_input_time(tick.woken);
                    return tick.number < 20;
                  })
                  .ok());
  reading = false;
  reader.join();
  EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
  EXPECT_EQ(loop.statistics().summary().calls, 21U);
  EXPECT_EQ(loop.statistics().summary().step.count, 21U);
}

TEST(Loop, StopsFromAnotherThread) {
  Loop loop = Loop::make({.frequency = 1000.0}).value();
  std::atomic<bool> running{false};
  std::thread stopper([&] {
    while (!running) std::this_thread::yield();
    loop.stop();
  });
  EXPECT_TRUE(loop.run([&](Tick&) {
                    running = true;
                    return true;
                  })
                  .ok());
  stopper.join();
  int calls = 0;
  EXPECT_TRUE(loop.run([&](Tick&) { return ++calls < 10; }).ok());
  EXPECT_EQ(calls, 0) << "it stays stopped";
}

// The other thread wakes nobody up.
TEST(Loop, StopsFromAnotherThreadWhileItSleeps) {
  Loop loop = Loop::make({.frequency = 1e-3}).value();
  std::thread stopper;
  EXPECT_TRUE(loop.run([&](Tick&) {
                    stopper = std::thread([&] {
                      std::this_thread::sleep_for(20ms);
                      loop.stop();
                    });
                    return true;
                  })
                  .ok());
  stopper.join();
  EXPECT_EQ(loop.statistics().summary().calls, 1U);
}

// A machine that was asleep, a debugger, a simulation that was begun anew: nothing is made up for.
TEST(Loop, AClockThatJumps) {
  TestClock clock;
  Loop loop = loop_of(clock, 1000);
  std::vector<std::uint64_t> periods;
  ASSERT_TRUE(loop.run([&](Tick& tick) {
                    periods.push_back(tick.period);
                    if (tick.number == 1) clock.pass(24h * 365);
                    if (tick.number == 3) clock.pass(-30min);
                    return tick.number < 5;
                  })
                  .ok());
  const std::uint64_t later = std::uint64_t{24} * 365 * 3600 * 1000 + 2;  // at 1 ms: one period, and a year
  EXPECT_EQ(periods, (std::vector<std::uint64_t>{0, 1, later, later + 1, later + 2, later + 3}));
  EXPECT_EQ(loop.statistics().summary().overruns, 1U);
  EXPECT_EQ(loop.statistics().summary().skipped, later - 2);
}

TEST(Loop, TimesThatCannotBe) {
  TestClock clock;
  Loop loop = loop_of(clock, 1000);
  ASSERT_TRUE(loop.run([&](Tick& tick) {
                    tick.set_input_time(tick.number % 2 == 0 ? Time::min() : Time::max());
                    clock.pass(1us);
                    return tick.number < 99;
                  })
                  .ok());
  const DurationSummary age = loop.statistics().summary().input_age;
  EXPECT_EQ(age.count, 100U);
  EXPECT_EQ(age.max, std::int64_t{1} << 43);
  EXPECT_NEAR(age.mean, 0x1p42, 0x1p36) << "half of them are none at all";
}

// A hundred days at 1 kHz, and more than 2^32 of them.
TEST(Loop, TheLastOfManyPeriods) {
  TestClock clock;
  Loop loop = loop_of(clock, 1000);
  const Time start = clock.now();
  ASSERT_TRUE(loop.run([&](Tick& tick) {
                    if (tick.number == 0) clock.pass(24h * 100 - 500us);
                    if (tick.number == 1) {
                      EXPECT_EQ(tick.period, 8'640'000'000U);
                      EXPECT_EQ(tick.deadline - start, 24h * 100);
                    }
                    return tick.number < 1;
                  })
                  .ok());
}

Loop* in_handler = nullptr;

TEST(Loop, ASignalEndsItsSleep) {
  Loop loop = Loop::make({.frequency = 1e-3}).value();  // the second call would come after a quarter of an hour
  in_handler = &loop;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { in_handler->stop(); };
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  int calls = 0;
  const itimerval soon{{0, 2000}, {0, 2000}};  // again and again: the first may come before the loop sleeps
  EXPECT_TRUE(loop.run([&](Tick&) {
                    ++calls;
                    return setitimer(ITIMER_REAL, &soon, nullptr) == 0;
                  })
                  .ok());
  const itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace leapp::runtime
