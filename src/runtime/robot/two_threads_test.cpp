// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// One pipeline in the hands of two threads, which is a mistake that is told.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/pipeline/pipeline_access.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

/// Runs for as long as the test wants.
class SlowModel final : public engine::EngineModel {
 public:
  SlowModel(std::atomic<bool>& running, std::atomic<bool>& may_end) : running_(running), may_end_(may_end) {}
  [[nodiscard]] const std::vector<engine::TensorInfo>& inputs() const override { return none_; }
  [[nodiscard]] const std::vector<engine::TensorInfo>& outputs() const override { return none_; }
  Result<std::size_t> prepare(const engine::Binding& /*binding*/) override { return std::size_t{0}; }
  [[nodiscard]] bool run(std::size_t /*binding*/) noexcept override {
    running_ = true;
    while (!may_end_) std::this_thread::yield();
    return true;
  }
  [[nodiscard]] Status error() const override { return {}; }

 private:
  std::vector<engine::TensorInfo> none_;
  std::atomic<bool>& running_;
  std::atomic<bool>& may_end_;
};

class SlowEngine final : public engine::Engine {
 public:
  SlowEngine(std::atomic<bool>& running, std::atomic<bool>& may_end) : running_(running), may_end_(may_end) {}
  [[nodiscard]] const std::string& description() const override { return name_; }
  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& /*source*/) override {
    return std::unique_ptr<engine::EngineModel>(std::make_unique<SlowModel>(running_, may_end_));
  }

 private:
  std::string name_ = "slow";
  std::atomic<bool>& running_;
  std::atomic<bool>& may_end_;
};

TEST(TwoThreads, TheSecondIsTold) {
  RobotBundle bundle("two_threads");
  std::atomic<bool> running{false};
  std::atomic<bool> may_end{false};
  LoadOptions options;
  options.fuse = false;
  auto loaded =
      PipelineAccess::load(bundle.write(), options, [&](const std::string&) -> Result<std::unique_ptr<engine::Engine>> {
        return std::unique_ptr<engine::Engine>(std::make_unique<SlowEngine>(running, may_end));
      });
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Pipeline& pipeline = loaded.value();
  std::thread first([&] { EXPECT_EQ(pipeline.step(), StepResult::kOk); });
  while (!running) std::this_thread::yield();
  EXPECT_EQ(pipeline.step(), StepResult::kBusy);
  expect_refused(pipeline.error(), StatusCode::kFailedPrecondition, {"another thread", "one thread at a time"});
  EXPECT_EQ(pipeline.reset(ResetMode::kZeros).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(pipeline.set_guards({}).code(), StatusCode::kFailedPrecondition);
  may_end = true;
  first.join();
  EXPECT_TRUE(pipeline.error().ok());
  EXPECT_EQ(pipeline.step(), StepResult::kOk);
  EXPECT_TRUE(pipeline.reset(ResetMode::kZeros).ok());
}

// Not a single step too many: h is h / 2 + q, and both threads give the same q.
TEST(TwoThreads, AHundredThousandStepsOfBoth) {
  RobotBundle bundle("two_threads_steps");
  Pipeline pipeline = bundle.load();
  Pipeline alone = bundle.load();
  const std::span<float> q = pipeline.input<float>("policy/q").value();
  std::fill(q.begin(), q.end(), 0.25F);
  std::atomic<int> done{0};
  std::atomic<int> busy{0};
  const auto steps = [&] {
    for (int i = 0; i < 50'000; ++i) {
      const StepResult result = pipeline.step();
      if (result == StepResult::kOk) ++done;
      if (result == StepResult::kBusy) ++busy;
    }
  };
  std::thread other(steps);
  steps();
  other.join();
  EXPECT_EQ(done + busy, 100'000);
  std::fill_n(alone.input<float>("policy/q").value().data(), 3, 0.25F);
  for (int i = 0; i < done; ++i) ASSERT_EQ(alone.step(), StepResult::kOk);
  EXPECT_EQ(values_of(pipeline.output<float>("policy/action").value()),
            values_of(alone.output<float>("policy/action").value()));
}

}  // namespace
}  // namespace leapp::runtime
