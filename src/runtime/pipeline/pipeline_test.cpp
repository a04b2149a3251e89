// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/pipeline.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "runtime/pipeline/pipeline_testing.h"

namespace leapp::runtime {
namespace {

class PipelineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  }

  static Pipeline load(TestBundle& bundle) {
    auto pipeline = Pipeline::load(bundle.write(), test_options());
    EXPECT_TRUE(pipeline.ok()) << pipeline.status().message();
    return std::move(pipeline).value();
  }
};

// What make_recurrent computes, in plain C++.
struct Recurrent {
  std::array<float, 4> h{1, 2, 3, 4};

  float step(std::size_t i, float x) {
    h[i] = h[i] * 0.5F + (x * 2.0F + 1.0F);
    return h[i] * 2.0F * 0.5F;
  }
};

float observation(int step, std::size_t i) { return static_cast<float>(step % 17) * 0.25F - static_cast<float>(i); }

void expect_run(Pipeline& pipeline, Recurrent reference, int steps) {
  const auto x = pipeline.input<float>("pre/x").value();
  const auto y = pipeline.output<float>("post/y").value();
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < 4; ++i) x[i] = observation(step, i);
    ASSERT_EQ(pipeline.step(), StepResult::kOk) << pipeline.error().message();
    for (std::size_t i = 0; i < 4; ++i)
      ASSERT_FLOAT_EQ(y[i], reference.step(i, observation(step, i))) << "step " << step;
  }
}

TEST_F(PipelineTest, RunsThreeNodesWithState) {
  TestBundle bundle("recurrent");
  TestBundle::make_recurrent(bundle);
  Pipeline pipeline = load(bundle);
  EXPECT_EQ(pipeline.inputs(), (std::vector<std::string>{"pre/x"}));
  EXPECT_EQ(pipeline.outputs(), (std::vector<std::string>{"post/y"}));
  EXPECT_EQ(pipeline.feedback_inputs(), (std::vector<std::string>{"policy/h_in"}));
  EXPECT_EQ(pipeline.output<float>("post/y").value()[0], 0);  // warming up shows nowhere
  EXPECT_EQ(pipeline.input<float>("pre/x").value()[0], 0);
  expect_run(pipeline, {}, 100);
}

TEST_F(PipelineTest, TheOrderInTheFileDoesNotMatter) {
  TestBundle bundle("order");
  TestBundle::make_recurrent(bundle);
  std::swap(bundle.spec.models[0], bundle.spec.models[2]);
  Pipeline pipeline = load(bundle);
  expect_run(pipeline, {}, 10);
}

TEST_F(PipelineTest, AFolderStandsForItsYaml) {
  TestBundle bundle("folder");
  TestBundle::make_recurrent(bundle);
  fs::rename(bundle.write(), bundle.folder() / (bundle.folder().filename().string() + ".yaml"));
  auto pipeline = Pipeline::load(bundle.folder(), test_options());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
}

TEST_F(PipelineTest, ResetAndSettingState) {
  TestBundle bundle("reset");
  TestBundle::make_recurrent(bundle);
  Pipeline pipeline = load(bundle);
  for (int odd = 0; odd < 2; ++odd) {  // after an odd and after an even number of steps
    expect_run(pipeline, {}, 6 + odd);
    pipeline.reset();
    expect_run(pipeline, {}, 5);
    ASSERT_TRUE(pipeline.reset(ResetMode::kZeros).ok());
    expect_run(pipeline, {{0, 0, 0, 0}}, 5);
    const auto state = pipeline.feedback_input("policy/h").value().as<float>().value();  // X for X_in
    for (std::size_t i = 0; i < 4; ++i) state[i] = 10;
    expect_run(pipeline, {{10, 10, 10, 10}}, 5);
    pipeline.reset();
  }
}

