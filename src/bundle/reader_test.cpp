// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bundle/writer.h"
#include "leapp/bundle/check.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

const fs::path kPeer = fs::path(LEAPP_TEST_BUNDLES) / "peer";

BundleSpec bundle_example() {
  BundleSpec spec;
  Port observation{.name = "obs", .dtype = DType::kFloat32, .shape = {1, 2}};
  observation.kind = "state/joint/position";
  observation.element_names = {std::nullopt, std::vector<std::string>{"hip", "on", "12", "null"}};
  observation.extra = {{"unit", "rad"},
                       {"gain", 2.0},
                       {"limits", YamlList{-1, 1.5, nullptr, true, "true", "~", "1.0", ""}},
                       {"nested", YamlMap{{"a", YamlList{YamlMap{{"b", 1}}, YamlMap{}}}, {"c", YamlList{}}}}};
  Port history{.name = "history: of # all", .dtype = DType::kBFloat16, .shape = {1, 4, 0}};
  history.element_names = {std::nullopt, std::nullopt};
  history.temporal_axis = TemporalAxis{.axis = 1, .period_ms = 20};
  spec.models.push_back({.name = "pre",
                         .inputs = {observation, history},
                         .outputs = {{.name = "features", .dtype = DType::kInt64, .shape = {}}},
                         .parameters = {.backend = "jit",
                                        .model_path = "pre.pt",
                                        .md5sum = "06ba3362036d61e4205c50491c69f103",
                                        .sha256sum = "12345678901234567890123456789012",
                                        .extra = {{"warp_segments", 0}}}});
  spec.models.push_back({.name = "policy", .inputs = {}, .outputs = {}, .parameters = {.opset_version = 18}});
  spec.pipeline.configs = {{"frequency", 50.0}, {"robot", YamlMap{{"dof", 12}}}};
  spec.pipeline.data_flow = {{"pre/features", {"policy/a", "policy/b"}}};
  spec.pipeline.feedback_flow = {{"policy/h_out", {"policy/h_in"}}};
  spec.pipeline.initial_values = "x_initial_values.safetensors";
  spec.pipeline.inputs = {{"pre", {"obs"}}};
  spec.pipeline.outputs = {{"policy", {}}};
  spec.system_information = {{"leapp config version", "1.3"}, {"cuda version", std::nullopt}, {"os", "Debian: 12"}};
  return spec;
}

TEST(Reader, ReadsWhatTheWriterWrote) {
  for (const BundleSpec& spec : {bundle_example(), BundleSpec{}}) {
    const std::string text = yaml_text(spec);
    const auto read = parse_bundle(text);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read.value(), spec) << text;
    EXPECT_EQ(yaml_text(read.value()), text);
  }
}

TEST(Reader, ReadsThePeersBundles) {
  int bundles = 0;
  for (const auto& folder : fs::directory_iterator(kPeer)) {
    const std::string name = folder.path().filename().string();
    const auto spec = read_bundle(folder.path() / (name + ".yaml"));
    ASSERT_TRUE(spec.ok()) << spec.status().message();
    EXPECT_TRUE(check_wiring(spec.value()).ok()) << check_wiring(spec.value()).status().message();
    EXPECT_TRUE(find_model_problems(spec.value()).empty());
    for (const Model& model : spec.value().models) {
      const auto file = read_model(folder.path(), model);
      ASSERT_TRUE(file.ok()) << file.status().message();
      EXPECT_FALSE(file.value().bytes.empty());
    }
    if (const auto& values = spec.value().pipeline.initial_values) {
      const auto bytes = read_file(folder.path() / *values, 1U << 20U);
      ASSERT_TRUE(bytes.ok()) << bytes.status().message();
      const auto tensors = parse_safetensors(bytes.value());
      ASSERT_TRUE(tensors.ok()) << tensors.status().message();
      EXPECT_FALSE(tensors.value().empty());
    }
    ++bundles;
  }
  EXPECT_EQ(bundles, 6);
  const auto spec = read_bundle(kPeer / "stateful_gru" / "stateful_gru.yaml");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec.value().models[0].inputs[1].name, "h_state_in");
  EXPECT_EQ(spec.value().models[0].inputs[1].shape, (std::vector<std::int64_t>{1, 1, 32}));
  EXPECT_EQ(spec.value().models[0].parameters.opset_version, 20);
  EXPECT_EQ(spec.value().pipeline.feedback_flow, (EdgeMap{{"policy/h_state_out", {"policy/h_state_in"}}}));
}

