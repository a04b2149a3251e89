// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/histories.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <sstream>
#include <string>
#include <vector>

#include "graph/text.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/history.h"

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

// Three frames of x in h, the newest last.
constexpr const char* kStack = R"(graph policy(%x: float32[1,2], %h: float32[1,6]) {
  %0: float32[1,4] = aten::slice.Tensor(self=%h, dim=1, start=2, end=6, step=1)
  %1: float32[1,6] = aten::cat(tensors=[%0, %x], dim=1)
  %2: float32[1] = aten::sum.dim_IntList(self=%1, dim=[1], keepdim=False, dtype=None)
  return (y=%2, h_next=%1)
})";

// Two frames of what is also an output.
constexpr const char* kActions = R"(graph policy(%x: float32[1,2], %h: float32[1,4]) {
  %a: float32[1,2] = aten::neg(self=%x)
  %0: float32[1,2] = aten::slice.Tensor(self=%h, dim=1, start=2, end=4, step=1)
  %1: float32[1,4] = aten::cat(tensors=[%0, %a], dim=1)
  return (y=%a, h_next=%1)
})";

/// Nodes and the bundle that describes them. An output "h_next" is the next value of the state h.
class HistoriesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("leapp_histories_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    log_ = Logger::open(folder_).value();
  }
  void TearDown() override { fs::remove_all(folder_); }

  bundle::Model& add(const std::string& text) {
    auto parsed = graph::parse(text);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    PreparedNode node;
    node.graph = std::move(parsed).value();
    capture::NodeRecord& record = records_.emplace_back();
    record.name = node.graph.name();
    bundle::Model model{.name = record.name};
    for (const graph::Output& output : node.graph.outputs()) {
      record.outputs.push_back({.name = output.name});
      model.outputs.push_back({.name = output.name, .shape = output.value->type().shape});
      if (!output.name.ends_with("_next")) list(spec_.pipeline.outputs, record.name, output.name);
    }
    for (const auto& input : node.graph.inputs()) {
      capture::PortRecord port{.name = input->name()};
      if (is_output(model, port.name + "_next")) {
        port.source = capture::Source{.node = record.name, .port = port.name + "_next", .feedback = true};
        spec_.pipeline.feedback_flow.emplace_back(record.name + "/" + port.name + "_next",
                                                  std::vector{record.name + "/" + port.name});
      } else {
        list(spec_.pipeline.inputs, record.name, port.name);
      }
      node.inputs.push_back(record.inputs.size());
      record.inputs.push_back(port);
      model.inputs.push_back({.name = port.name, .shape = input->type().shape});
    }
    node.record = &record;
    nodes_.push_back(std::move(node));
    return spec_.models.emplace_back(std::move(model));
  }

  Status find(const capture::CaptureResult::Resets& declared = {}) {
    EXPECT_TRUE(bundle::resolve_wiring(spec_).problems.empty());
    return add_histories(nodes_, declared, spec_, *log_);
  }

  [[nodiscard]] std::vector<bundle::History> histories() const {
    return bundle::histories_of(spec_, bundle::resolve_wiring(spec_).wiring).value();
  }

  [[nodiscard]] std::string log() const {
    std::ifstream file(folder_ / "log.txt");
    return (std::stringstream() << file.rdbuf()).str();
  }

  static bool is_output(const bundle::Model& model, const std::string& name) {
    return std::any_of(model.outputs.begin(), model.outputs.end(), [&](const auto& port) { return port.name == name; });
  }
  static void list(bundle::NodePorts& ports, const std::string& node, const std::string& port) {
    if (ports.empty() || ports.back().first != node) ports.emplace_back(node, std::vector<std::string>());
    ports.back().second.push_back(port);
  }

  fs::path folder_;
  std::unique_ptr<Logger> log_;
  std::list<capture::NodeRecord> records_;
  std::vector<PreparedNode> nodes_;
  bundle::BundleSpec spec_;
};

TEST_F(HistoriesTest, AStackOfFramesIsWrittenToItsPort) {
  add(kStack);
  ASSERT_TRUE(find().ok());
  const auto found = histories();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "policy/h");
  const bundle::HistoryPart expected{
      .axis = 1, .start = 0, .stop = 6, .frames = 3, .size = 2, .input = "policy/x", .state = {}, .of = {}};
  EXPECT_EQ(found[0].parts, std::vector{expected});
  EXPECT_NE(log().find("state policy/h is a history: 3 frames along axis 1"), std::string::npos) << log();
}

TEST_F(HistoriesTest, PortsAreCalledAsTheBundleCallsThem) {
  bundle::Model& model = add(kStack);
  model.inputs[0].name = "x_in";
  model.inputs[1].name = "h_in";
  spec_.pipeline.inputs[0].second = {"x_in"};
  spec_.pipeline.feedback_flow[0].second = {"policy/h_in"};
  ASSERT_TRUE(find().ok());
  ASSERT_EQ(histories().size(), 1U);
  EXPECT_EQ(histories()[0].name, "policy/h_in");
  EXPECT_EQ(histories()[0].parts[0].input, "policy/x_in");
}

TEST_F(HistoriesTest, WhatTheUserWroteStays) {
  bundle::Model& model = add(kStack);
  bundle::set_history(model.inputs[1],
                      {{.axis = 1, .start = 4, .stop = 6, .frames = 1, .size = 2, .input = "policy/x"}});
  const bundle::YamlMap before = model.inputs[1].extra;
  ASSERT_TRUE(find().ok());
  EXPECT_EQ(spec_.models[0].inputs[1].extra, before);
}

TEST_F(HistoriesTest, ADeclarationThatSaysNoneIsFollowed) {
  add(kStack);
  ASSERT_TRUE(find({{{"policy", "h"}, ""}}).ok());
  EXPECT_TRUE(histories().empty());
}

TEST_F(HistoriesTest, WhatOnlyLooksLikeOneIsLogged) {
  add(kActions);
  ASSERT_TRUE(find().ok());
  EXPECT_TRUE(histories().empty());
  EXPECT_NE(log().find("state policy/h is shifted like a history, but"), std::string::npos) << log();
}

TEST_F(HistoriesTest, ADeclarationOverridesTheDoubt) {
  add(kActions);
  ASSERT_TRUE(find({{{"policy", "h"}, "x"}}).ok());
  ASSERT_EQ(histories().size(), 1U);
  EXPECT_EQ(histories()[0].parts[0].of, std::vector<std::string>{"policy/x"});
}

TEST_F(HistoriesTest, ADeclarationThatCannotBeIsRefused) {
  add(kStack);
  const Status status = find({{{"policy", "h"}, "z"}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  for (const char* part : {"node 'policy'", "the state 'h', float32[1,6]", "history of 'z'", "x float32[1,2]"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << part << " in " << status.message();
  }
}

TEST_F(HistoriesTest, ADeclaredStateThatIsNoneIsRefused) {
  add(kStack);
  const Status status = find({{{"policy", "x"}, "x"}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "node 'policy': reset_from names the state 'x', which the node does not have; its states: h");
  EXPECT_TRUE(find({{{"elsewhere", "h"}, "x"}}).ok()) << "a node that never closed";
}

TEST_F(HistoriesTest, WithoutStateThereIsNothingToFind) {
  add(R"(graph policy(%x: float32[2]) {
    %0: float32[2] = aten::neg(self=%x)
    return (y=%0)
  })");
  ASSERT_TRUE(find().ok());
  EXPECT_TRUE(histories().empty());
}

}  // namespace
}  // namespace leapp::exporter
