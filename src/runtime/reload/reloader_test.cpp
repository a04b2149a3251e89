// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/runtime/reloader.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <semaphore>
#include <thread>

#include "leapp/runtime/chunks.h"
#include "leapp/runtime/loop.h"
#include "leapp/runtime/name_map.h"
#include "leapp/runtime/recorder.h"
#include "runtime/reload/reloader_access.h"
#include "runtime/reload/swap_testing.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

using namespace std::chrono_literals;

ReloadReport reload(Reloader& reloader, Pipeline& pipeline, const fs::path& bundle) {
  reloader.request(bundle);
  const ReloadReport loaded = reloader.wait(kLong);
  if (loaded.state != ReloadState::kReady) return loaded;
  (void)reloader.swap_if_ready(pipeline);
  return reloader.wait(kLong, false);
}

float count(Pipeline& pipeline) { return pipeline.output<float>("policy/count").value()[0]; }

TEST(Reloader, SwapsBetweenTwoSteps) {
  const SwapBundle one("swap_one", {.gain = 1});
  const SwapBundle two("swap_two", {.gain = 2});
  Pipeline pipeline = load_native(one.path());
  Reloader reloader = make_reloader(pipeline);
  EXPECT_EQ(reloader.report().state, ReloadState::kIdle);
  EXPECT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kNothing);
  EXPECT_EQ(step(pipeline, 3), 3);
  EXPECT_EQ(reloader.request(two.path()), 1U);
  const ReloadReport loaded = reloader.wait(kLong);
  ASSERT_EQ(loaded.state, ReloadState::kReady) << loaded.status.message();
  EXPECT_EQ(loaded.number, 1U);
  EXPECT_EQ(loaded.bundle, two.path());
  EXPECT_EQ(step(pipeline, 3), 3) << "not before it is asked for";
  EXPECT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kSwapped);
  EXPECT_EQ(pipeline.output<float>("policy/action").value()[0], 3) << "outputs hold what they held";
  EXPECT_EQ(pipeline.file(), two.path());
  EXPECT_EQ(step(pipeline, 4), 8);
  EXPECT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kNothing);
  EXPECT_EQ(reloader.wait(kLong, false).state, ReloadState::kSwapped);
  EXPECT_EQ(reloader.swaps(), 1U);
}

// Everything that a controller has made before the swap goes on working after it.
TEST(Reloader, WhatTheCallerHoldsStays) {
  const SwapBundle one("held_one", {.gain = 1, .period_ms = 10});
  const SwapBundle two("held_two", {.gain = 2, .reverse = true, .period_ms = 10});
  Pipeline pipeline = load_native(one.path());
  const std::span<float> q = pipeline.input<float>("policy/q").value();
  const TensorView view = pipeline.input("policy/q").value();
  const std::span<const float> action = pipeline.output<float>("policy/action").value();
  const std::vector<std::string>& inputs = pipeline.inputs();
  const std::vector<std::string>& outputs = pipeline.outputs();
  const std::vector<std::string> robot{"ankle", "hip", "knee"};
  NameMap positions = NameMap::make(pipeline.input_of_kind("state/joint/position").value(), 1, robot).value();
  const NameMap targets = NameMap::make(pipeline.output_port("policy/action").value(), 1, robot).value();
  ChunkPlayer player = ChunkPlayer::make(pipeline.output_port("policy/other_out").value(), {}).value();
  Reloader reloader = make_reloader(pipeline);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(reload(reloader, pipeline, two.path()).state, ReloadState::kSwapped);
    ASSERT_EQ(reload(reloader, pipeline, one.path()).state, ReloadState::kSwapped);
  }
  ASSERT_EQ(reload(reloader, pipeline, two.path()).state, ReloadState::kSwapped);
  EXPECT_EQ(pipeline.input<float>("policy/q").value().data(), q.data());
  EXPECT_EQ(pipeline.output_port("policy/action").value().data, action.data());
  EXPECT_EQ(std::vector(view.shape.begin(), view.shape.end()), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(inputs, (std::vector<std::string>{"policy/q", "policy/other"}));
  EXPECT_EQ(&pipeline.inputs(), &inputs);
  EXPECT_EQ(&pipeline.outputs(), &outputs);
  ASSERT_TRUE(positions.write(std::array{30.0, 10.0, 20.0}));
  EXPECT_EQ(values_of(q), (std::vector<float>{10, 20, 30}));
  pipeline.input<float>("policy/other").value()[1] = 5;
  ASSERT_EQ(pipeline.step(), StepResult::kOk);
  EXPECT_EQ(values_of(action), (std::vector<float>{20, 40, 60}));
  std::array<double, 3> target{};
  ASSERT_TRUE(targets.read(target));
  EXPECT_EQ(target, (std::array{60.0, 20.0, 40.0}));
  player.take(Time(1s));
  EXPECT_EQ(player.play(Time(1s) + 10ms), ChunkResult::kPlaying);
  EXPECT_EQ(static_cast<const float*>(player.port().data)[0], 5);
  const std::array<float, 2> other{7, 8};
  const std::array<std::int64_t, 2> shape{1, 2};
  ASSERT_TRUE(
      pipeline.set_input_value("policy/other", {const_cast<float*>(other.data()), DType::kFloat32, shape}).ok());
  ASSERT_EQ(pipeline.step(), StepResult::kOk);
  EXPECT_EQ(values_of(pipeline.output<float>("policy/other_out").value()), (std::vector<float>{7, 8}));
}

