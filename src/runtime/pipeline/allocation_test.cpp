// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts every call of malloc and its relatives during a step, ours apart from the engine's. In a program of its own,
// which takes the place of the C library's functions.
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "engine/native/model_testing.h"
#include "engine/ort/ort_engine.h"
#include "leapp/runtime/chunks.h"
#include "leapp/runtime/loop.h"
#include "leapp/runtime/name_map.h"
#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/recorder.h"
#include "leapp/runtime/reloader.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/pipeline/pipeline_testing.h"
#include "runtime/reload/swap_testing.h"
#include "runtime/robot/first_frame_testing.h"
#include "runtime/robot/robot_testing.h"

extern "C" {  // NOLINTBEGIN(bugprone-reserved-identifier): the C library's own names
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}  // NOLINTEND(bugprone-reserved-identifier)

namespace {

enum class Whose { kNobody, kOurs, kEngine };

thread_local Whose whose = Whose::kNobody;
std::atomic<long> ours{0};
std::atomic<long> engines{0};

void count() {
  if (whose == Whose::kOurs) ++ours;
  if (whose == Whose::kEngine) ++engines;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) {
  count();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? 12 : 0;
}
}

namespace leapp::runtime {
namespace {

/// Books what happens inside a run to the engine.
class CountingModel final : public engine::EngineModel {
 public:
  explicit CountingModel(std::unique_ptr<engine::EngineModel> model) : model_(std::move(model)) {}

  [[nodiscard]] const std::vector<engine::TensorInfo>& inputs() const override { return model_->inputs(); }
  [[nodiscard]] const std::vector<engine::TensorInfo>& outputs() const override { return model_->outputs(); }
  Result<std::size_t> prepare(const engine::Binding& binding) override { return model_->prepare(binding); }
  [[nodiscard]] bool run(std::size_t binding) noexcept override {
    const Whose before = std::exchange(whose, Whose::kEngine);
    const bool done = model_->run(binding);
    whose = before;
    return done;
  }
  [[nodiscard]] Status error() const override { return model_->error(); }

 private:
  std::unique_ptr<engine::EngineModel> model_;
};

class CountingEngine final : public engine::Engine {
 public:
  explicit CountingEngine(std::unique_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}

  [[nodiscard]] const std::string& description() const override { return engine_->description(); }
  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& source) override {
    LEAPP_ASSIGN_OR_RETURN(auto model, engine_->load(source));
    return std::unique_ptr<engine::EngineModel>(std::make_unique<CountingModel>(std::move(model)));
  }

 private:
  std::unique_ptr<engine::Engine> engine_;
};

/// As one model, and as three.
class Allocations : public ::testing::TestWithParam<bool> {};

TEST_P(Allocations, AStepMakesNoneOfOurs) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  constexpr int kSteps = 10'000;
  TestBundle bundle("allocations");
  TestBundle::make_recurrent(bundle);
  LoadOptions options = test_options();
  options.fuse = GetParam();
  ours = engines = 0;
  auto pipeline =
      PipelineAccess::load(bundle.write(), options, [&](const std::string&) -> Result<std::unique_ptr<engine::Engine>> {
        LEAPP_ASSIGN_OR_RETURN(auto engine, engine::open_onnxruntime(options.engine));
        return std::unique_ptr<engine::Engine>(std::make_unique<CountingEngine>(std::move(engine)));
      });
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  EXPECT_EQ(pipeline.value().fusion().ok(), GetParam()) << pipeline.value().fusion().message();
  const auto x = pipeline.value().input<float>("pre/x").value();
  bool failed = false;
  whose = Whose::kOurs;
  for (int step = 0; step < kSteps; ++step) {
    x[0] = static_cast<float>(step);
    failed = failed || pipeline.value().step() != StepResult::kOk;
  }
  pipeline.value().reset();
  whose = Whose::kNobody;
  EXPECT_FALSE(failed);
  EXPECT_EQ(ours.load(), 0);
  RecordProperty("engine_allocations_per_step", std::to_string(static_cast<double>(engines.load()) / kSteps));
  std::printf("ONNX Runtime: %.1f allocations per step of three nodes, %s\n",
              static_cast<double>(engines.load()) / kSteps, GetParam() ? "fused" : "a model each");
  EXPECT_GT(engines.load(), 0);  // the counting itself works
}