TEST_F(PipelineTest, ValuesCanBeCopiedIn) {
  TestBundle bundle("copied_in");
  TestBundle::make_recurrent(bundle);
  Pipeline pipeline = load(bundle);
  const std::vector<std::int64_t> shape{1, 4};
  std::vector<float> x{1, 2, 3, 4};
  std::vector<float> h{10, 10, 10, 10};
  ASSERT_TRUE(pipeline.set_input_value("pre/x", {x.data(), DType::kFloat32, shape}).ok());
  ASSERT_EQ(pipeline.step(), StepResult::kOk);  // whatever the state was by now
  ASSERT_TRUE(pipeline.set_input_value("policy/h", {h.data(), DType::kFloat32, shape}).ok());
  Recurrent reference{{10, 10, 10, 10}};
  for (int step = 0; step < 3; ++step) {  // the state for one step, the input for all
    ASSERT_EQ(pipeline.step(), StepResult::kOk);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_FLOAT_EQ(pipeline.output<float>("post/y").value()[i], reference.step(i, x[i])) << step;
    }
  }
}

TEST_F(PipelineTest, OneOutputMayFeedBackIntoSeveralInputs) {
  // policy/h_out feeds policy/h_in and, a step later, mix/b; the two begin with different values.
  TestBundle bundle("several");
  TestBundle::make_recurrent(bundle);
  bundle.add("mix", "mix", {float_port("a"), float_port("b"), {.name = "index", .dtype = DType::kInt64, .shape = {1}}},
             {float_port("total"), {.name = "picked", .dtype = DType::kFloat32, .shape = {1, 1}}});
  bundle.spec.pipeline.feedback_flow[0].second.emplace_back("mix/b");
  bundle.spec.pipeline.data_flow[0].second.emplace_back("mix/a");
  bundle.spec.pipeline.inputs.push_back({"mix", {"index"}});
  bundle.spec.pipeline.outputs.push_back({"mix", {"total", "picked"}});
  bundle.spec.pipeline.outputs.push_back({"policy", {"h_out"}});
  bundle.initial.emplace_back("mix/b", std::vector<float>{5, 6, 7, 8});
  Pipeline pipeline = load(bundle);
  const auto x = pipeline.input<float>("pre/x").value();
  const auto total = pipeline.output<float>("mix/total").value();
  const auto h = pipeline.output<float>("policy/h_out").value();
  Recurrent reference;
  std::array<float, 4> delayed{5, 6, 7, 8};
  for (int step = 0; step < 7; ++step) {
    for (std::size_t i = 0; i < 4; ++i) x[i] = observation(step, i);
    if (step == 3) {  // setting one of them leaves the other alone
      pipeline.feedback_input("mix/b").value().as<float>().value()[0] = delayed[0] = -3;
    }
    ASSERT_EQ(pipeline.step(), StepResult::kOk) << pipeline.error().message();
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_FLOAT_EQ(total[i], observation(step, i) * 2 + 1 + delayed[i]) << step;
      reference.step(i, observation(step, i));
      EXPECT_FLOAT_EQ(h[i], reference.h[i]) << step;
      delayed[i] = reference.h[i];
    }
  }
}

TEST_F(PipelineTest, AFailingStepChangesNothing) {
  // The recurrent pipeline, and after it a node that fails for a wrong index.
  TestBundle bundle("failing");
  TestBundle::make_recurrent(bundle);
  bundle.add("mix", "mix", {float_port("a"), float_port("b"), {.name = "index", .dtype = DType::kInt64, .shape = {1}}},
             {float_port("total"), {.name = "picked", .dtype = DType::kFloat32, .shape = {1, 1}}});
  bundle.spec.pipeline.data_flow.push_back({"post/y", {"mix/a", "mix/b"}});
  bundle.spec.pipeline.inputs.push_back({"mix", {"index"}});
  bundle.spec.pipeline.outputs.push_back({"mix", {"total", "picked"}});
  Pipeline pipeline = load(bundle);
  const auto index = pipeline.input<std::int64_t>("mix/index").value();
  const auto y = pipeline.output<float>("post/y").value();
  Pipeline undisturbed = load(bundle);
  const auto same = undisturbed.output<float>("post/y").value();
  for (int step = 0; step < 6; ++step) {
    for (std::size_t i = 0; i < 4; ++i) {
      pipeline.input<float>("pre/x").value()[i] = undisturbed.input<float>("pre/x").value()[i] = observation(step, i);
    }
    const std::vector<float> before(y.begin(), y.end());
    index[0] = 99;
    ASSERT_EQ(pipeline.step(), StepResult::kFailed);
    EXPECT_NE(pipeline.error().message().find("node mix: cannot run"), std::string::npos) << pipeline.error().message();
    EXPECT_TRUE(std::equal(y.begin(), y.end(), before.begin()));
    index[0] = 1;
    ASSERT_EQ(pipeline.step(), StepResult::kOk);
    EXPECT_TRUE(pipeline.error().ok());
    ASSERT_EQ(undisturbed.step(), StepResult::kOk);
    EXPECT_TRUE(std::equal(y.begin(), y.end(), same.begin())) << step;
  }
}

