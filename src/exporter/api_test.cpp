// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The C++ API as a libtorch program uses it, without Python.
#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "capture/hook/hook.h"
#include "leapp/capture.h"

namespace {

namespace fs = std::filesystem;
using leapp::annotate::input_tensors;
using leapp::annotate::output_tensors;

class Api : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("leapp_api_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    ASSERT_TRUE(leapp::start("graph", {.save_path = folder_.string()}).ok());
  }
  void TearDown() override {
    (void)leapp::stop();
    fs::remove_all(folder_);
  }

  at::Tensor input(const std::string& node, const at::Tensor& tensor) {
    auto result = input_tensors(node, {{"x", tensor}});
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.value()[0];
  }
  void output(const std::string& node, const at::Tensor& tensor) {
    auto result = output_tensors(node, {{"y", tensor}}, {.export_with = "jit"});
    EXPECT_TRUE(result.ok()) << result.status().message();
  }
  at::Tensor exported(const std::string& node, const at::Tensor& tensor) {
    if (leapp::is_active()) {
      EXPECT_TRUE(leapp::stop().ok());
      auto report = leapp::compile_graph({.visualize = false});
      EXPECT_TRUE(report.ok()) << report.status().message();
      EXPECT_TRUE(report.value().validation.ok()) << report.value().validation.message();
    }
    return torch::jit::load((folder_ / "graph" / (node + ".pt")).string()).forward({tensor}).toTensor();
  }
  std::string log() const { return text("log.txt"); }
  std::string yaml() const { return text("graph.yaml"); }
  std::string text(const char* name) const {
    std::ifstream file(folder_ / "graph" / name);
    return (std::stringstream() << file.rdbuf()).str();
  }

  fs::path folder_;
};

TEST_F(Api, WritesThroughViewsReachTheModel) {
  at::Tensor x = input("node", at::arange(6).to(at::kFloat));
  at::Tensor y = x.mul(2);
  at::Tensor tail = y.slice(0, 3, 6);
  tail.add_(1);
  y.slice(0, 0, 1).zero_();
  output("node", at::add(tail, y.slice(0, 0, 3)));
  const at::Tensor fresh = at::full({6}, 10.0);
  // tail = 2x + 1 = 21; the first three of y = 0, 20, 20
  EXPECT_TRUE(at::equal(exported("node", fresh), at::tensor({21.0F, 41.0F, 41.0F})));
}

TEST_F(Api, WhatWasWrittenIntoAPlainBufferIsPartOfTheModel) {
  const at::Tensor buffer = at::ones({2, 3});
  at::Tensor x = input("node", at::zeros({3}));
  buffer.select(0, 1).copy_(x);
  output("node", buffer.sum(0));
  EXPECT_TRUE(at::equal(exported("node", at::tensor({1.0F, 2.0F, 3.0F})), at::tensor({2.0F, 3.0F, 4.0F})));
}

TEST_F(Api, AnotherThreadsOperatorsAreRecorded) {
  at::Tensor x = input("node", at::zeros({2}));
  at::Tensor y;
  std::thread([&] { y = x.add(5); }).join();
  output("node", y);
  EXPECT_TRUE(at::equal(exported("node", at::ones({2})), at::full({2}, 6.0)));
}

TEST_F(Api, MixedNodesAreReportedByTheNextCall) {
  at::Tensor a = input("first", at::ones({2}));
  at::Tensor b = input("second", at::ones({2}));
  const at::Tensor mixed = at::add(a.mul(2), b.mul(3));
  const auto failed = output_tensors("first", {{"y", mixed}}, {.export_with = "jit"});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), leapp::StatusCode::kFailedPrecondition);
  for (const char* word : {"aten::add", "first", "second"}) {
    EXPECT_NE(failed.status().message().find(word), std::string::npos) << failed.status().message();
  }
  output("first", a.mul(2));
  output("second", b.mul(3));
}

TEST_F(Api, EdgesFollowTheValueAndUnusedInputsAreDropped) {
  auto inputs = input_tensors("first", {{"x", at::ones({2})}, {"unused", at::ones({3})}});
  ASSERT_TRUE(inputs.ok());
  const at::Tensor published = inputs.value()[0].tensor().mul(2);
  output("first", published);
  output("second", input("second", published.clone()).add(1));
  exported("second", at::ones({2}));
  EXPECT_NE(yaml().find("first/y: [second/x]"), std::string::npos) << yaml();
  EXPECT_EQ(yaml().find("unused"), std::string::npos) << yaml();
  EXPECT_NE(log().find("input 'unused' reaches no output"), std::string::npos);
}

TEST_F(Api, AConstantChangedBeforeCompileIsRefused) {
  const at::Tensor weight = at::ones({2});
  leapp::name_tensor(weight, "actor.weight");
  output("node", input("node", at::ones({2})).mul(weight));
  ASSERT_TRUE(leapp::stop().ok());
  weight.fill_(3);
  const auto report = leapp::compile_graph({.visualize = false});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("'actor.weight'"), std::string::npos) << report.status().message();
  EXPECT_FALSE(fs::exists(folder_ / "graph" / "graph.yaml"));
}

