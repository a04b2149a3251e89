// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/guards.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>

#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The robot's bundle, loaded, with these guards. action = q + v + h; h is zero and stays so while q is.
class GuardTest : public ::testing::Test {
 protected:
  void use(const GuardRules& rules) {
    const Status status = pipeline_.set_guards(rules);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void expect_bad(const GuardRules& rules, StatusCode code, const std::vector<std::string>& words) {
    const GuardRules before = pipeline_.guards();
    expect_refused(pipeline_.set_guards(rules), code, words);
    EXPECT_EQ(pipeline_.guards(), before);
  }
  StepResult step(float hip, float knee, float ankle) {
    const auto v = pipeline_.input<float>("policy/v").value();
    v[0] = hip;
    v[1] = knee;
    v[2] = ankle;
    return pipeline_.step();
  }
  std::vector<float> action() { return values_of(pipeline_.output<float>("policy/action").value()); }
  std::vector<float> state() { return values_of(pipeline_.feedback_input("policy/h").value().as<float>().value()); }
  std::string event(std::size_t i) { return pipeline_.guard_text(pipeline_.guard_events()[i]); }

  void SetUp() override { ASSERT_TRUE(pipeline_.reset(ResetMode::kZeros).ok()); }

  RobotBundle bundle_{"guards"};
  Pipeline pipeline_{bundle_.load()};
};

TEST_F(GuardTest, BoundsClampAndSayWhichElement) {
  use({{.port = "policy/action", .all = {.lower = -1, .upper = 1}, .elements = {{"knee", {.upper = 0.5}}}}});
  ASSERT_EQ(step(0.5, 0.5, -1), StepResult::kOk);
  EXPECT_TRUE(pipeline_.guard_events().empty());
  ASSERT_EQ(step(3, 0.75, -2), StepResult::kOk);
  EXPECT_EQ(action(), (std::vector<float>{1, 0.5, -1}));
  ASSERT_EQ(pipeline_.guard_event_count(), 3U);
  EXPECT_EQ(event(0), "policy/action[0,0] (hip): 3 is above 1: clamped to 1");
  EXPECT_EQ(event(1), "policy/action[0,1] (knee): 0.75 is above 0.5: clamped to 0.5");
  EXPECT_EQ(event(2), "policy/action[0,2] (ankle): -2 is below -1: clamped to -1");
  EXPECT_EQ(pipeline_.guard_events()[1].element, 1U);
  EXPECT_EQ(pipeline_.guard_events()[1].cause, GuardCause::kAbove);
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_EQ(pipeline_.guard_event_count(), 0U) << "of the last step only";
}

TEST_F(GuardTest, ABoundThatIsNoFloatLetsItsOwnRoundingThrough) {
  use({{.port = "policy/action", .bounds = GuardAction::kFail, .all = {.lower = -0.1, .upper = 0.1}}});
  EXPECT_EQ(step(0.1F, -0.1F, 0), StepResult::kOk);
  EXPECT_EQ(step(std::nextafter(0.1F, 1.F), 0, 0), StepResult::kRefused);
}

TEST_F(GuardTest, AFailingStepLeavesStateAndOutputs) {
  use({{.port = "policy/action", .bounds = GuardAction::kFail, .all = {.upper = 10}}});
  const auto q = pipeline_.input<float>("policy/q").value();
  q[0] = 4;
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  const auto before = state();
  ASSERT_EQ(before, (std::vector<float>{4, 0, 0}));
  ASSERT_EQ(step(0, 11, 0), StepResult::kRefused);
  EXPECT_EQ(action(), (std::vector<float>{4, 0, 0}));
  EXPECT_EQ(state(), before);
  expect_refused(pipeline_.error(), StatusCode::kFailedPrecondition,
                 {"policy/action[0,1] (knee)", "11 is above 10", "refused"});
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_TRUE(pipeline_.error().ok());
  EXPECT_EQ(action(), (std::vector<float>{8, 0, 0})) << "as if the refused step had never been";
}

TEST_F(GuardTest, HoldsTheLastGoodOne) {
  use({{.port = "policy/action", .non_finite = GuardAction::kHold, .bounds = GuardAction::kHold, .all = {.upper = 5}}});
  ASSERT_EQ(step(kNaN, 1, 1), StepResult::kRefused) << "there is nothing to hold";
  expect_refused(pipeline_.error(), StatusCode::kFailedPrecondition, {"(hip): nan is not finite"});
  ASSERT_EQ(step(1, 2, 3), StepResult::kOk);
  ASSERT_EQ(step(kNaN, 6, INFINITY), StepResult::kOk);
  EXPECT_EQ(action(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(event(0), "policy/action[0,0] (hip): nan is not finite: held at 1");
  EXPECT_EQ(event(1), "policy/action[0,1] (knee): 6 is above 5: held at 2");
  EXPECT_EQ(event(2), "policy/action[0,2] (ankle): inf is not finite: held at 3");
  ASSERT_EQ(step(4, kNaN, 4), StepResult::kOk);
  EXPECT_EQ(action(), (std::vector<float>{4, 2, 4}));
}

TEST_F(GuardTest, PassesAndTells) {
  use({{.port = "policy/action",
        .non_finite = GuardAction::kPass,
        .bounds = GuardAction::kPass,
        .all = {.upper = 1, .per_step = 1}}});
  ASSERT_EQ(step(kNaN, 2, 0), StepResult::kOk);
  EXPECT_TRUE(std::isnan(action()[0]));
  EXPECT_EQ(action()[1], 2);
  EXPECT_EQ(event(0), "policy/action[0,0] (hip): nan is not finite: passed");
  EXPECT_EQ(event(1), "policy/action[0,1] (knee): 2 is above 1: passed");
  ASSERT_EQ(step(9, 2, 0), StepResult::kOk) << "NaN is nothing to compare with";
  EXPECT_EQ(action()[0], 9);
}

TEST_F(GuardTest, RatesByStepAndByTime) {
  // 50 Hz: 5 a second are 0.1 a step.
  use({{.port = "policy/action", .all = {.per_second = 5}, .elements = {{"ankle", {.per_step = 0.05}}}}});
  ASSERT_EQ(step(7, 7, 7), StepResult::kOk);
  EXPECT_EQ(action(), (std::vector<float>{7, 7, 7})) << "the first step has nothing to compare with";
  ASSERT_EQ(step(7.0625, 9, 5), StepResult::kOk);
  EXPECT_FLOAT_EQ(action()[0], 7.0625F);
  EXPECT_FLOAT_EQ(action()[1], 7.1F);
  EXPECT_FLOAT_EQ(action()[2], 6.95F);
  EXPECT_EQ(event(0), "policy/action[0,1] (knee): 9 is more than 0.1 from the step before: clamped to 7.1");
  ASSERT_EQ(step(7.0625, 9, 5), StepResult::kOk);
  EXPECT_FLOAT_EQ(action()[1], 7.2F) << "compared with what was let out";
}

TEST_F(GuardTest, StepsOfExactlyTheRatePass) {
  use({{.port = "policy/action", .rate = GuardAction::kFail, .all = {.per_step = 0.1}}});
  for (int i = 0; i < 100; ++i) ASSERT_EQ(step(0.1F * static_cast<float>(i), 0, 0), StepResult::kOk) << i;
  ASSERT_EQ(step(10.2F, 0, 0), StepResult::kRefused);
}

TEST_F(GuardTest, WhereTheRobotStandsIsComparedInTheFirstStep) {
  use({{.port = "policy/action", .all = {.per_step = 1}}});
  ASSERT_TRUE(pipeline_.set_last_good("policy/action", std::array{10.0, 0.0, 0.0}).ok());
  ASSERT_EQ(step(0, 0, 0.5), StepResult::kOk);
  EXPECT_EQ(action(), (std::vector<float>{9, 0, 0.5}));
  pipeline_.reset();
  ASSERT_TRUE(pipeline_.reset(ResetMode::kZeros).ok());
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_EQ(action()[0], 8) << "a reset of the policy moves no motor";
  pipeline_.forget_last_good();
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_EQ(action()[0], 0);
  expect_refused(pipeline_.set_last_good("policy/chunk", {}), StatusCode::kNotFound, {"policy/chunk", "policy/action"});
  expect_refused(pipeline_.set_last_good("policy/action", std::array{1.0}), StatusCode::kInvalidArgument,
                 {"expected 3", "found 1"});
  expect_refused(pipeline_.set_last_good("policy/action", std::array{1.0, double{kNaN}, 0.0}),
                 StatusCode::kInvalidArgument, {"(knee)", "nan"});
}

TEST_F(GuardTest, InputsAreGuardedBeforeTheModelRuns) {
  use({{.port = "policy/q", .non_finite = GuardAction::kHold, .all = {.lower = -2, .upper = 2}},
       {.port = "policy/v", .non_finite = GuardAction::kFail}});
  const auto q = pipeline_.input<float>("policy/q").value();
  q[0] = 5;
  q[1] = 1;
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_EQ(values_of(q), (std::vector<float>{2, 1, 0})) << "what the model saw";
  EXPECT_EQ(action(), (std::vector<float>{2, 1, 0}));
  EXPECT_EQ(state(), (std::vector<float>{2, 1, 0}));
  q[1] = kNaN;
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_EQ(q[1], 1);
  const auto before = state();
  q[0] = 7;
  ASSERT_EQ(step(0, kNaN, 0), StepResult::kRefused);
  EXPECT_EQ(state(), before);
  EXPECT_EQ(q[0], 7) << "a refused step changes no input";
  expect_refused(pipeline_.error(), StatusCode::kFailedPrecondition, {"policy/v[0,1] (knee)"});
}

TEST_F(GuardTest, StateIsGuardedToo) {
  use({{.port = "policy/h", .non_finite = GuardAction::kFail, .all = {.upper = 3}}});
  const auto q = pipeline_.input<float>("policy/q").value();
  q[0] = 8;
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_EQ(state(), (std::vector<float>{3, 0, 0}));
  EXPECT_EQ(event(0), "policy/h_in[0,0] (hip): 8 is above 3: clamped to 3");
  q[0] = kNaN;
  ASSERT_EQ(step(0, 0, 0), StepResult::kRefused);
  EXPECT_EQ(state(), (std::vector<float>{3, 0, 0}));
  use({{.port = "policy/h_in", .non_finite = GuardAction::kHold}});
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_EQ(state(), (std::vector<float>{3, 0, 0})) << "the state of before is held";
}

// One output feeds two states: the second has a copy of its own.
TEST(Guards, OfStateThatIsACopy) {
  RobotBundle bundle("copied_state");
  native::ModelMaker maker;
  maker.input("x", {1, 2}).input("a", {1, 2}).input("b", {1, 2}).output("y", {1, 2}).output("s", {1, 2});
  maker.node("Add", {"a", "b"}, {"y"}).node("Identity", {"x"}, {"s"});
  std::ofstream(bundle.folder() / "policy.onnx", std::ios::binary) << maker.bytes();
  const auto port = [](const char* name) { return bundle::Port{.name = name, .shape = {1, 2}}; };
  bundle.spec().models[0].inputs = {port("x"), port("a"), port("b")};
  bundle.spec().models[0].outputs = {port("y"), port("s")};
  bundle.spec().pipeline.feedback_flow = {{"policy/s", {"policy/a", "policy/b"}}};
  bundle.spec().pipeline.inputs = {{"policy", {"x"}}};
  bundle.spec().pipeline.outputs = {{"policy", {"y"}}};
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  // Without the values that the robot's own state begins with.
  bundle.drop_initial_values();
  auto loaded = Pipeline::load(bundle.write(), options);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Pipeline pipeline = std::move(loaded).value();
  for (const char* guarded : {"policy/a", "policy/b"}) {
    ASSERT_TRUE(pipeline.reset(ResetMode::kZeros).ok());
    ASSERT_TRUE(pipeline.set_guards({{.port = guarded, .non_finite = GuardAction::kHold, .all = {.upper = 3}}}).ok());
    pipeline.input<float>("policy/x").value()[0] = 5;
    ASSERT_EQ(pipeline.step(), StepResult::kOk);
    ASSERT_EQ(pipeline.step(), StepResult::kOk);
    EXPECT_EQ(pipeline.output<float>("policy/y").value()[0], 8) << guarded << ": its own value only";
    pipeline.input<float>("policy/x").value()[0] = kNaN;
    ASSERT_EQ(pipeline.step(), StepResult::kOk);
    EXPECT_EQ(pipeline.feedback_input(guarded).value().as<float>().value()[0], 3);
  }
}

TEST_F(GuardTest, PoisonedStateDoesNotSurviveAReset) {
  const auto q = pipeline_.input<float>("policy/q").value();
  pipeline_.reset();
  ASSERT_EQ(step(1, 1, 1), StepResult::kOk);
  const auto good = action();
  for (const auto mode : {ResetMode::kExported, ResetMode::kZeros}) {
    for (int steps = 1; steps < 4; ++steps) {  // either of the buffers that take turns
      for (int i = 0; i < steps; ++i) {
        q[0] = kNaN;
        ASSERT_EQ(step(1, 1, 1), StepResult::kOk);
      }
      EXPECT_TRUE(std::isnan(state()[0]));
      q[0] = 0;
      ASSERT_TRUE(pipeline_.reset(mode).ok());
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(step(1, 1, 1), StepResult::kOk);
        for (const float value : state()) EXPECT_FALSE(std::isnan(value));
        for (const float value : action()) EXPECT_FALSE(std::isnan(value));
      }
      pipeline_.reset();
      ASSERT_EQ(step(1, 1, 1), StepResult::kOk);
      EXPECT_EQ(action(), good);
    }
  }
}

TEST_F(GuardTest, WhatCannotBeRightIsRefusedBeforeTheFirstStep) {
  expect_bad({{.port = "policy/actions"}}, StatusCode::kNotFound,
             {"policy/actions", "policy/action (output)", "policy/q (input)", "policy/h_in (feedback input)"});
  expect_bad({{.port = "policy/q", .role = PortRole::kOutput}}, StatusCode::kNotFound, {"no output \"policy/q\""});
  expect_bad({{.port = "policy/q"}, {.port = "policy/q"}}, StatusCode::kInvalidArgument, {"policy/q has two rules"});
  expect_bad({{.port = "policy/q", .elements = {{"toe", {.lower = 0}}}}}, StatusCode::kInvalidArgument,
             {"policy/q", "\"toe\"", "hip, knee, ankle"});
  expect_bad({{.port = "policy/q", .elements = {{"[0,3]", {.lower = 0}}}}}, StatusCode::kInvalidArgument, {"[0,3]"});
  expect_bad({{.port = "policy/q", .elements = {{"hip", {}}, {"hip", {}}}}}, StatusCode::kInvalidArgument, {"twice"});
  expect_bad({{.port = "policy/q", .all = {.lower = 1, .upper = -1}}}, StatusCode::kInvalidArgument,
             {"policy/q[0,0] (hip)", "lower 1 and upper -1"});
  expect_bad({{.port = "policy/q", .all = {.lower = NAN}}}, StatusCode::kInvalidArgument, {"lower", "nan"});
  expect_bad({{.port = "policy/q", .all = {.per_step = 0}}}, StatusCode::kInvalidArgument, {"per_step", "above 0"});
  expect_bad({{.port = "policy/q", .all = {.lower = 1e39}}}, StatusCode::kInvalidArgument, {"1e+39"});
  expect_bad({{.port = "policy/q", .non_finite = GuardAction::kClamp}}, StatusCode::kInvalidArgument,
             {"non_finite", "pass, hold or fail"});
  use({{.port = "policy/q", .elements = {{"[0,2]", {.lower = 0}}}}});
  expect_bad({{.port = "policy/actions"}}, StatusCode::kNotFound, {"policy/actions"});
  use({});
  EXPECT_TRUE(pipeline_.guards().empty());
}

TEST(Guards, ARateByTimeNeedsAFrequency) {
  RobotBundle bundle("no_frequency");
  bundle.spec().pipeline.configs = {};
  Pipeline pipeline = bundle.load();
  expect_refused(pipeline.set_guards({{.port = "policy/q", .all = {.per_second = 1}}}), StatusCode::kInvalidArgument,
                 {"per_second", "frequency", "per_step"});
  LoadOptions options;
  options.prepare = false;
  options.engine.prefer = engine::Prefer::kNative;
  auto later = Pipeline::load(bundle.write(), options);
  ASSERT_TRUE(later.ok());
  expect_refused(later.value().set_guards({{.port = "policy/q"}}), StatusCode::kFailedPrecondition, {"prepare()"});
}

TEST(Guards, AnInputAndAnOutputOfOneName) {
  RobotBundle bundle("same_name");
  native::ModelMaker maker;
  maker.input("x_in", {1, 2}).output("x", {1, 2}).node("Identity", {"x_in"}, {"x"});
  std::ofstream(bundle.folder() / "policy.onnx", std::ios::binary) << maker.bytes();
  bundle.spec().models[0].inputs = {{.name = "x_in", .shape = {1, 2}}};
  bundle.spec().models[0].outputs = {{.name = "x", .shape = {1, 2}}};
  bundle.spec().pipeline.feedback_flow = {};
  bundle.spec().pipeline.inputs = {{"policy", {"x_in"}}};
  bundle.spec().pipeline.outputs = {{"policy", {"x"}}};
  bundle.drop_initial_values();
  Pipeline pipeline = bundle.load();
  expect_refused(pipeline.set_guards({{.port = "policy/x"}}), StatusCode::kInvalidArgument,
                 {"policy/x_in (input)", "policy/x (output)", "side"});
  EXPECT_TRUE(pipeline.set_guards({{.port = "policy/x", .role = PortRole::kOutput}}).ok());
}

TEST_F(GuardTest, EveryElementIsAnEvent) {
  use({{.port = "policy/chunk", .all = {.upper = 0}}, {.port = "policy/action", .all = {.upper = 0}}});
  const auto q = pipeline_.input<float>("policy/q").value();
  q[0] = q[1] = q[2] = 1;
  ASSERT_EQ(step(0, 0, 0), StepResult::kOk);
  EXPECT_EQ(pipeline_.guard_event_count(), 9U + 3U);
  EXPECT_EQ(pipeline_.guard_events().size(), 12U);
}

constexpr const char* kFile = R"(guards:
  policy/action:
    side: output
    non_finite: hold
    bounds: fail
    rate: pass
    lower: -1
    upper: 1.5
    per_second: 8
    elements:
      knee: {upper: 0.5, per_step: 0.1}
  policy/q: {}
)";

TEST(GuardFile, SaysWhatTheCodeSays) {
  const GuardRules rules = parse_guards(kFile).value();
  const PortGuard action{.port = "policy/action",
                         .role = PortRole::kOutput,
                         .non_finite = GuardAction::kHold,
                         .bounds = GuardAction::kFail,
                         .rate = GuardAction::kPass,
                         .all = {.lower = -1, .upper = 1.5, .per_second = 8},
                         .elements = {{"knee", {.upper = 0.5, .per_step = 0.1}}}};
  EXPECT_EQ(rules, (GuardRules{action, {.port = "policy/q"}}));
  EXPECT_EQ(parse_guards(R"({"guards": {"policy/q": {"lower": -1e-3}}})").value()[0].all.lower, -1e-3) << "JSON";
  TestFolder folder("guard_file");
  const fs::path file = folder.path() / "limits.yaml";
  std::ofstream(file) << kFile;
  EXPECT_EQ(read_guards(file).value(), rules);
  EXPECT_EQ(read_guards(folder.path() / "none.yaml").status().code(), StatusCode::kIo);
  std::ofstream(file) << "guards: 3";
  expect_refused(read_guards(file).status(), StatusCode::kDataLoss, {"limits.yaml", "line 1", "guards"});
}

TEST(GuardFile, WhatIsWrongIsNamedWithItsLine) {
  const auto refuse = [](const std::string& text, const std::vector<std::string>& words) {
    expect_refused(parse_guards(text).status(), StatusCode::kDataLoss, words);
  };
  refuse("", {"a map"});
  refuse("limits: {}", {"limits", "guards"});
  refuse("guards:\n  policy/q:\n    uper: 1\n", {"line 3", "guards[policy/q].uper", "upper"});
  refuse("guards:\n  policy/q:\n    upper: high\n", {"line 3", "guards[policy/q].upper", "a number", "high"});
  refuse("guards:\n  policy/q:\n    bounds: stop\n", {"pass, clamp, hold or fail", "stop"});
  refuse("guards:\n  policy/q:\n    non_finite: clamp\n", {"pass, hold or fail", "clamp"});
  refuse("guards:\n  policy/q:\n    side: up\n", {"input, output or feedback", "up"});
  refuse("guards:\n  policy/q:\n    elements: [hip]\n", {"a map", "a list"});
  refuse("guards:\n  policy/q:\n    elements: {hip: {lowr: 1}}\n", {"elements.hip", "lowr"});
  refuse("guards:\n  policy/q: {}\n  policy/q: {}\n", {"line 3", "policy/q"});
  refuse("guards: {policy/q: &x {}}", {"anchor"});
}

TEST(GuardFile, TheBundlesSemanticsSayTheSame) {
  using bundle::YamlMap;
  RobotBundle bundle("semantics");
  bundle::Model& model = bundle.spec().models[0];
  model.outputs[0].extra = {
      {kGuardKey, YamlMap{{"lower", -1}, {"elements", YamlMap{{"knee", YamlMap{{"upper", 2.5}}}}}}}};
  model.outputs[2].extra = {{kGuardKey, YamlMap{{"non_finite", "hold"}}}};
  model.inputs[0].extra = {{kGuardKey, YamlMap{}}};
  Pipeline pipeline = bundle.load();
  const GuardRules rules = guards_of(pipeline.spec()).value();
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0], (PortGuard{.port = "policy/q", .role = PortRole::kInput}));
  EXPECT_EQ(rules[1].elements, (std::vector<std::pair<std::string, Limits>>{{"knee", {.upper = 2.5}}}));
  EXPECT_EQ(rules[2].port, "policy/h_in") << "the output of state stands for what is fed back";
  EXPECT_TRUE(pipeline.set_guards(rules).ok());
  model.outputs[0].extra = {{kGuardKey, YamlMap{{"lower", "low"}}}};
  expect_refused(guards_of(bundle.spec()).status(), StatusCode::kDataLoss,
                 {"models.policy.outputs.action.leapp_guard.lower: expected a number"});
  EXPECT_EQ(guards_of(bundle.spec()).status().message().find("line"), std::string::npos);
}

