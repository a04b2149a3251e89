// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls every public function that needs no torch, from a program that links libleapp_runtime.so and nothing else of
// ours: what is declared in a public header and not shown by the library fails to link here.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "leapp/base/dtype.h"
#include "leapp/base/export.h"
#include "leapp/base/status.h"
#include "leapp/base/tensor_view.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/reader.h"
#include "leapp/bundle/signing.h"
#include "leapp/bundle/spec.h"
#include "leapp/engine/options.h"
#include "leapp/runtime/chunks.h"
#include "leapp/runtime/guards.h"
#include "leapp/runtime/histogram.h"
#include "leapp/runtime/loop.h"
#include "leapp/runtime/name_map.h"
#include "leapp/runtime/options.h"
#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/port.h"
#include "leapp/runtime/recorder.h"
#include "leapp/runtime/reloader.h"

namespace leapp {
namespace {

TEST(PublicApi, Base) {
  EXPECT_EQ(dtype_name(DType::kBFloat16), "bfloat16");
  EXPECT_EQ(parse_dtype("int8"), DType::kInt8);
  EXPECT_EQ(dtype_size(DType::kFloat64), 8U);
  EXPECT_FALSE(is_port_dtype(DType::kComplex64));
  EXPECT_FALSE(internal_error("x").ok());
}

TEST(PublicApi, Bundle) {
  EXPECT_FALSE(bundle::parse_bundle("[").ok());
  EXPECT_EQ(bundle::read_bundle("/nowhere").status().code(), StatusCode::kIo);
  EXPECT_FALSE(bundle::locate_file("/", "nowhere").ok());
  EXPECT_FALSE(bundle::read_model("/", {}).ok());
  EXPECT_FALSE(bundle::parse_safetensors({}).ok());
  EXPECT_FALSE(bundle::read_file("/nowhere", 1).ok());
  bundle::BundleSpec spec;
  spec.models = {{.name = "a", .inputs = {}, .outputs = {{.name = "y", .shape = {1}}}, .parameters = {}}};
  EXPECT_FALSE(bundle::resolve_wiring(spec).problems.empty());
  EXPECT_FALSE(bundle::check_wiring(spec).ok());
  EXPECT_FALSE(bundle::join_problems(bundle::find_model_problems(spec)).ok());
}

TEST(PublicApi, Signing) {
  const auto pair = bundle::make_key_pair();
  ASSERT_TRUE(pair.ok());
  EXPECT_FALSE(bundle::write_key_pair("/nowhere/private.pem", "/nowhere/public.pem").ok());
  EXPECT_FALSE(bundle::sign_bundle("/nowhere", pair.value().private_pem).ok());
  EXPECT_FALSE(bundle::verify_bundle("/nowhere", std::array{pair.value().public_pem}).ok());
}

// Never called: that it links is the test.
void use(runtime::Reloader reloader, runtime::Pipeline& pipeline) {
  (void)reloader.request("/nowhere");
  (void)reloader.swap_if_ready(pipeline);
  (void)reloader.report();
  (void)reloader.wait(std::chrono::seconds(1));
  (void)reloader.swaps();
}

// Nor is this.
void use(runtime::Pipeline& pipeline) {
  (void)pipeline.prepare();
  (void)pipeline.step();
  (void)pipeline.error();
  (void)pipeline.fusion();
  (void)pipeline.reset(runtime::ResetMode::kZeros);
  (void)pipeline.histories();
  (void)pipeline.input<float>(pipeline.inputs().front());
  (void)pipeline.output<float>(pipeline.outputs().front());
  (void)pipeline.feedback_input(pipeline.feedback_inputs().front());
  (void)pipeline.set_input_value("a/x", {});
  (void)pipeline.spec();
  (void)pipeline.file();
  (void)pipeline.signature();
  use(runtime::Reloader::make(pipeline).value(), pipeline);
  (void)pipeline.set_guards(pipeline.guards());
  (void)pipeline.guard_text(pipeline.guard_events()[pipeline.guard_event_count()]);
  (void)pipeline.set_last_good("a/x", {});
  pipeline.forget_last_good();
  (void)runtime::describe(pipeline.feedback_ports());
  runtime::Recorder recorder = runtime::Recorder::make(pipeline, "run.mcap").value();
  recorder.record();
  recorder.record(runtime::Tick());
  runtime::Recorder moved(std::move(recorder));
  recorder = std::move(moved);
  (void)recorder.summary();
  (void)recorder.file();
  (void)recorder.status();
  (void)recorder.close();
  runtime::Pipeline other(std::move(pipeline));
  pipeline = std::move(other);
}

TEST(PublicApi, Runtime) {
  const runtime::LoadOptions options{.engine = {.intra_op_threads = 1}};
  auto pipeline = runtime::Pipeline::load("/nowhere.yaml", options);
  EXPECT_FALSE(pipeline.ok());
  if (pipeline.ok()) use(pipeline.value());
}

TEST(PublicApi, Robot) {
  std::array<float, 2> memory{1, 2};
  runtime::Port port{.name = "a/x", .role = runtime::PortRole::kOutput, .dtype = DType::kFloat32, .shape = {2}};
  port.element_names = {std::vector<std::string>{"left", "right"}};
  port.data = memory.data();
  EXPECT_EQ(port.element_text(1), "[1] (right)");
  EXPECT_FALSE(runtime::port_of_kind({port}, "kp").ok());
  EXPECT_FALSE(runtime::port_of({}, "a/x", runtime::PortRole::kInput).ok());
  EXPECT_FALSE(runtime::frequency_of({}).has_value());
  auto map = runtime::NameMap::make(port, 0, std::array<std::string, 2>{"right", "left"});
  ASSERT_TRUE(map.ok());
  std::array<double, 2> robot{};
  EXPECT_TRUE(map.value().read(robot));
  EXPECT_EQ(robot, (std::array{2.0, 1.0}));
  EXPECT_TRUE(map.value().read_from(memory.data(), robot));
  EXPECT_TRUE(map.value().write_to(memory.data(), robot));
  EXPECT_FALSE(runtime::ChunkPlayer::make(port, {}).ok());
  EXPECT_TRUE(runtime::parse_guards("guards: {}").ok());
  EXPECT_FALSE(runtime::read_guards("/nowhere").ok());
  EXPECT_TRUE(runtime::guards_of({}).ok());
  EXPECT_TRUE(runtime::make_realtime({}).ok());
  auto loop = runtime::Loop::make({.frequency = 1000.0});
  ASSERT_TRUE(loop.ok());
  EXPECT_TRUE(loop.value().run([](runtime::Tick&) { return false; }).ok());
  EXPECT_EQ(loop.value().statistics().summary().calls, 1U);
  EXPECT_GE(loop.value().statistics().step.percentile(0.5), 0);
}

}  // namespace
}  // namespace leapp