TEST_F(Api, NestedPayloadsKeepTheirStructure) {
  using leapp::Nested;
  const at::Tensor left = at::ones({2});
  auto inputs = input_tensors(
      "node", {{"x", at::ones({2})}, {"cameras", Nested::Map{{"left", left}, {"rest", Nested::List{at::ones({2})}}}}});
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  const Nested& cameras = inputs.value()[1];
  EXPECT_EQ(cameras["left"].tensor().data_ptr(), left.data_ptr());
  output("node", at::add(inputs.value()[0].tensor().mul(2), at::sub(cameras["left"], cameras["rest"][0])));
  ASSERT_TRUE(leapp::stop().ok());
  ASSERT_TRUE(leapp::compile_graph({.visualize = false}).ok());
  for (const char* name : {"name: x", "name: cameras_left", "name: cameras_rest_0"}) {
    EXPECT_NE(yaml().find(name), std::string::npos) << yaml();
  }
}

TEST_F(Api, SemanticsStaticOutputsAndConfigsAreWritten) {
  leapp::Semantics semantics;
  semantics.kind = "state/joint/position";
  semantics.element_names = {{std::vector<std::string>{"hip", "knee"}}};
  semantics.extra = {{"unit", "rad"}};
  auto inputs = input_tensors("node", {{"q", at::ones({2}), semantics}});
  ASSERT_TRUE(inputs.ok()) << inputs.status().message();
  leapp::OutputOptions options{.export_with = "jit"};
  options.static_outputs = {{"kp", at::tensor({20.0F, 10.0F})}};
  ASSERT_TRUE(output_tensors("node", {{"y", inputs.value()[0].tensor().mul(2)}}, options).ok());
  ASSERT_TRUE(leapp::stop().ok());
  const auto report = leapp::compile_graph({.visualize = false, .graph_configs = {.frequency = 50.0}});
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (const char* line : {"kind: state/joint/position", "element_names: [[hip, knee]]", "unit: rad", "name: kp",
                           "frequency: 50.0", "leapp config version: '1.3'"}) {
    EXPECT_NE(yaml().find(line), std::string::npos) << line << " is not in\n" << yaml();
  }
}

TEST_F(Api, AnUnknownBackendIsRefusedBeforeAnythingChanges) {
  const at::Tensor x = input("node", at::ones({2}));
  const auto failed = output_tensors("node", {{"y", x.mul(2)}}, {.export_with = "tensorflow"});
  EXPECT_EQ(failed.status().code(), leapp::StatusCode::kInvalidArgument);
  output("node", x.mul(2));
}

TEST_F(Api, NothingHappensWhenNotStarted) {
  ASSERT_TRUE(leapp::stop().ok());
  const at::Tensor x = at::ones({2});
  EXPECT_TRUE(input_tensors("node", {{"x", x}}).value()[0].tensor().is_same(x));
  EXPECT_TRUE(output_tensors("node", {{"x", x}}).value()[0].tensor().is_same(x));
  EXPECT_TRUE(leapp::annotate::state_tensors("node", {{"h", x}}).value()[0].is_same(x));
  EXPECT_TRUE(leapp::annotate::update_state("node", {{"h", x}}).value()[0].is_same(x));
  EXPECT_TRUE(leapp::annotate::register_buffer("node", {{"h", x}}).value()[0].tensor().is_same(x));
  EXPECT_TRUE(leapp::annotate::module("node", {}).ok());
  EXPECT_TRUE(leapp::annotate::mirror_leapp_tags(x, at::zeros({3})).ok());
  EXPECT_FALSE(leapp::is_live(x));
}

TEST_F(Api, NothingIsLeftAfterStop) {
  output("node", input("node", at::ones({2})).mul(2));
  EXPECT_TRUE(leapp::capture::hook_installed());
  ASSERT_TRUE(leapp::stop().ok());
  EXPECT_FALSE(leapp::capture::hook_installed());
  EXPECT_EQ(leapp::stop().code(), leapp::StatusCode::kFailedPrecondition);
}

TEST_F(Api, ACallThatIsNotFinishedIsDropped) {
  output("node", input("node", at::ones({2})).mul(2));
  input("node", at::ones({2}));
  input("open_one", at::ones({2}));
  ASSERT_TRUE(leapp::stop().ok());
  EXPECT_FALSE(leapp::is_active());
  const auto report = leapp::compile_graph({.visualize = false});
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report.value().nodes.size(), 1U);
  EXPECT_EQ(report.value().nodes[0].samples, 1);
}

TEST_F(Api, NodesThatWereNeverClosedAreNamedByCompile) {
  input("open_one", at::ones({2}));
  ASSERT_TRUE(leapp::stop().ok());
  const auto report = leapp::compile_graph();
  EXPECT_EQ(report.status().code(), leapp::StatusCode::kFailedPrecondition);
  EXPECT_NE(report.status().message().find("'open_one'"), std::string::npos);
}

TEST_F(Api, BuffersMayBeNested) {
  const at::Tensor obs = input("node", at::ones({2}));
  const leapp::Nested::List given{at::zeros({2}), at::zeros({2})};
  const auto buffers = leapp::annotate::register_buffer("node", {{"kept", given}});
  ASSERT_TRUE(buffers.ok()) << buffers.status().message();
  const at::Tensor& second = buffers.value()[0][1];
  second.add_(obs);
  output("node", second.mul(2));
  ASSERT_TRUE(leapp::stop().ok());
  ASSERT_TRUE(leapp::compile_graph({.visualize = false}).ok());
}

}  // namespace