INSTANTIATE_TEST_SUITE_P(All, Allocations, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Fused" : "Separate"; });

/// A policy with a bit of everything: layers, a GRU, a norm, a softmax, a table that is read by index.
std::string policy_bytes() {
  const std::vector<float> numbers(64 * 64, 0.01F);
  const auto some = [&](std::size_t count) {
    return std::vector<float>(numbers.begin(), numbers.begin() + static_cast<long>(count));
  };
  native::ModelMaker maker;
  maker.input("obs", {1, 12}).input("h", {1, 1, 16}).input("i", {1}, DType::kInt64);
  maker.output("action", {1, 8}).output("next", {1, 1, 16}).output("row", {1, 8});
  maker.floats("w1", {12, 32}, some(384)).floats("b1", {32}, some(32)).floats("w2", {16, 8}, some(128));
  maker.floats("scale", {32}, some(32))
      .floats("table", {4, 8}, some(32))
      .ints("shape", {1, 1, 32})
      .ints("flat", {1, 16});
  maker.floats("gw", {1, 48, 32}, some(1536)).floats("gr", {1, 48, 16}, some(768)).floats("gb", {1, 96}, some(96));
  maker.node("Gemm", {"obs", "w1", "b1"}, {"a"}).node("Elu", {"a"}, {"e"});
  maker.node("LayerNormalization", {"e", "scale"}, {"n"}).node("Reshape", {"n", "shape"}, {"s"});
  maker.node("GRU", {"s", "gw", "gr", "gb", "", "h"}, {"", "next"}, {{"hidden_size", std::int64_t{16}}});
  maker.node("Reshape", {"next", "flat"}, {"f"}).node("MatMul", {"f", "w2"}, {"m"}).node("Softmax", {"m"}, {"action"});
  maker.node("Gather", {"table", "i"}, {"row"});
  return maker.bytes();
}

TEST(NativeSteps, AHundredThousandAllocateNothingAnywhere) {
  native::Running model(policy_bytes());
  ASSERT_TRUE(model.ok()) << model.why();
  ours = 0;
  bool failed = false;
  whose = Whose::kOurs;
  for (int step = 0; step < 100'000; ++step) {
    model.data<float>("obs")[0] = static_cast<float>(step);
    model.data<std::int64_t>("i")[0] = step % 5;  // every fifth is out of range: failing allocates nothing either
    failed = model.run() != (step % 5 != 4) || failed;
  }
  whose = Whose::kNobody;
  EXPECT_FALSE(failed);
  EXPECT_EQ(ours.load(), 0);
}

TEST(NativeSteps, APipelineAllocatesNothingAnywhere) {
  TestBundle bundle("native_allocations");
  TestBundle::make_recurrent(bundle);
  LoadOptions options;  // without ONNX Runtime
  options.engine.prefer = engine::Prefer::kNative;
  auto pipeline = Pipeline::load(bundle.write(), options);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  EXPECT_TRUE(pipeline.value().fusion().ok()) << pipeline.value().fusion().message();
  ASSERT_EQ(pipeline.value().engine().size(), 1U);
  EXPECT_TRUE(pipeline.value().engine()[0].native);
  const auto x = pipeline.value().input<float>("pre/x").value();
  ours = 0;
  bool failed = false;
  whose = Whose::kOurs;
  for (int step = 0; step < 100'000; ++step) {
    x[0] = static_cast<float>(step);
    failed = failed || pipeline.value().step() != StepResult::kOk;
  }
  whose = Whose::kNobody;
  EXPECT_FALSE(failed);
  EXPECT_EQ(ours.load(), 0);
}

// With guards to carry over and state to copy, on the thread that steps.
TEST(NativeSteps, SwappingBundlesAllocatesNothing) {
  const SwapBundle one("allocations_one");
  const SwapBundle two("allocations_two", {.gain = 2, .reverse = true});
  for (const StateOnSwap rule : {StateOnSwap::kKeep, StateOnSwap::kReset}) {
    Pipeline pipeline = load_native(one.path());
    ASSERT_TRUE(pipeline.set_guards({{.port = "policy/q"}, {.port = "policy/action"}, {.port = "policy/n"}}).ok());
    Reloader reloader = make_reloader(pipeline, {.state = rule});
    ours = 0;
    bool failed = false;
    for (int swap = 0; swap < 100; ++swap) {
      reloader.request(swap % 2 == 0 ? two.path() : one.path());
      failed = reloader.wait(std::chrono::seconds(60)).state != ReloadState::kReady || failed;
      whose = Whose::kOurs;
      failed = reloader.swap_if_ready(pipeline) != SwapResult::kSwapped || failed;
      for (int step = 0; step < 20; ++step) {
        failed = reloader.swap_if_ready(pipeline) != SwapResult::kNothing || failed;
        failed = pipeline.step() != StepResult::kOk || failed;
      }
      whose = Whose::kNobody;
    }
    EXPECT_FALSE(failed);
    EXPECT_EQ(ours.load(), 0);
  }
  // Nor does a swap that is refused, because a guard would have nothing to look at.
  Pipeline pipeline = load_native(one.path());
  ASSERT_TRUE(pipeline.set_guards({{.port = "policy/n"}}).ok());
  const SwapBundle other("allocations_other", {.state = "m"});
  Reloader reloader = make_reloader(pipeline);
  reloader.request(other.path());
  ASSERT_EQ(reloader.wait(std::chrono::seconds(60)).state, ReloadState::kReady);
  whose = Whose::kOurs;
  const SwapResult refused = reloader.swap_if_ready(pipeline);
  whose = Whose::kNobody;
  EXPECT_EQ(refused, SwapResult::kRefused);
  EXPECT_EQ(ours.load(), 0);
}

/// Time goes on by itself and nobody sleeps.
class HastyClock final : public LoopClock {
 public:
  [[nodiscard]] Time now() noexcept override { return std::chrono::steady_clock::now(); }
  void sleep_until(Time /*time*/, const std::atomic<bool>& /*interrupted*/) noexcept override {}
};

// Maps, guards that find something, the loop's statistics, an action chunk, the recorder: all that a controller does
// between two sensor readings.
TEST(NativeSteps, AHundredThousandOfAWholeControllerAllocateNothing) {
  RobotBundle bundle("controller_allocations");
  Pipeline pipeline = bundle.load();
  const std::vector<std::string> robot{"ankle", "hip", "knee"};
  auto q = NameMap::make(pipeline.input_of_kind("state/joint/position").value(), 1, robot,
                         {.scale = {2, 1, 1}, .offset = {0, 1, 0}, .sign = {1, -1, 1}})
               .value();
  auto action = NameMap::make(pipeline.output_of_kind("target/joint/position").value(), 1, robot).value();
  auto player =
      ChunkPlayer::make(pipeline.output_port("policy/chunk").value(), {.mode = ChunkMode::kBlend, .overlap_ms = 20})
          .value();
  ASSERT_TRUE(pipeline
                  .set_guards({{.port = "policy/q", .non_finite = GuardAction::kHold, .all = {.upper = 3}},
                               {.port = "policy/action", .all = {.upper = 4, .per_second = 100}},
                               {.port = "policy/h", .bounds = GuardAction::kFail, .all = {.upper = 5.5}}})
                  .ok());
  HastyClock clock;
  Loop loop = Loop::make(pipeline, {.frequency = 100'000.0, .clock = &clock}).value();
  // So small that steps are dropped, too, which allocates nothing either.
  Recorder recorder = Recorder::make(pipeline, bundle.folder() / "run.mcap", {.ring_bytes = 1 << 15}).value();
  std::array<double, 3> sensors{};
  std::array<float, 3> targets{};
  std::size_t refused = 0;
  std::size_t events = 0;
  bool failed = false;
  ours = 0;
  whose = Whose::kOurs;
  const Status status = loop.run([&](Tick& tick) {
    const auto i = static_cast<double>(tick.number % 100);
    sensors = {i / 20, -i / 30, tick.number % 7 == 3 ? std::numeric_limits<double>::quiet_NaN() : i / 40};
    tick.set_input_time(tick.woken);
    failed = !q.write(sensors) || failed;
    const StepResult result = pipeline.step();
    refused += result == StepResult::kRefused ? 1U : 0U;
    events += pipeline.guard_event_count();
    recorder.record(tick);
    failed = failed || result == StepResult::kFailed || !action.read(targets);
    player.take(tick.woken);
    failed = player.play(tick.woken + std::chrono::milliseconds(5)) == ChunkResult::kEmpty || failed;
    return tick.number + 1 < 100'000;
  });
  whose = Whose::kNobody;
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(failed);
  EXPECT_EQ(ours.load(), 0);
  EXPECT_EQ(loop.statistics().summary().calls, 100'000U);
  EXPECT_GT(refused, 1000U);  // refusing allocates nothing either
  EXPECT_LT(refused, 90'000U);
  EXPECT_GT(events, 20'000U);
  EXPECT_TRUE(recorder.close().ok());
  const RecorderSummary recorded = recorder.summary();
  EXPECT_EQ(recorded.steps, 100'000U);
  EXPECT_EQ(recorded.written + recorded.dropped, 100'000U);
  EXPECT_GT(recorded.written, 100U);
}

// In a child, where from then on every system call but exit ends the process.
TEST(NativeSteps, AThousandMakeNoSystemCall) {
  native::Running model(policy_bytes());
  ASSERT_TRUE(model.ok()) << model.why();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) syscall(SYS_exit, 2);
    bool good = true;
    for (int step = 0; step < 1000; ++step) {
      model.data<float>("obs")[0] = static_cast<float>(step);
      good = model.run() && good;
    }
    syscall(SYS_exit, good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
#if defined(LEAPP_TEST_EMULATED)
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "the emulator makes system calls of its own";
#endif
  EXPECT_FALSE(WIFSIGNALED(status)) << "a system call was made";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Allocations, TheFirstFrameTakesNone) {
  HistoryBundle bundle("first_frame_memory");
  Pipeline pipeline = bundle.load();
  ours = 0;
  whose = Whose::kOurs;
  bool good = true;
  for (int round = 0; round < 100; ++round) {
    good = pipeline.reset(ResetMode::kFirstFrame).ok() && good;
    for (int step = 0; step < 3; ++step) good = pipeline.step() == StepResult::kOk && good;
  }
  whose = Whose::kNobody;
  EXPECT_TRUE(good);
  EXPECT_EQ(ours, 0);
}

// Pages that the process holds.
long resident() {
  std::ifstream file("/proc/self/statm");
  long size = 0;
  long pages = 0;
  file >> size >> pages;
  return pages;
}

TEST(Memory, LoadingAndDroppingLeavesNothingBehind) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("dropped");
  TestBundle::make_recurrent(bundle);
  const fs::path yaml = bundle.write();
  const auto load = [&](int times) {
    for (int i = 0; i < times; ++i) {
      auto pipeline = Pipeline::load(yaml, test_options());
      ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
      ASSERT_EQ(pipeline.value().step(), StepResult::kOk);
    }
  };
#if defined(LEAPP_TEST_EMULATED)
  GTEST_SKIP() << "the emulator's own memory grows";
#endif
  load(100);
  const long before = resident();
  load(1000);
  // One kilobyte for each would be 250 pages.
  EXPECT_LT(resident() - before, 250);
}

}  // namespace
}  // namespace leapp::runtime