TEST(Reloader, StateIsResetUnlessAskedFor) {
  const SwapBundle one("state_one");
  const SwapBundle two("state_two", {.gain = 2});
  for (const StateOnSwap rule : {StateOnSwap::kReset, StateOnSwap::kKeepIfSame, StateOnSwap::kKeep}) {
    for (const ResetMode mode : {ResetMode::kExported, ResetMode::kZeros}) {
      Pipeline pipeline = load_native(one.path());
      Reloader reloader = make_reloader(pipeline, {.state = rule, .reset = mode});
      for (int i = 0; i < 5; ++i) (void)step(pipeline, 0);  // an odd number: the state's two buffers take turns
      EXPECT_EQ(count(pipeline), 105);
      const ReloadReport report = reload(reloader, pipeline, two.path());
      ASSERT_EQ(report.state, ReloadState::kSwapped) << report.status.message();
      EXPECT_EQ(report.state_kept, rule != StateOnSwap::kReset);
      (void)step(pipeline, 0);
      EXPECT_EQ(count(pipeline), rule != StateOnSwap::kReset ? 106 : mode == ResetMode::kExported ? 101 : 1);
      pipeline.reset();
      (void)step(pipeline, 0);
      EXPECT_EQ(count(pipeline), 101) << "what the new bundle begins with";
    }
  }
}

TEST(Reloader, OtherState) {
  const SwapBundle one("other_state_one");
  const SwapBundle names("other_state_names", {.state = "m"});
  const SwapBundle shape("other_state_shape", {.states = 2});
  const SwapBundle none("other_state_none", {.state = ""});
  for (const SwapBundle* other : {&names, &shape, &none}) {
    Pipeline pipeline = load_native(one.path());
    (void)step(pipeline, 0);
    Reloader keeping = make_reloader(pipeline, {.state = StateOnSwap::kKeep});
    keeping.request(other->path());
    ASSERT_EQ(keeping.wait(kLong).state, ReloadState::kReady);
    EXPECT_EQ(keeping.swap_if_ready(pipeline), SwapResult::kRefused);
    expect_refused(keeping.wait(kLong, false).status, StatusCode::kInvalidArgument, {"the state is to be kept"});
    (void)step(pipeline, 0);
    EXPECT_EQ(count(pipeline), 102) << "nothing has happened";
    Reloader reloader = make_reloader(pipeline, {.state = StateOnSwap::kKeepIfSame});
    const ReloadReport report = reload(reloader, pipeline, other->path());
    ASSERT_EQ(report.state, ReloadState::kSwapped) << report.status.message();
    EXPECT_FALSE(report.state_kept);
    (void)step(pipeline, 0);
    EXPECT_EQ(count(pipeline), other == &none ? -1 : 101);
  }
}