std::string with_port(const std::string& fields) {
  return "models:\n  m:\n    inputs: []\n    outputs:\n    - {name: y, dtype: float32, " + fields +
         "}\n    parameters: {}\npipeline: {}\n";
}

TEST(Reader, ShapesMayBeTexts) {
  using Shape = std::vector<std::int64_t>;
  const std::vector<std::pair<std::string, Shape>> cases{
      {"[1, 48]", {1, 48}},    {"'[1, 48]'", {1, 48}}, {"'(1, 48)'", {1, 48}}, {"'1,48'", {1, 48}}, {"'(3,)'", {3}},
      {"'[ 2 , 3 ]'", {2, 3}}, {"'[]'", {}},           {"'()'", {}},           {"[]", {}},          {"7", {7}},
  };
  for (const auto& [text, shape] : cases) {
    const auto spec = parse_bundle(with_port("shape: " + text));
    ASSERT_TRUE(spec.ok()) << text << ": " << spec.status().message();
    EXPECT_EQ(spec.value().models[0].outputs[0].shape, shape) << text;
  }
}

TEST(Reader, NamesOfElementsInEveryForm) {
  using Names = std::vector<AxisNames>;
  const std::vector<std::pair<std::string, Names>> cases{
      {"s", {{{"s"}}}},
      {"[a, b]", {{{"a", "b"}}}},
      {"[[a, b]]", {{{"a", "b"}}}},
      {"[null, [a, 1]]", {std::nullopt, {{"a", "1"}}}},
      {"[[a], ~]", {{{"a"}}, std::nullopt}},
  };
  for (const auto& [text, names] : cases) {
    const auto spec = parse_bundle(with_port("shape: [1], element_names: " + text));
    ASSERT_TRUE(spec.ok()) << text << ": " << spec.status().message();
    EXPECT_EQ(spec.value().models[0].outputs[0].element_names, names) << text;
  }
}

TEST(Reader, WhatMayBeLeftOutOrNull) {
  const auto spec = parse_bundle(
      "models: {m: {inputs: null, outputs: [], parameters: null}}\n"
      "pipeline: {data_flow: null, feedback_flow: {}, initial_values: null, inputs: {m: x}}\n");
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  EXPECT_FALSE(spec.value().models[0].parameters.backend);
  EXPECT_EQ(spec.value().pipeline.inputs, (NodePorts{{"m", {"x"}}}));
  EXPECT_FALSE(spec.value().pipeline.initial_values);
}

TEST(Reader, EveryVersionUpToThisOne) {
  const std::string start = "models: {}\npipeline: {}\nsystem information: {leapp config version: ";
  for (const char* version : {"1.0", "'1.1'", "1.2", "'1.3'", "1.4", "null"}) {
    EXPECT_TRUE(parse_bundle(start + version + "}\n").ok()) << version;
  }
  for (const char* version : {"1.5", "'2.0'", "one", "[1]", "10"}) {
    const auto spec = parse_bundle(start + version + "}\n");
    ASSERT_FALSE(spec.ok()) << version;
    EXPECT_NE(spec.status().message().find("line 3: system information.leapp config version: expected one of 1.0, 1.1"),
              std::string::npos)
        << spec.status().message();
  }
  // A newer bundle may have keys we do not know: the message is still about the version.
  const auto newer = parse_bundle("models: {}\nextensions: {}\nsystem information: {leapp config version: '1.5'}\n");
  EXPECT_NE(newer.status().message().find("newer LEAPP"), std::string::npos) << newer.status().message();
}

TEST(Reader, ScalarsMeanWhatTheyMeanInPython) {
  const auto spec = parse_bundle(with_port(
      "shape: [1], a: 1, b: -7, c: 1.5, d: 1.0e-05, e: .inf, f: yes, g: False, h: ~, i: '1', j: text, k: 0x10, "
      "l: 1.2.3, m: inf, n: '', o: +3, p: 99999999999999999999"));
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  const YamlMap expected{{"a", 1},
                         {"b", -7},
                         {"c", 1.5},
                         {"d", 1.0e-05},
                         {"e", std::numeric_limits<double>::infinity()},
                         {"f", true},
                         {"g", false},
                         {"h", nullptr},
                         {"i", "1"},
                         {"j", "text"},
                         {"k", "0x10"},
                         {"l", "1.2.3"},
                         {"m", "inf"},
                         {"n", ""},
                         {"o", 3},
                         {"p", 99999999999999999999.0}};
  EXPECT_EQ(spec.value().models[0].outputs[0].extra, expected);
}

}  // namespace
}  // namespace leapp::bundle
