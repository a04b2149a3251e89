// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/robot/watchdog.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "runtime/pipeline/budget.h"

namespace leapp::runtime {
namespace {

TEST(Watchdog, EndsWhatTakesTooLong) {
  const auto stop = std::make_shared<engine::Stop>();
  Watchdog dog(stop, std::chrono::milliseconds(5));
  for (int i = 0; i < 3; ++i) {
    dog.begin();
    while (!stop->requested()) std::this_thread::yield();
    EXPECT_TRUE(dog.end());
    EXPECT_FALSE(stop->requested());
  }
}

TEST(Watchdog, LeavesAloneWhatEndsInTime) {
  const auto stop = std::make_shared<engine::Stop>();
  Watchdog dog(stop, std::chrono::hours(1));
  for (int i = 0; i < 1000; ++i) {
    dog.begin();
    EXPECT_FALSE(dog.end());
  }
  EXPECT_FALSE(stop->requested());
}

TEST(Budget, AddsUpWhatABundleAsksFor) {
  PipelinePlan plan;
  plan.buffers = {{DType::kFloat32, {1000}, false}, {DType::kFloat64, {1000}, true}};
  plan.states = {{"m/h", {1, false}}};
  bundle::BundleSpec spec;
  spec.pipeline.initial_values = "s.safetensors";
  const MemoryNeed need = memory_need(plan, spec, "/nowhere");
  EXPECT_GE(need.ports, 4000U + 2 * 8000U);
  EXPECT_LT(need.ports, 4000U + 2 * 8000U + 3 * 128U);
  EXPECT_EQ(need.state, 8000U);
  EXPECT_EQ(need.models, 0U);
  EXPECT_TRUE(check_memory(need, need.sum()).ok());
  const Status refused = check_memory(need, 10'000);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("the bundle needs 28."), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find("state 8.0 kB, models 0 B), the option memory_limit is 10.0 kB"), std::string::npos);
}

TEST(Budget, SizesThatOverflowAreTooMuch) {
  PipelinePlan plan;
  plan.buffers = {{DType::kFloat64, {std::int64_t{1} << 62, 4}, false}};
  EXPECT_FALSE(check_memory(memory_need(plan, {}, "/nowhere"), ~std::uint64_t{0} - 1).ok());
}

TEST(Budget, TheDefaultIsPartOfTheMachine) {
  EXPECT_GT(default_memory_limit(), std::uint64_t{1} << 24U);
  EXPECT_LT(default_memory_limit(), std::uint64_t{1} << 60U);
}

}  // namespace
}  // namespace leapp::runtime