TEST(Reloader, PortsThatDoNotAgreeAreRefusedWithBothSides) {
  const SwapBundle one("ports_one");
  Pipeline pipeline = load_native(one.path());
  Reloader reloader = make_reloader(pipeline);
  const auto refusal = [&](const char* name, const SwapBundleOptions& options) {
    const SwapBundle other(name, options);
    const ReloadReport report = reload(reloader, pipeline, other.path());
    EXPECT_EQ(report.state, ReloadState::kFailed);
    EXPECT_NE(report.status.message().find(other.path().string()), std::string::npos);
    EXPECT_EQ(step(pipeline, 3), 3) << "what ran runs on";
    return report.status;
  };
  const auto expect = [](const Status& status, const std::vector<std::string>& words) {
    expect_refused(status, StatusCode::kInvalidArgument, words);
  };
  expect(refusal("ports_shape", {.joints = 2, .names = {"hip", "knee"}}),
         {"policy/q: float32[1,3] in the running bundle, float32[1,2] in the new one",
          "policy/action: float32[1,3] in the running bundle, float32[1,2] in the new one"});
  expect(refusal("ports_order", {.names = {"knee", "hip", "ankle"}}),
         {"policy/q: names of axis 1 [hip, knee, ankle] in the running bundle, [knee, hip, ankle] in the new one"});
  expect(refusal("ports_name", {.input = "p"}),
         {"the input policy/q is only in the running bundle", "the input policy/p is only in the new one"});
  expect(refusal("ports_kind", {.kind = "state/joint/velocity"}),
         {"policy/q: kind \"state/joint/position\" in the running bundle, \"state/joint/velocity\" in the new one"});
  expect(refusal("ports_frequency", {.frequency = 100}),
         {"frequency: 50 Hz in the running bundle, 100 Hz in the new one"});
  expect(refusal("ports_moments", {.period_ms = 10}),
         {"policy/other_out: moments none in the running bundle, axis 1 every 10 ms in the new one"});
  EXPECT_EQ(reloader.swaps(), 0U);
}

TEST(Reloader, ABundleThatIsNoneLeavesTheRunningOneRunning) {
  const SwapBundle one("broken_one");
  const SwapBundle two("broken_two", {.gain = 2});
  Pipeline pipeline = load_native(one.path());
  Reloader reloader = make_reloader(pipeline);
  expect_refused(reload(reloader, pipeline, "/nowhere/walk.yaml").status, StatusCode::kIo, {"/nowhere/walk.yaml"});
  std::ofstream(two.folder() / "policy.onnx") << "no model";
  const ReloadReport report = reload(reloader, pipeline, two.path());
  EXPECT_EQ(report.state, ReloadState::kFailed);
  expect_refused(report.status, report.status.code(), {"policy"});
  EXPECT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kNothing);
  EXPECT_EQ(step(pipeline, 3), 3);
  const SwapBundle three("broken_three", {.gain = 3});
  EXPECT_EQ(reload(reloader, pipeline, three.path()).state, ReloadState::kSwapped) << "and the next is not held up";
  EXPECT_EQ(step(pipeline, 3), 9);
}

TEST(Reloader, AnExceptionWhileLoadingIsAFailure) {
  const SwapBundle one("exception_one");
  Pipeline pipeline = load_native(one.path());
  auto reloader = ReloaderAccess::make(pipeline, {}, [](const fs::path&, const LoadOptions&) -> Result<Pipeline> {
    throw std::runtime_error("something odd");
  });
  ASSERT_TRUE(reloader.ok());
  expect_refused(reload(reloader.value(), pipeline, "x.yaml").status, StatusCode::kInternal,
                 {"x.yaml", "something odd"});
}

TEST(Reloader, TheNewestRequestCounts) {
  const SwapBundle one("newest_one");
  const SwapBundle two("newest_two", {.gain = 2});
  const SwapBundle three("newest_three", {.gain = 3});
  Pipeline pipeline = load_native(one.path());
  std::counting_semaphore<> may_load(0);
  std::atomic<int> loads{0};
  auto made = ReloaderAccess::make(pipeline, {}, [&](const fs::path& bundle, const LoadOptions&) {
    ++loads;
    may_load.acquire();
    return Pipeline::load(bundle, native_options());
  });
  ASSERT_TRUE(made.ok());
  Reloader& reloader = made.value();
  // The second is never begun, the first is loaded for nothing.
  reloader.request(two.path());
  while (loads == 0) std::this_thread::yield();
  reloader.request(two.path());
  EXPECT_EQ(reloader.request(three.path()), 3U);
  may_load.release(2);
  ASSERT_EQ(reloader.wait(kLong).state, ReloadState::kReady);
  EXPECT_EQ(reloader.report().number, 3U);
  EXPECT_EQ(loads, 2);
  EXPECT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kSwapped);
  EXPECT_EQ(step(pipeline, 1), 3);
  // One that was ready is withdrawn, whatever becomes of the newer one.
  may_load.release(2);
  reloader.request(two.path());
  ASSERT_EQ(reloader.wait(kLong).state, ReloadState::kReady);
  reloader.request("/nowhere.yaml");
  EXPECT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kNothing);
  EXPECT_EQ(reloader.wait(kLong).state, ReloadState::kFailed);
  EXPECT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kNothing);
  EXPECT_EQ(step(pipeline, 1), 3);
}

