// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/engine/stop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace leapp::engine {
namespace {

void note(void* what) { ++*static_cast<std::atomic<int>*>(what); }

TEST(Stop, EndsTheRunThatIsUnderWay) {
  Stop stop;
  std::atomic<int> ends{0};
  {
    const Stop::Run run(&stop, &note, &ends);
    EXPECT_EQ(ends, 0);
    stop.request();
    EXPECT_EQ(ends, 1);
  }
  stop.request();  // nothing is under way
  EXPECT_EQ(ends, 1);
  EXPECT_TRUE(stop.requested());
}

TEST(Stop, ARunThatBeginsAfterTheRequestEndsAtOnce) {
  Stop stop;
  std::atomic<int> ends{0};
  stop.request();
  { const Stop::Run run(&stop, &note, &ends); }
  EXPECT_EQ(ends, 1);
  stop.clear();
  { const Stop::Run run(&stop, &note, &ends); }
  EXPECT_EQ(ends, 1);
}

TEST(Stop, NobodyToAskIsFine) {
  std::atomic<int> ends{0};
  { const Stop::Run run(nullptr, &note, &ends); }
  EXPECT_EQ(ends, 0);
}

TEST(Stop, NothingIsCalledOnceTheRunIsOver) {
  Stop stop;
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) stop.request();
  });
  for (int i = 0; i < 2000; ++i) {
    auto ends = std::make_unique<std::atomic<int>>(0);
    { const Stop::Run run(&stop, &note, ends.get()); }
    ends.reset();  // sanitizers see a late call
  }
  done = true;
  other.join();
}

}  // namespace
}  // namespace leapp::engine
