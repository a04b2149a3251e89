// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/engine_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "engine/native/model_testing.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/pipeline/pipeline_testing.h"

namespace leapp::runtime {
namespace {

/// LEAPP_ENGINE for as long as it lives.
class EngineVariable {
 public:
  explicit EngineVariable(const char* value) { setenv("LEAPP_ENGINE", value, 1); }
  ~EngineVariable() { unsetenv("LEAPP_ENGINE"); }
  EngineVariable(const EngineVariable&) = delete;
  EngineVariable& operator=(const EngineVariable&) = delete;
};

/// The options of the tests, with the choice left open.
LoadOptions open_options() {
  LoadOptions options = test_options();
  options.engine.prefer = engine::Prefer::kAuto;
  return options;
}

/// As if there were no ONNX Runtime.
LoadOptions without_onnxruntime() {
  LoadOptions options;
  options.engine.onnxruntime_library = "/nowhere";
  return options;
}

/// A node of that name, x[1,4] to y[1,4], of `bytes`.
void add_node(TestBundle& bundle, const std::string& name, const std::string& bytes) {
  bundle.write_file(name + ".onnx", bytes);
  bundle::Model model{.name = name, .inputs = {float_port("x")}, .outputs = {float_port("y")}, .parameters = {}};
  model.parameters = {.backend = "onnx", .model_path = name + ".onnx"};
  bundle.spec.models.push_back(std::move(model));
}

/// y = op(x).
std::string one_operator(const std::string& op) {
  native::ModelMaker maker;
  maker.input("x", {1, 4}).output("y", {1, 4}).node(op, {"x"}, {"y"});
  return maker.bytes();
}

/// Two nodes in a row; `second` may be what LEAPP's own engine does not have.
void make_chain(TestBundle& bundle, const std::string& first, const std::string& second) {
  add_node(bundle, "first", one_operator(first));
  add_node(bundle, "second", one_operator(second));
  bundle.spec.pipeline.data_flow = {{"first/y", {"second/x"}}};
  bundle.spec.pipeline.inputs = {{"first", {"x"}}};
  bundle.spec.pipeline.outputs = {{"second", {"y"}}};
}

/// Not in the table of operators, and in ONNX Runtime; x[1,4] keeps its shape.
constexpr const char* kUncovered = "Multinomial_is_no_such_thing";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(EngineChoice, TakesLeappsOwnEngineAndNeedsNoOther) {
  TestBundle bundle("auto_native");
  TestBundle::make_recurrent(bundle);
  auto pipeline = Pipeline::load(bundle.write(), without_onnxruntime());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  ASSERT_EQ(pipeline.value().engine().size(), 1U);
  const engine::Report& report = pipeline.value().engine().front();
  EXPECT_TRUE(report.native);
  EXPECT_TRUE(report.engine.starts_with("native (")) << report.engine;
  EXPECT_TRUE(contains(report.why, "covers every operator")) << report.why;
  EXPECT_FALSE(report.operators.empty());
  for (const engine::OperatorReport& row : report.operators) EXPECT_TRUE(row.native) << row.name;
  EXPECT_TRUE(pipeline.value().notes().empty());
  EXPECT_EQ(pipeline.value().step(), StepResult::kOk);
}

TEST(EngineChoice, FallsBackAndSaysSoWhereAnOperatorIsMissing) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("auto_falls_back");
  // Dropout in training would be random: Bernoulli is an operator that ONNX Runtime has and LEAPP's own engine has not.
  make_chain(bundle, "Relu", "Bernoulli");
  const auto pipeline = Pipeline::load(bundle.write(), open_options());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  const engine::Report& report = pipeline.value().engine().front();
  EXPECT_FALSE(report.native);
  EXPECT_TRUE(report.engine.starts_with("ONNX Runtime")) << report.engine;
  EXPECT_TRUE(contains(report.why, "does not cover 1 of its nodes, the first: Bernoulli")) << report.why;
  ASSERT_EQ(report.operators.size(), 2U);
  EXPECT_EQ(report.operators[0].name, "Bernoulli");
  EXPECT_FALSE(report.operators[0].native);
  EXPECT_TRUE(contains(report.operators[0].why, "(makes \"second/y\")")) << report.operators[0].why;
  EXPECT_TRUE(report.operators[1].native);
  ASSERT_EQ(pipeline.value().notes().size(), 1U);
  EXPECT_TRUE(contains(pipeline.value().notes()[0], "the fused model runs on ONNX Runtime"))
      << pipeline.value().notes()[0];
  EXPECT_TRUE(contains(pipeline.value().notes()[0], "Bernoulli")) << pipeline.value().notes()[0];
}

TEST(EngineChoice, WithoutEitherSaysWhatBothLack) {
  TestBundle bundle("auto_neither");
  add_node(bundle, "node", one_operator(kUncovered));
  bundle.spec.pipeline.inputs = {{"node", {"x"}}};
  bundle.spec.pipeline.outputs = {{"node", {"y"}}};
  const auto pipeline = Pipeline::load(bundle.write(), without_onnxruntime());
  ASSERT_EQ(pipeline.status().code(), StatusCode::kNotFound) << pipeline.status().message();
  for (const char* part : {"models.node (node.onnx)", "option onnxruntime_library", "does not cover", kUncovered}) {
    EXPECT_TRUE(contains(pipeline.status().message(), part)) << pipeline.status().message();
  }
}

TEST(EngineChoice, WhatOnlyOnnxRuntimeHasIsAskedOfIt) {
  TestBundle bundle("auto_asked");
  TestBundle::make_recurrent(bundle);
  const fs::path yaml = bundle.write();
  std::vector<LoadOptions> all(5, without_onnxruntime());
  all[0].engine.provider = engine::Provider::kCuda;
  all[1].engine.intra_op_threads = 2;
  all[2].engine.inter_op_threads = 2;
  all[3].engine.profile_prefix = "profile";
  all[4].engine.optimisation = engine::Optimisation::kOff;
  for (const LoadOptions& options : all) {
    const auto pipeline = Pipeline::load(yaml, options);
    ASSERT_EQ(pipeline.status().code(), StatusCode::kNotFound) << pipeline.status().message();
    EXPECT_TRUE(contains(pipeline.status().message(), "asked for")) << pipeline.status().message();
  }
}

TEST(EngineChoice, TheVariableDecidesWhereTheOptionsDoNot) {
  TestBundle bundle("auto_variable");
  TestBundle::make_recurrent(bundle);
  const fs::path yaml = bundle.write();
  {
    const EngineVariable variable("onnxruntime");
    EXPECT_EQ(Pipeline::load(yaml, without_onnxruntime()).status().code(), StatusCode::kNotFound);
    LoadOptions native = without_onnxruntime();
    native.engine.prefer = engine::Prefer::kNative;
    EXPECT_TRUE(Pipeline::load(yaml, native).ok());
  }
  {
    const EngineVariable variable("native");
    const auto pipeline = Pipeline::load(yaml, without_onnxruntime());
    ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
    EXPECT_EQ(pipeline.value().engine().front().why, "it was asked for");
  }
  const EngineVariable variable("tensorrt");
  const auto pipeline = Pipeline::load(yaml, without_onnxruntime());
  EXPECT_EQ(pipeline.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(
      contains(pipeline.status().message(), "LEAPP_ENGINE: expected auto, native or onnxruntime, found \"tensorrt\""))
      << pipeline.status().message();
}

TEST(EngineChoice, NativeAloneListsWhatIsMissingInEveryNode) {
  TestBundle bundle("native_lists");
  make_chain(bundle, "Bernoulli", kUncovered);
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  const auto pipeline = Pipeline::load(bundle.write(), options);
  ASSERT_EQ(pipeline.status().code(), StatusCode::kUnimplemented) << pipeline.status().message();
  for (const char* part : {"models.first (first.onnx)", "Bernoulli \"at_y\" (makes \"y\")",
                           "models.second (second.onnx)", kUncovered, "no such operator"}) {
    EXPECT_TRUE(contains(pipeline.status().message(), part)) << "no " << part << " in " << pipeline.status().message();
  }
}

TEST(EngineChoice, CanBeAskedForWithoutLoadingAnything) {
  TestBundle bundle("choice_only");
  make_chain(bundle, "Relu", "Bernoulli");
  LoadOptions options = without_onnxruntime();
  options.prepare = false;
  const auto pipeline = PipelineAccess::load(bundle.write(), options, choosing_engines(options.engine));
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  ASSERT_EQ(pipeline.value().engine().size(), 1U);
  EXPECT_EQ(pipeline.value().engine()[0].engine, "ONNX Runtime");
  EXPECT_TRUE(contains(pipeline.value().engine()[0].why, "Bernoulli")) << pipeline.value().engine()[0].why;
}

/// y = x W, n times n: what is slower here is left to ONNX Runtime, and what is faster is not.
std::string resized(std::int64_t extent) {
  native::ModelMaker maker;
  maker.input("x", {1, 1, extent, extent}).output("y", {1, 1, 2 * extent, 2 * extent});
  maker.floats("w", {1, 1, 2, 2}, {1, 2, 3, 4});
  maker.node("ConvTranspose", {"x", "w"}, {"y"}, {{"strides", std::vector<std::int64_t>{2, 2}}});
  return maker.bytes();
}

TEST(EngineChoice, IsMadeBySizeAndTellsWhichNodeIsSlow) {
  for (const std::int64_t extent : {4, 400}) {
    const std::string bytes = resized(extent);
    const engine::ModelSource source{.name = "model", .path = {}, .bytes = std::as_bytes(std::span(bytes))};
    const auto choice = choose_engine(source, {});
    ASSERT_TRUE(choice.ok()) << choice.status().message();
    EXPECT_EQ(choice.value().native, extent == 4) << choice.value().report.why;
    EXPECT_NE(choice.value().model, nullptr);
    if (extent == 400) {
      EXPECT_TRUE(contains(choice.value().report.why, "ConvTranspose \"at_y\"")) << choice.value().report.why;
    }
  }
}

TEST(EngineChoice, WhatWouldBeSlowerRunsWhereThereIsNoOther) {
  TestBundle bundle("slower");
  bundle.write_file("node.onnx", resized(400));
  bundle::Model model{.name = "node", .inputs = {float_port("x")}, .outputs = {float_port("y")}, .parameters = {}};
  model.inputs[0].shape = {1, 1, 400, 400};
  model.outputs[0].shape = {1, 1, 800, 800};
  model.parameters = {.backend = "onnx", .model_path = "node.onnx"};
  bundle.spec.models = {model};
  bundle.spec.pipeline.inputs = {{"node", {"x"}}};
  bundle.spec.pipeline.outputs = {{"node", {"y"}}};
  auto pipeline = Pipeline::load(bundle.write(), without_onnxruntime());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  EXPECT_TRUE(pipeline.value().engine().front().native);
  EXPECT_TRUE(contains(pipeline.value().engine().front().why, "there is no ONNX Runtime"));
  EXPECT_EQ(pipeline.value().step(), StepResult::kOk);
}

}  // namespace
}  // namespace leapp::runtime