TEST(Reloader, GuardsStay) {
  const SwapBundle one("guards_one");
  const SwapBundle two("guards_two", {.gain = 2, .reverse = true});
  Pipeline pipeline = load_native(one.path());
  ASSERT_TRUE(pipeline
                  .set_guards({{.port = "policy/q", .all = {.upper = 10}},
                               {.port = "policy/action", .all = {.per_step = 1}},
                               {.port = "policy/n", .bounds = GuardAction::kFail, .all = {.upper = 104}}})
                  .ok());
  ASSERT_TRUE(pipeline.set_last_good("policy/action", std::array{0.0, 0.0, 0.0}).ok());
  Reloader reloader = make_reloader(pipeline, {.state = StateOnSwap::kKeep});
  EXPECT_EQ(step(pipeline, 20), 1) << "from 0 by 1";
  EXPECT_EQ(pipeline.input<float>("policy/q").value()[0], 10);
  EXPECT_EQ(pipeline.guard_event_count(), 2U);
  ASSERT_EQ(reload(reloader, pipeline, two.path()).state, ReloadState::kSwapped);
  EXPECT_EQ(step(pipeline, 20), 2) << "the motors are where they were";
  EXPECT_EQ(pipeline.input<float>("policy/q").value()[0], 10);
  EXPECT_EQ(step(pipeline, 20), 3);
  const std::string text = pipeline.guard_text(pipeline.guard_events()[1]);
  EXPECT_EQ(text, "policy/action[0,0] (hip): 20 is more than 1 from the step before: clamped to 3");
  EXPECT_EQ(step(pipeline, 20), 4);
  EXPECT_EQ(pipeline.step(), StepResult::kRefused) << "the state's guard looks at the new bundle's state: 105";
  EXPECT_EQ(count(pipeline), 104);
  EXPECT_EQ(pipeline.guards().size(), 3U);
}