TEST(GuardDtypes, WholeNumbersAndHalfPrecision) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("guard_dtypes");
  std::vector<bundle::Port> inputs;
  std::vector<bundle::Port> outputs;
  std::vector<std::string> ins;
  std::vector<std::string> outs;
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kBFloat16, DType::kInt8,
                            DType::kInt16, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool}) {
    const std::string name(dtype_name(dtype));
    inputs.push_back({.name = name + "_in", .dtype = dtype, .shape = {2, 3}});
    outputs.push_back({.name = name + "_out", .dtype = dtype, .shape = {2, 3}});
    ins.push_back(name + "_in");
    outs.push_back(name + "_out");
  }
  bundle.add("n", "every_type", inputs, outputs);
  bundle.spec.pipeline.inputs = {{"n", ins}};
  bundle.spec.pipeline.outputs = {{"n", outs}};
  auto loaded = Pipeline::load(bundle.write(), test_options());
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Pipeline& pipeline = loaded.value();
  const Limits limits{.lower = -2.5, .upper = 2.5, .per_step = 1};
  ASSERT_TRUE(pipeline
                  .set_guards({{.port = "n/float64_out", .all = limits},
                               {.port = "n/float16_out", .all = limits},
                               {.port = "n/int64_out", .all = limits},
                               {.port = "n/uint8_in", .all = {.upper = 7}},
                               {.port = "n/bool_in"}})
                  .ok());
  pipeline.input<double>("n/float64_in").value()[5] = 9;
  pipeline.input<std::uint16_t>("n/float16_in").value()[5] = 0x7c00;  // infinite
  pipeline.input<std::int64_t>("n/int64_in").value()[5] = -9;
  pipeline.input<std::uint8_t>("n/uint8_in").value()[5] = 200;
  ASSERT_EQ(pipeline.step(), StepResult::kRefused);
  EXPECT_EQ(pipeline.input<std::uint8_t>("n/uint8_in").value()[5], 7) << "what the model saw";
  pipeline.input<std::uint8_t>("n/uint8_in").value()[5] = 200;
  pipeline.input<std::uint16_t>("n/float16_in").value()[5] = 0x4600;  // 6
  ASSERT_EQ(pipeline.step(), StepResult::kOk);
  EXPECT_EQ(pipeline.output<double>("n/float64_out").value()[5], 2.5);
  EXPECT_EQ(pipeline.output<std::uint16_t>("n/float16_out").value()[5], 0x4100);  // 2.5
  EXPECT_EQ(pipeline.output<std::int64_t>("n/int64_out").value()[5], -2) << "the nearest whole number within";
  EXPECT_EQ(pipeline.output<std::uint8_t>("n/uint8_out").value()[5], 7);
  EXPECT_EQ(pipeline.guard_text(pipeline.guard_events()[0]), "n/uint8_in[1,2]: 200 is above 7: clamped to 7");
  pipeline.input<double>("n/float64_in").value()[5] = 0;
  pipeline.input<std::int64_t>("n/int64_in").value()[5] = 2;
  ASSERT_EQ(pipeline.step(), StepResult::kOk);
  EXPECT_EQ(pipeline.output<double>("n/float64_out").value()[5], 1.5);
  EXPECT_EQ(pipeline.output<std::int64_t>("n/int64_out").value()[5], -1);
  expect_refused(pipeline.set_guards({{.port = "n/bool_in", .all = {.upper = 1}}}), StatusCode::kInvalidArgument,
                 {"n/bool_in", "bool"});
}

}  // namespace
}  // namespace leapp::runtime
