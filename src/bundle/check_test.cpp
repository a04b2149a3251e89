// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace leapp::bundle {
namespace {

Port port(const std::string& name, std::vector<std::int64_t> shape = {1, 4}) {
  return {.name = name, .dtype = DType::kFloat32, .shape = std::move(shape)};
}

// The file's order is the wrong way round on purpose: post, policy, pre.
BundleSpec wired_example() {
  BundleSpec spec;
  const ModelParameters parameters{.backend = "onnx", .model_path = "m.onnx"};
  spec.models = {
      {.name = "post", .inputs = {port("a")}, .outputs = {port("action")}, .parameters = parameters},
      {.name = "policy",
       .inputs = {port("f"), port("h_in")},
       .outputs = {port("a"), port("h_out")},
       .parameters = parameters},
      {.name = "pre", .inputs = {port("obs")}, .outputs = {port("f")}, .parameters = parameters},
  };
  spec.pipeline.data_flow = {{"pre/f", {"policy/f"}}, {"policy/a", {"post/a"}}};
  spec.pipeline.feedback_flow = {{"policy/h_out", {"policy/h_in"}}};
  spec.pipeline.inputs = {{"pre", {"obs"}}};
  spec.pipeline.outputs = {{"post", {"action"}}};
  return spec;
}

TEST(Check, ResolvesNamesAndOrder) {
  const auto wiring = check_wiring(wired_example());
  ASSERT_TRUE(wiring.ok()) << wiring.status().message();
  EXPECT_EQ(wiring.value().order, (std::vector<std::size_t>{2, 1, 0}));
  EXPECT_EQ(wiring.value().inputs, (std::vector<PortIndex>{{2, 0}}));
  EXPECT_EQ(wiring.value().outputs, (std::vector<PortIndex>{{0, 0}}));
  const std::vector<Edge> edges{{{2, 0}, {1, 0}, false}, {{1, 0}, {0, 0}, false}, {{1, 1}, {1, 1}, true}};
  EXPECT_EQ(wiring.value().edges, edges);
  EXPECT_TRUE(find_model_problems(wired_example()).empty());
  EXPECT_TRUE(check_wiring({}).ok());
}

TEST(Check, OneOutputMayFeedManyInputsAndTheCaller) {
  BundleSpec spec = wired_example();
  spec.models[0].inputs.push_back(port("b"));
  spec.pipeline.data_flow[1].second.emplace_back("post/b");
  spec.pipeline.feedback_flow.push_back({"policy/a", {}});
  spec.pipeline.outputs.push_back({"policy", {"a"}});
  EXPECT_TRUE(check_wiring(spec).ok()) << check_wiring(spec).status().message();
}

struct Case {
  std::function<void(BundleSpec&)> damage;
  const char* expected;
};

TEST(Check, NamesEveryProblem) {
  const std::vector<Case> cases{
      {[](BundleSpec& s) {
         s.models[1].inputs[0].shape = {1, 5};
       },
       "pipeline.data_flow[pre/f]: policy/f is float32[1,5], pre/f is float32[1,4]"},
      {[](BundleSpec& s) { s.models[1].outputs[1].dtype = DType::kInt64; },
       "pipeline.feedback_flow[policy/h_out]: policy/h_in is float32[1,4], policy/h_out is int64[1,4]"},
      {[](BundleSpec& s) { s.pipeline.data_flow[0].first = "pre/g"; },
       "pipeline.data_flow[pre/g]: node \"pre\" has no output \"pre/g\""},
      {[](BundleSpec& s) { s.pipeline.data_flow[0].first = "prae/f"; },
       "pipeline.data_flow[prae/f]: there is no node \"prae\", so no output \"prae/f\""},
      {[](BundleSpec& s) { s.pipeline.data_flow[0].second[0] = "policy/a"; },
       "pipeline.data_flow[pre/f]: node \"policy\" has no input \"policy/a\""},
      {[](BundleSpec& s) { s.pipeline.data_flow[0].second[0] = "policy"; }, "has no input \"policy\""},
      {[](BundleSpec& s) { s.pipeline.inputs[0].second[0] = "x"; },
       "pipeline.inputs[pre]: node \"pre\" has no input \"pre/x\""},
      {[](BundleSpec& s) { s.pipeline.outputs[0].first = "nobody"; },
       "pipeline.outputs[nobody]: there is no node \"nobody\", so no output \"nobody/action\""},
      {[](BundleSpec& s) { s.pipeline.outputs.clear(); },
       "models.post: the output post/action goes nowhere: it is in no flow and not in pipeline.outputs"},
      {[](BundleSpec& s) {
         s.pipeline.outputs.push_back({"post", {"action"}});
       },
       "pipeline.outputs[post]: post/action occurs twice"},
      {[](BundleSpec& s) { s.pipeline.inputs.clear(); }, "models.pre: nothing feeds the input pre/obs"},
      {[](BundleSpec& s) {
         s.pipeline.inputs.push_back({"policy", {"h_in"}});
       },
       "pipeline.inputs[policy]: policy/h_in already has a source, policy/h_out in feedback_flow"},
      {[](BundleSpec& s) { s.pipeline.data_flow[1].second.emplace_back("policy/f"); },
       "pipeline.data_flow[policy/a]: policy/f already has a source, pre/f in data_flow"},
      {[](BundleSpec& s) { std::swap(s.pipeline.data_flow.emplace_back(), s.pipeline.feedback_flow[0]); },
       "pipeline.data_flow: a cycle: policy -> policy; the edge that closes it belongs in feedback_flow"},
      {[](BundleSpec& s) {
         s.models[2].inputs.push_back(port("last"));
         s.pipeline.data_flow.push_back({"post/action", {"pre/last"}});
       },
       "pipeline.data_flow: a cycle: post -> pre -> policy -> post"},
  };
  for (const Case& one : cases) {
    BundleSpec spec = wired_example();
    one.damage(spec);
    const auto wiring = check_wiring(spec);
    ASSERT_FALSE(wiring.ok()) << one.expected;
    EXPECT_EQ(wiring.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(wiring.status().message().find(one.expected), std::string::npos)
        << "expected " << one.expected << "\nfound " << wiring.status().message();
  }
}

TEST(Check, ModelsThatCannotRun) {
  BundleSpec spec = wired_example();
  spec.models[0].parameters = {};
  spec.models[1].parameters.backend = "tflite";
  spec.models[2].parameters.backend.reset();
  const auto problems = find_model_problems(spec);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems[0].message(),
            "models.post: the node has no model (its model_path is null), so the pipeline cannot run");
  EXPECT_EQ(problems[1].message(), "models.policy.parameters.backend: expected jit, onnx or pt2, found \"tflite\"");
  EXPECT_EQ(problems[2].message(),
            "models.pre: the node has no model (its backend is null), so the pipeline cannot run");
  EXPECT_EQ(join_problems(problems).message(),
            problems[0].message() + "\n" + problems[1].message() + "\n" + problems[2].message());
}

}  // namespace
// What the caller gets: the last action of a node that reads it back, and what is fed back to another node.
TEST(CheckWiring, GivesWhatWasAnnouncedAndIsNotListed) {
  const auto given = [](const char* output, std::vector<std::string> to, YamlMap extra = {}) {
    BundleSpec spec;
    ModelParameters parameters{.backend = "onnx", .model_path = "a.onnx"};
    spec.models = {{.name = "a",
                    .inputs = {port("x"), port("last"), port("h"), port("m_in")},
                    .outputs = {port("y"), port(output)},
                    .parameters = parameters}};
    spec.models[0].outputs[1].extra = std::move(extra);
    spec.pipeline.outputs = {{"a", {"y"}}};
    spec.pipeline.feedback_flow = {{std::string("a/") + output, std::move(to)}};
    std::vector<std::string> inputs;
    for (const Port& input : spec.models[0].inputs) {
      const auto& fed = spec.pipeline.feedback_flow[0].second;
      if (std::find(fed.begin(), fed.end(), "a/" + input.name) == fed.end()) inputs.push_back(input.name);
    }
    spec.pipeline.inputs = {{"a", inputs}};
    const auto wiring = check_wiring(spec);
    EXPECT_TRUE(wiring.ok()) << wiring.status().message();
    return wiring.value().outputs.size() == 2;
  };
  EXPECT_TRUE(given("action", {"a/last"}));
  EXPECT_FALSE(given("h", {"a/h"}));
  EXPECT_FALSE(given("h", {"a/h", "a/last"}));
  EXPECT_FALSE(given("m_out", {"a/m_in"}));
  EXPECT_TRUE(given("m_out", {"a/last"}));
  EXPECT_TRUE(given("h", {"a/h"}, {{kStateKey, false}}));
  EXPECT_FALSE(given("action", {"a/last"}, {{kStateKey, true}}));
}

}  // namespace leapp::bundle