TEST(Reloader, ARecordingEndsWithItsBundle) {
  const SwapBundle one("recorded_one", {.gain = 1});
  const SwapBundle two("recorded_two", {.gain = 2});
  Pipeline pipeline = load_native(one.path());
  Reloader reloader = make_reloader(pipeline);
  const fs::path folder = one.path().parent_path();
  Recorder first = Recorder::make(pipeline, folder / "first.mcap").value();
  (void)step(pipeline, 3);
  EXPECT_TRUE(first.record());
  ASSERT_EQ(reload(reloader, pipeline, two.path()).state, ReloadState::kSwapped);
  (void)step(pipeline, 3);
  EXPECT_FALSE(first.record());
  EXPECT_NE(first.status().message().find("another bundle was swapped in"), std::string::npos);
  Recorder second = Recorder::make(pipeline, folder / "second.mcap").value();
  (void)step(pipeline, 3);
  EXPECT_TRUE(second.record());
  EXPECT_EQ(first.close().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(second.close().ok());
  EXPECT_EQ(first.summary().written, 1U);
  EXPECT_EQ(second.summary().written, 1U);
}

TEST(Reloader, AGuardOnStateThatIsGoneIsAReasonToRefuse) {
  const SwapBundle one("guarded_one");
  const SwapBundle names("guarded_names", {.gain = 2, .state = "m"});
  const SwapBundle shape("guarded_shape", {.gain = 2, .states = 2});
  Pipeline pipeline = load_native(one.path());
  ASSERT_TRUE(pipeline.set_guards({{.port = "policy/n"}}).ok());
  Reloader reloader = make_reloader(pipeline);
  for (const SwapBundle* other : {&names, &shape}) {
    reloader.request(other->path());
    ASSERT_EQ(reloader.wait(kLong).state, ReloadState::kReady);
    EXPECT_EQ(reloader.swap_if_ready(pipeline), SwapResult::kRefused);
    expect_refused(reloader.wait(kLong, false).status, StatusCode::kInvalidArgument, {"guard", "policy/n_in"});
    EXPECT_EQ(step(pipeline, 3), 3);
  }
  ASSERT_TRUE(pipeline.set_guards({}).ok());
  EXPECT_EQ(reload(reloader, pipeline, names.path()).state, ReloadState::kSwapped);
}

TEST(Reloader, SignaturesAreAskedFor) {
  const bundle::KeyPair ours = bundle::make_key_pair().value();
  const bundle::KeyPair theirs = bundle::make_key_pair().value();
  const SwapBundle one("trust_one");
  const SwapBundle two("trust_two", {.gain = 2});
  one.sign(ours, 5);
  Pipeline pipeline = load_native(one.path(), {ours.public_pem});
  ASSERT_TRUE(pipeline.signature().has_value());
  EXPECT_EQ(pipeline.signature()->serial, 5U);
  Reloader reloader = make_reloader(pipeline, {.load = native_options({ours.public_pem})});
  expect_refused(reload(reloader, pipeline, two.path()).status, StatusCode::kDataLoss, {"found no manifest"});
  two.sign(theirs, 6);
  expect_refused(reload(reloader, pipeline, two.path()).status, StatusCode::kDataLoss,
                 {ours.fingerprint, theirs.fingerprint});
  two.sign(ours, 4);
  expect_refused(reload(reloader, pipeline, two.path()).status, StatusCode::kDataLoss,
                 {"expected serial 5 or later, found 4"});
  EXPECT_EQ(step(pipeline, 3), 3);
  two.sign(ours, 6);
  const ReloadReport report = reload(reloader, pipeline, two.path());
  ASSERT_EQ(report.state, ReloadState::kSwapped) << report.status.message();
  EXPECT_EQ(report.signature.value().key, ours.fingerprint);
  EXPECT_EQ(step(pipeline, 3), 6);
  EXPECT_EQ(pipeline.signature()->serial, 6U);
  expect_refused(reload(reloader, pipeline, one.path()).status, StatusCode::kDataLoss,
                 {"expected serial 6 or later, found 5"});
}

// Two reloaders of one pipeline know nothing of each other; the pipeline itself knows its serial.
TEST(Reloader, AnEarlierSerialDoesNotSlipIn) {
  const bundle::KeyPair key = bundle::make_key_pair().value();
  const SwapBundle one("slip_one");
  const SwapBundle two("slip_two", {.gain = 2});
  const SwapBundle three("slip_three", {.gain = 3});
  one.sign(key, 1);
  two.sign(key, 2);
  three.sign(key, 3);
  Pipeline pipeline = load_native(one.path(), {key.public_pem});
  Reloader first = make_reloader(pipeline, {.load = native_options({key.public_pem})});
  Reloader second = make_reloader(pipeline, {.load = native_options({key.public_pem})});
  first.request(two.path());
  ASSERT_EQ(first.wait(kLong).state, ReloadState::kReady);
  ASSERT_EQ(reload(second, pipeline, three.path()).state, ReloadState::kSwapped);
  EXPECT_EQ(first.swap_if_ready(pipeline), SwapResult::kRefused);
  expect_refused(first.wait(kLong, false).status, StatusCode::kDataLoss, {"expected serial 3 or later", "found 2"});
  EXPECT_EQ(step(pipeline, 1), 3);
}

TEST(Reloader, AnotherPipelineIsRefused) {
  const SwapBundle one("mine_one");
  Pipeline mine = load_native(one.path());
  Pipeline other = load_native(one.path());
  Reloader reloader = make_reloader(mine);
  reloader.request(one.path());
  ASSERT_EQ(reloader.wait(kLong).state, ReloadState::kReady);
  EXPECT_EQ(reloader.swap_if_ready(other), SwapResult::kRefused);
  expect_refused(reloader.wait(kLong, false).status, StatusCode::kInvalidArgument, {"the pipeline that the reloader"});
  Pipeline moved = std::move(mine);
  EXPECT_EQ(reload(reloader, moved, one.path()).state, ReloadState::kSwapped) << "moved, it is still the same";
}

TEST(Reloader, OptionsThatCannotBeRight) {
  const SwapBundle one("options_one");
  Pipeline pipeline = load_native(one.path());
  const auto refusal = [&](ReloaderOptions options) { return Reloader::make(pipeline, std::move(options)).status(); };
  expect_refused(refusal({.load = native_options({"-----BEGIN PUBLIC KEY-----\n"})}), StatusCode::kInvalidArgument,
                 {"trusted key 1"});
  expect_refused(refusal({.poll = 0ms}), StatusCode::kInvalidArgument, {"poll", "found 0 ms"});
  expect_refused(refusal({.cpus = {-1}}), StatusCode::kInvalidArgument, {"cpus", "-1"});
  expect_refused(refusal({.nice = 20}), StatusCode::kInvalidArgument, {"nice", "0 to 19", "found 20"});
  LoadOptions unprepared = native_options();
  unprepared.prepare = false;
  Pipeline raw = Pipeline::load(one.path(), unprepared).value();
  expect_refused(Reloader::make(raw).status(), StatusCode::kFailedPrecondition, {"prepare()"});
}

TEST(Reloader, EndsWhileSomethingIsReadyOrLoading) {
  const SwapBundle one("ends_one");
  Pipeline pipeline = load_native(one.path());
  { const Reloader nothing = make_reloader(pipeline); }
  {
    Reloader ready = make_reloader(pipeline);
    ready.request(one.path());
    ASSERT_EQ(ready.wait(kLong).state, ReloadState::kReady);
  }
  {
    Reloader loading = make_reloader(pipeline);
    loading.request(one.path());
  }
  EXPECT_EQ(step(pipeline, 3), 3);
}

// Sanitizers take fifty times as long.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST(Reloader, AThousandSwapsDuringAMillionStepsLoseNone) {
  const bool whole = !kSanitized || std::getenv("LEAPP_LONG") != nullptr;
  const std::uint64_t swaps = whole ? 1'000 : 40;
  const std::uint64_t steps = whole ? 1'000'000 : 20'000;
  const SwapBundle one("many_one", {.gain = 1});
  const SwapBundle two("many_two", {.gain = 2});
  Pipeline pipeline = load_native(one.path());
  const auto q = pipeline.input<float>("policy/q").value();
  const auto action = pipeline.output<float>("policy/action").value();
  const auto counted = pipeline.output<float>("policy/count").value();
  ASSERT_TRUE(pipeline.set_guards({{.port = "policy/q"}, {.port = "policy/action"}, {.port = "policy/n"}}).ok());
  Reloader reloader = make_reloader(pipeline, {.state = StateOnSwap::kKeep});
  std::atomic<std::uint64_t> done{0};
  std::thread requests([&] {
    for (std::uint64_t i = 0; i < swaps; ++i) {
      while (done < i * (steps / swaps)) std::this_thread::yield();
      reloader.request(i % 2 == 0 ? two.path() : one.path());
      if (reloader.wait(kLong, false).state != ReloadState::kSwapped) return;
    }
  });
  std::uint64_t wrong = 0;
  std::uint64_t refused = 0;
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; done < steps || taken + refused < swaps; ++i) {
    const SwapResult result = reloader.swap_if_ready(pipeline);
    taken += result == SwapResult::kSwapped ? 1U : 0U;
    refused += result == SwapResult::kRefused ? 1U : 0U;
    const auto value = static_cast<float>(i % 1000);
    q[0] = value;
    const bool fine = pipeline.step() == StepResult::kOk && action[0] == value * (taken % 2 == 0 ? 1.0F : 2.0F) &&
                      counted[0] == static_cast<float>(101 + i);
    wrong += fine ? 0U : 1U;
    ++done;
    if (i > 100 * steps) break;
    if (done >= (taken + 1) * (steps / swaps)) std::this_thread::yield();
  }
  requests.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(refused, 0U);
  EXPECT_EQ(taken, swaps);
  EXPECT_EQ(reloader.swaps(), swaps);
  EXPECT_GE(done, steps);
}

}  // namespace
}  // namespace leapp::runtime