TEST_F(PipelineTest, WarmingUpDoesNotDivideByZero) {
  TestBundle bundle("divide");
  const auto port = [](const char* name) { return bundle::Port{.name = name, .dtype = DType::kInt64, .shape = {3}}; };
  bundle.add("m", "divide", {port("a"), port("b")}, {port("quotient")});
  bundle.spec.pipeline.inputs = {{"m", {"a", "b"}}};
  bundle.spec.pipeline.outputs = {{"m", {"quotient"}}};
  Pipeline pipeline = load(bundle);
  for (std::size_t i = 0; i < 3; ++i) {
    pipeline.input<std::int64_t>("m/a").value()[i] = 21;
    pipeline.input<std::int64_t>("m/b").value()[i] = 7;
  }
  ASSERT_EQ(pipeline.step(), StepResult::kOk);
  EXPECT_EQ(pipeline.output<std::int64_t>("m/quotient").value()[2], 3);
}

TEST_F(PipelineTest, NamesAndTypes) {
  TestBundle bundle("names");
  TestBundle::make_recurrent(bundle);
  Pipeline pipeline = load(bundle);
  EXPECT_EQ(pipeline.input("pre/z").status().message(), "there is no input \"pre/z\"; there are pre/x");
  EXPECT_EQ(pipeline.input("policy/x").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(pipeline.output("policy/y").status().message(), "there is no output \"policy/y\"; there are post/y");
  EXPECT_EQ(pipeline.feedback_input("pre/x").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(pipeline.input<double>("pre/x").status().code(), StatusCode::kWrongType);
  EXPECT_EQ(pipeline.output<std::int64_t>("post/y").status().code(), StatusCode::kWrongType);
  const TensorView view = pipeline.input("pre/x").value();
  EXPECT_EQ(view.size(), 4U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.data) % 64, 0U);
}

TEST_F(PipelineTest, MemoryStaysInPlaceWhenMoved) {
  TestBundle bundle("moved");
  TestBundle::make_recurrent(bundle);
  Pipeline first = load(bundle);
  const auto x = first.input<float>("pre/x").value();
  Pipeline second = std::move(first);
  EXPECT_EQ(second.input<float>("pre/x").value().data(), x.data());
  expect_run(second, {}, 3);
}

TEST_F(PipelineTest, StepBeforePrepareSaysSo) {
  TestBundle bundle("unprepared");
  TestBundle::make_recurrent(bundle);
  LoadOptions options = test_options();
  options.prepare = false;
  auto pipeline = Pipeline::load(bundle.write(), options);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  EXPECT_EQ(pipeline.value().step(), StepResult::kNotPrepared);
  EXPECT_NE(pipeline.value().error().message().find("prepare()"), std::string::npos);
  ASSERT_TRUE(pipeline.value().prepare().ok());
  ASSERT_TRUE(pipeline.value().prepare().ok());
  expect_run(pipeline.value(), {}, 3);
}

// For as many seconds as LEAPP_THREADS_SECONDS says; otherwise a few hundred steps. Each thread also loads anew, fused
// and not, while the others run.
TEST_F(PipelineTest, PipelinesOfDifferentThreadsAreIndependent) {
  TestBundle bundle("threads");
  TestBundle::make_recurrent(bundle);
  const fs::path yaml = bundle.write();
  const char* seconds = std::getenv("LEAPP_THREADS_SECONDS");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
  std::vector<std::thread> threads;
  std::atomic<long> runs{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; run < 2 || std::chrono::steady_clock::now() < end; ++run) {
        LoadOptions options = test_options();
        options.fuse = (run + i) % 2 == 0;
        auto pipeline = Pipeline::load(yaml, options);
        ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
        expect_run(pipeline.value(), {}, 200);
        ++runs;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  RecordProperty("runs", std::to_string(runs));
  if (seconds != nullptr) std::printf("%ld runs of 200 steps\n", runs.load());
}

}  // namespace
}  // namespace leapp::runtime
