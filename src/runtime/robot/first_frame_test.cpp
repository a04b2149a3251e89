// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/robot/first_frame.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/pipeline/pipeline_access.h"
#include "runtime/robot/first_frame_testing.h"

namespace leapp::runtime {
namespace {

using Values = std::vector<float>;

Values state(Pipeline& pipeline, const char* name) {
  return values_of(pipeline.feedback_input(name).value().as<float>().value());
}

StepResult step(Pipeline& pipeline, float a, float b) {
  const auto x = pipeline.input<float>("pre/x").value();
  x[0] = a;
  x[1] = b;
  return pipeline.step();
}

/// Separate models, and one made of them.
class FirstFrameTest : public ::testing::TestWithParam<bool> {
 protected:
  HistoryBundle bundle_{"first_frame"};
  Pipeline pipeline_{bundle_.load(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Fused, FirstFrameTest, ::testing::Bool());

TEST_P(FirstFrameTest, FillsHistoriesBeforeTheStepRuns) {
  EXPECT_EQ(pipeline_.fusion().ok(), GetParam());
  EXPECT_EQ(pipeline_.histories(), (std::vector<std::string>{"policy/h_in", "policy/m_in"}));
  for (int odd = 0; odd < 2; ++odd) {  // after an odd and after an even number of steps
    ASSERT_EQ(step(pipeline_, 9, 9), StepResult::kOk);
    ASSERT_TRUE(pipeline_.reset(ResetMode::kFirstFrame).ok());
    EXPECT_EQ(state(pipeline_, "policy/h"), Values(6, 1)) << "as exported, until the step";
    ASSERT_EQ(step(pipeline_, 1, 2), StepResult::kOk);
    EXPECT_EQ(state(pipeline_, "policy/h"), (Values{2, 4, 2, 4, 2, 4}));
    EXPECT_EQ(state(pipeline_, "policy/m"), (Values{6, 12, 6, 12, 6, 12})) << "from what h was filled with";
    EXPECT_EQ(state(pipeline_, "policy/t"), (Values{4, 6, 4, 6, 4, 6})) << "as exported, and one step";
    EXPECT_EQ(values_of(pipeline_.output<float>("policy/y").value()), (Values{6, 10, 6, 10, 6, 10}));
    ASSERT_EQ(step(pipeline_, 3, 0), StepResult::kOk);
    EXPECT_EQ(state(pipeline_, "policy/h"), (Values{2, 4, 2, 4, 6, 0})) << "once only";
    EXPECT_EQ(state(pipeline_, "policy/m"), (Values{6, 12, 6, 12, 10, 8}));
  }
}

TEST_P(FirstFrameTest, OtherResetsTakeItBack) {
  ASSERT_TRUE(pipeline_.reset(ResetMode::kFirstFrame).ok());
  pipeline_.reset();
  ASSERT_EQ(step(pipeline_, 5, 6), StepResult::kOk);
  EXPECT_EQ(state(pipeline_, "policy/h"), (Values{1, 1, 1, 1, 10, 12}));
  ASSERT_TRUE(pipeline_.reset(ResetMode::kFirstFrame).ok());
  ASSERT_TRUE(pipeline_.reset(ResetMode::kZeros).ok());
  ASSERT_EQ(step(pipeline_, 5, 6), StepResult::kOk);
  EXPECT_EQ(state(pipeline_, "policy/h"), (Values{0, 0, 0, 0, 10, 12}));
}

TEST_P(FirstFrameTest, WhatIsSetStays) {
  ASSERT_TRUE(pipeline_.reset(ResetMode::kFirstFrame).ok());
  Values rows{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> shape{1, 3, 2};
  ASSERT_TRUE(pipeline_.set_input_value("policy/h", {rows.data(), DType::kFloat32, shape}).ok());
  ASSERT_EQ(step(pipeline_, 1, 1), StepResult::kOk);
  EXPECT_EQ(state(pipeline_, "policy/h"), (Values{3, 4, 5, 6, 2, 2}));
  EXPECT_EQ(state(pipeline_, "policy/m"), (Values{10, 12, 10, 12, 10, 12})) << "the other one is filled";
}

TEST_P(FirstFrameTest, AFailingFirstStepLeavesThingsAsTheyWere) {
  ASSERT_EQ(step(pipeline_, 0, 0), StepResult::kOk);
  ASSERT_TRUE(pipeline_.reset(ResetMode::kFirstFrame).ok());
  const Values before = values_of(pipeline_.output<float>("policy/y").value());
  const auto row = pipeline_.input<std::int64_t>("policy/row").value();
  row[0] = 7;  // the models fail
  ASSERT_EQ(step(pipeline_, 1, 1), StepResult::kFailed);
  EXPECT_NE(pipeline_.error().message().find("policy"), std::string::npos) << pipeline_.error().message();
  EXPECT_EQ(state(pipeline_, "policy/h"), Values(6, 1));
  row[0] = 0;
  ASSERT_TRUE(pipeline_.set_guards({{.port = "policy/y", .bounds = GuardAction::kFail, .all = {.upper = 100}}}).ok());
  ASSERT_EQ(step(pipeline_, 1000, 1), StepResult::kRefused);  // the models ran
  for (const auto& [name, value] : {std::pair{"policy/h", 1.0F}, {"policy/m", 2.0F}, {"policy/t", 4.0F}}) {
    EXPECT_EQ(state(pipeline_, name), Values(6, value)) << name;
  }
  EXPECT_EQ(values_of(pipeline_.output<float>("policy/y").value()), before);
  ASSERT_EQ(step(pipeline_, 1, 2), StepResult::kOk);
  EXPECT_EQ(state(pipeline_, "policy/h"), (Values{2, 4, 2, 4, 2, 4})) << "the first step that succeeds is the first";
  EXPECT_EQ(state(pipeline_, "policy/m"), (Values{6, 12, 6, 12, 6, 12}));
}

TEST_P(FirstFrameTest, GuardsSeeTheInputsFirst) {
  ASSERT_TRUE(pipeline_.set_guards({{.port = "pre/x", .all = {.upper = 3}}}).ok());
  ASSERT_TRUE(pipeline_.reset(ResetMode::kFirstFrame).ok());
  ASSERT_EQ(step(pipeline_, 50, 1), StepResult::kOk);
  EXPECT_EQ(state(pipeline_, "policy/h"), (Values{6, 2, 6, 2, 6, 2}));
  EXPECT_EQ(pipeline_.guard_event_count(), 1U) << "told once, although the models ran more often";
}

TEST_P(FirstFrameTest, PoisonedStateDoesNotSurvive) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int steps = 1; steps < 4; ++steps) {  // either of the buffers that take turns
    for (int i = 0; i < steps; ++i) ASSERT_EQ(step(pipeline_, nan, nan), StepResult::kOk);
    EXPECT_TRUE(std::isnan(state(pipeline_, "policy/m")[5]));
    ASSERT_TRUE(pipeline_.reset(ResetMode::kFirstFrame).ok());
    ASSERT_EQ(step(pipeline_, 1, 2), StepResult::kOk);
    EXPECT_EQ(state(pipeline_, "policy/h"), (Values{2, 4, 2, 4, 2, 4}));
    EXPECT_EQ(state(pipeline_, "policy/m"), (Values{6, 12, 6, 12, 6, 12}));
    EXPECT_EQ(state(pipeline_, "policy/t"), (Values{4, 6, 4, 6, 4, 6}));
  }
}

TEST(FirstFrame, AnInputIsCopiedAsItIs) {
  HistoryBundle bundle("first_frame_input");
  bundle.spec().models[1].inputs[2].extra.clear();
  set_history(bundle.spec().models[1].inputs[3], {{.axis = 1, .stop = 3, .frames = 3, .input = "pre/x"}});
  set_history(bundle.spec().models[1].inputs[4], {{.state = "policy/h_in"}});
  Pipeline pipeline = bundle.load();
  ASSERT_TRUE(pipeline.reset(ResetMode::kFirstFrame).ok());
  ASSERT_EQ(step(pipeline, 1, 2), StepResult::kOk);
  EXPECT_EQ(state(pipeline, "policy/m"), (Values{1, 2, 1, 2, 4, 6})) << "two rows of x, and what the step put there";
  EXPECT_EQ(state(pipeline, "policy/t"), (Values{2.5, 4.5, 2.5, 4.5, 3, 6})) << "from the next value of another";
}

TEST(FirstFrame, PartsAndTheFirstAsNewest) {
  HistoryBundle bundle("first_frame_parts");
  auto& inputs = bundle.spec().models[1].inputs;
  set_history(inputs[2], {{.axis = 2, .start = 1, .stop = 2, .frames = 1, .of = {"pre/x"}},
                          {.axis = 2, .start = 0, .stop = 1, .frames = 1, .of = {"pre/x"}}});
  set_history(inputs[3], {{.axis = 1, .start = 0, .stop = 2, .frames = 2, .of = {"pre/x"}, .newest_first = true}});
  Pipeline pipeline = bundle.load();
  ASSERT_TRUE(pipeline.reset(ResetMode::kFirstFrame).ok());
  ASSERT_EQ(step(pipeline, 1, 3), StepResult::kOk);
  EXPECT_EQ(state(pipeline, "policy/h"), (Values{1, 1, 2, 6, 2, 6})) << "the next value as a whole, then a step";
  EXPECT_EQ(state(pipeline, "policy/m"), (Values{2, 2, 2, 2, 5, 13})) << "its first row is what was the second";
}

TEST(FirstFrame, NothingThatIsAHistory) {
  RobotBundle robot("first_frame_none");
  Pipeline pipeline = robot.load();
  EXPECT_TRUE(pipeline.histories().empty());
  expect_refused(pipeline.reset(ResetMode::kFirstFrame), StatusCode::kFailedPrecondition,
                 {"first frame", "policy/h_in", "reset_from"});
  HistoryBundle stateless("first_frame_stateless");
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  auto alone = PipelineAccess::load_node(stateless.write(), "policy", options, [&](const std::string& backend) {
    return PipelineAccess::open_engine(backend, options.engine);
  });
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  EXPECT_TRUE(alone.value().reset(ResetMode::kFirstFrame).ok()) << "nothing is remembered: nothing is missing";
}

TEST(FirstFrame, HostileBundlesAreRefusedAtLoad) {
  HistoryBundle bundle("first_frame_hostile");
  set_history(bundle.spec().models[1].inputs[2], {{.axis = 1, .stop = 3, .frames = 3, .input = "pre/y"}});
  const auto loaded = Pipeline::load(bundle.write());
  ASSERT_FALSE(loaded.ok());
  expect_refused(loaded.status(), StatusCode::kInvalidArgument, {"policy/h_in", "\"pre/y\"", "pre/x"});
}

}  // namespace
}  // namespace leapp::runtime
