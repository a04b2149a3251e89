// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/writer.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

namespace leapp::bundle {
namespace {

BundleSpec example() {
  BundleSpec spec;
  Port observation{.name = "obs", .dtype = DType::kFloat32, .shape = {1, 2}};
  observation.kind = "state/joint/position";
  observation.element_names = {std::nullopt, std::vector<std::string>{"hip", "on"}};
  observation.extra = {{"unit", "rad"}, {"gain", 2.0}, {"limits", YamlList{-1, 1.5, nullptr, true}}};
  spec.models.push_back({.name = "pre",
                         .inputs = {observation},
                         .outputs = {{.name = "features", .dtype = DType::kInt64, .shape = {}}},
                         .parameters = {.backend = "jit",
                                        .model_path = "pre.pt",
                                        .md5sum = "06ba3362036d61e4205c50491c69f103",
                                        .sha256sum = "12345678901234567890123456789012"}});
  spec.models.push_back({.name = "policy", .inputs = {}, .outputs = {}, .parameters = {.opset_version = 18}});
  spec.pipeline.data_flow = {{"pre/features", {"policy/a", "policy/b"}}};
  spec.pipeline.inputs = {{"pre", {"obs"}}};
  spec.system_information = {{"leapp config version", "1.1"}, {"cuda version", std::nullopt}};
  return spec;
}

TEST(Writer, Layout) {
  EXPECT_EQ(yaml_text(example()), R"(models:
  pre:
    inputs:
    - name: obs
      dtype: float32
      shape: [1, 2]
      type: tensor
      kind: state/joint/position
      element_names: [null, [hip, 'on']]
      unit: rad
      gain: 2.0
      limits: [-1, 1.5, null, true]
    outputs:
    - name: features
      dtype: int64
      shape: []
      type: tensor
    parameters:
      backend: jit
      model_path: pre.pt
      md5sum: 06ba3362036d61e4205c50491c69f103
      sha256sum: '12345678901234567890123456789012'
  policy:
    inputs: []
    outputs: []
    parameters:
      backend: null
      model_path: null
      md5sum: null
      sha256sum: null
      opset_version: 18

pipeline:
  data_flow:
    pre/features: [policy/a, policy/b]
  feedback_flow: {}
  inputs:
    pre: [obs]
  outputs: {}

system information:
  leapp config version: '1.1'
  cuda version: null
)");
  EXPECT_EQ(yaml_text(example()), yaml_text(example()));
}

TEST(Writer, EmptySpec) {
  EXPECT_EQ(yaml_text({}), R"(models: {}

pipeline:
  data_flow: {}
  feedback_flow: {}
  inputs: {}
  outputs: {}

system information: {}
)");
}

TEST(Writer, FeedbackConfigsAndTemporalAxis) {
  BundleSpec spec;
  spec.pipeline.configs = {{"frequency", 50.0}, {"robot", YamlMap{{"dof", 12}}}, {"empty", YamlMap{}}};
  spec.pipeline.feedback_flow = {{"p/h_out", {"p/h_in"}}};
  spec.pipeline.initial_values = "x_initial_values.safetensors";
  Port history{.name = "history", .shape = {1, 4, 2}};
  history.temporal_axis = TemporalAxis{.axis = 1, .period_ms = 20};
  spec.models = {{.name = "p", .inputs = {history}, .outputs = {}, .parameters = {}}};
  const std::string text = yaml_text(spec);
  EXPECT_NE(text.find("  configs:\n    frequency: 50.0\n    robot:\n      dof: 12\n    empty: {}\n  data_flow: {}\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  feedback_flow:\n    p/h_out: [p/h_in]\n  initial_values: x_initial_values.safetensors\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("element_names: [null, __temporal_axis__]\n      temporal_period_ms: 20.0\n"), std::string::npos)
      << text;
}

TEST(Writer, NestedExtraKeepsItsStructure) {
  BundleSpec spec;
  Port port{.name = "x"};
  port.extra = {{"a", YamlList{YamlMap{{"k", 1}, {"l", YamlList{YamlMap{{"m", "deep"}}}}}, 2, YamlMap{},
                               YamlList{YamlMap{{"n", nullptr}}, "last"}}},
                {"z", YamlList{YamlList{1, 2}, YamlList{}}}};
  spec.models = {{.name = "m", .inputs = {port, port}, .outputs = {}, .parameters = {}}};
  const std::string text = yaml_text(spec);
  const YAML::Node inputs = YAML::Load(text)["models"]["m"]["inputs"];
  ASSERT_EQ(inputs.size(), 2U) << text;
  for (const auto& input : inputs) {
    const YAML::Node a = input["a"];
    ASSERT_EQ(a.size(), 4U) << text;
    EXPECT_EQ(a[0]["k"].as<int>(), 1);
    EXPECT_EQ(a[0]["l"][0]["m"].Scalar(), "deep");
    EXPECT_EQ(a[1].as<int>(), 2);
    EXPECT_TRUE(a[2].IsMap() && a[2].size() == 0);
    EXPECT_TRUE(a[3][0]["n"].IsNull());
    EXPECT_EQ(a[3][1].Scalar(), "last");
    EXPECT_EQ(input["z"][0][1].as<int>(), 2);
    EXPECT_TRUE(input["z"][1].IsSequence() && input["z"][1].size() == 0);
  }
}

std::vector<std::string> strings_of(const YAML::Node& list) {
  std::vector<std::string> strings;
  for (const auto& item : list) strings.push_back(item.Scalar());
  return strings;
}

void expect_string(const YAML::Node& node, const std::string& text) {
  ASSERT_TRUE(node.IsScalar()) << text;
  EXPECT_EQ(node.Scalar(), text);
}

TEST(Writer, HostileNamesReadBack) {
  const std::vector<std::string> names{"a b",
                                       "it's",
                                       "say \"hi\"",
                                       "a: b",
                                       "a:",
                                       "#",
                                       "a #b",
                                       "two\nlines",
                                       "größe",
                                       "関節",
                                       "\xF0\x9F\xA4\x96",
                                       "yes",
                                       "1e3",
                                       "~",
                                       "null",
                                       "1.1",
                                       "-",
                                       "- x",
                                       "[a",
                                       "{b}",
                                       "a,b",
                                       "*alias",
                                       "&anch",
                                       "!tag",
                                       "%dir",
                                       "@at",
                                       "`tick",
                                       "|",
                                       ">",
                                       "\\",
                                       "tab\tx",
                                       " lead",
                                       "trail ",
                                       "? q",
                                       "'",
                                       "''",
                                       "\"",
                                       "<<",
                                       "=",
                                       "---",
                                       "...",
                                       "\r",
                                       "\x01",
                                       "\xE2\x80\xA8",
                                       "",
                                       ".inf",
                                       "0x10",
                                       "12:30",
                                       "a]",
                                       "}",
                                       "\x7f",
                                       "\xC2\x85",
                                       std::string("\xEF\xBB\xBF") + "bom",
                                       std::string(3000, 'k'),
                                       std::string(1500, '\n')};
  BundleSpec spec;
  for (const std::string& name : names) {
    Port port{.name = name};
    port.kind = name;
    port.element_names = {std::vector<std::string>{name, name}};
    port.extra = {{"x" + name, name}};
    spec.models.push_back(
        {.name = name, .inputs = {port}, .outputs = {port}, .parameters = {.backend = name, .extra = {{name, name}}}});
    spec.pipeline.data_flow.push_back({"n/" + name, {"m/" + name, name}});
    spec.pipeline.inputs.push_back({name, {name, name}});
    spec.system_information.push_back({name, name});
  }
  const YAML::Node root = YAML::Load(yaml_text(spec));
  ASSERT_EQ(root.size(), 3U);
  ASSERT_EQ(root["models"].size(), names.size());
  std::size_t i = 0;
  for (const auto& model : root["models"]) {
    const std::string& name = names[i++];
    expect_string(model.first, name);
    for (const char* direction : {"inputs", "outputs"}) {
      const YAML::Node port = model.second[direction][0];
      expect_string(port["name"], name);
      expect_string(port["kind"], name);
      EXPECT_EQ(strings_of(port["element_names"][0]), (std::vector<std::string>{name, name}));
      expect_string(port["x" + name], name);
    }
    expect_string(model.second["parameters"]["backend"], name);
    expect_string(model.second["parameters"][name], name);
  }
  i = 0;
  for (const auto& edge : root["pipeline"]["data_flow"]) {
    expect_string(edge.first, "n/" + names[i]);
    EXPECT_EQ(strings_of(edge.second), (std::vector<std::string>{"m/" + names[i], names[i]}));
    ++i;
  }
  i = 0;
  for (const auto& entry : root["pipeline"]["inputs"]) expect_string(entry.first, names[i++]);
  i = 0;
  for (const auto& entry : root["system information"]) expect_string(entry.second, names[i++]);
  EXPECT_EQ(i, names.size());
}

}  // namespace
}  // namespace leapp::bundle
