// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/history.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "bundle/writer.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

Port plain_port(const std::string& name, std::vector<std::int64_t> shape) {
  return {.name = name, .shape = std::move(shape)};
}

/// x [1,2] from the caller; h [1,6,2], g [1,6,2] and last [1,2] are state.
BundleSpec history_example() {
  BundleSpec spec;
  Model model{.name = "policy", .inputs = {}, .outputs = {}, .parameters = {}};
  model.parameters = {.backend = "onnx", .model_path = "m.onnx"};
  model.inputs = {plain_port("x", {1, 2}), plain_port("h", {1, 6, 2}), plain_port("g", {1, 6, 2}),
                  plain_port("last", {1, 2})};
  model.outputs = {plain_port("y", {1}), plain_port("h", {1, 6, 2}), plain_port("g", {1, 6, 2}),
                   plain_port("last", {1, 2})};
  spec.models = {model};
  spec.pipeline.feedback_flow = {
      {"policy/h", {"policy/h"}}, {"policy/g", {"policy/g"}}, {"policy/last", {"policy/last"}}};
  spec.pipeline.inputs = {{"policy", {"x"}}};
  spec.pipeline.outputs = {{"policy", {"y"}}};
  return spec;
}

void set(BundleSpec& spec, std::size_t input, const std::string& yaml) {
  // As it comes from a file.
  const auto read = parse_bundle("models: {m: {inputs: [{name: a, dtype: float32, shape: [1], leapp_history: " + yaml +
                                 "}], outputs: [], parameters: {}}}\npipeline: {}\n");
  ASSERT_TRUE(read.ok()) << read.status().message();
  spec.models[0].inputs[input].extra = read.value().models[0].inputs[0].extra;
}

Result<std::vector<History>> histories(const BundleSpec& spec) {
  const auto wiring = check_wiring(spec);
  if (!wiring.ok()) return wiring.status();
  return histories_of(spec, wiring.value());
}

TEST(History, IsRead) {
  BundleSpec spec = history_example();
  set(spec, 1, "[{axis: 1, frames: 6, input: policy/x}]");
  set(spec, 2,
      "[{axis: 1, frames: 2, size: 2, stop: 4, newest: first, of: [policy/x, policy/h]}, "
      "{axis: 1, start: 4, frames: 2, of: [policy/x]}]");
  set(spec, 3, "[{input: policy/x}]");
  const auto read = histories(spec);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read.value().size(), 3U);
  EXPECT_EQ(read.value()[0].parts,
            (std::vector<HistoryPart>{{.axis = 1, .start = 0, .stop = 6, .frames = 6, .input = "policy/x"}}));
  EXPECT_EQ(read.value()[1].parts,
            (std::vector<HistoryPart>{
                {.axis = 1, .stop = 4, .frames = 2, .size = 2, .of = {"policy/x", "policy/h"}, .newest_first = true},
                {.axis = 1, .start = 4, .stop = 6, .frames = 2, .of = {"policy/x"}}}));
  EXPECT_EQ(read.value()[2].parts, (std::vector<HistoryPart>{{.input = "policy/x"}}));
  EXPECT_EQ(history_text(read.value()[0].parts), "6 frames along axis 1 of policy/x");
  EXPECT_EQ(history_text(read.value()[1].parts),
            "2 frames along axis 1 computed from policy/x and policy/h; 2 frames along axis 1 computed from policy/x");
  EXPECT_EQ(history_text(read.value()[2].parts), "one frame of policy/x");
}

TEST(History, IsWrittenAsItIsRead) {
  BundleSpec spec = history_example();
  const std::vector<HistoryPart> parts{
      {.axis = 1, .stop = 4, .frames = 2, .size = 2, .of = {"policy/x"}, .newest_first = true},
      {.axis = 1, .start = 4, .stop = 6, .frames = 1, .size = 2, .of = {"policy/x"}}};
  set_history(spec.models[0].inputs[1], parts);
  set_history(spec.models[0].inputs[3], {{.input = "policy/x"}});
  const auto back = parse_bundle(yaml_text(spec));
  ASSERT_TRUE(back.ok()) << back.status().message();
  const auto read = histories(back.value());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value()[0].parts, parts);
  EXPECT_EQ(read.value()[1].parts, (std::vector<HistoryPart>{{.input = "policy/x"}}));
  drop_histories(spec);
  EXPECT_TRUE(histories(spec).value().empty());
}

TEST(History, PortsGetOtherNames) {
  History history{{0, 1}, "policy/h", {{.input = "policy/x"}, {.state = "policy/g"}, {.of = {"policy/x"}}}};
  rename_history(history, [](const std::string& name) { return name + "!"; });
  EXPECT_EQ(history.name, "policy/h!");
  EXPECT_EQ(history.parts,
            (std::vector<HistoryPart>{{.input = "policy/x!"}, {.state = "policy/g!"}, {.of = {"policy/x!"}}}));
}

struct HistoryCase {
  std::size_t input;
  std::string yaml;
  std::vector<std::string> said;
};

class HostileHistory : public ::testing::TestWithParam<HistoryCase> {};

TEST_P(HostileHistory, IsRefusedWithBothSides) {
  BundleSpec spec = history_example();
  set(spec, GetParam().input, GetParam().yaml);
  const auto read = histories(spec);
  ASSERT_FALSE(read.ok());
  for (const std::string& word : GetParam().said) {
    EXPECT_NE(read.status().message().find(word), std::string::npos) << word << " in: " << read.status().message();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileHistory,
    ::testing::Values(
        HistoryCase{1, "7", {"policy/h", "a list of maps"}}, HistoryCase{1, "[]", {"policy/h", "a list of maps"}},
        HistoryCase{1, "{axis: 1}", {"policy/h", "a list of maps"}},
        HistoryCase{1, "[7]", {"policy/h", "a map such as"}},
        HistoryCase{
            1, "[{axis: 1, frames: 6, input: policy/obs}]", {"policy/h", "\"policy/obs\"", "it gives: policy/x"}},
        HistoryCase{
            1, "[{axis: 1, frames: 6, input: policy/last}]", {"policy/h", "\"policy/last\"", "it gives: policy/x"}},
        HistoryCase{1, "[{axis: 3, frames: 6, input: policy/x}]", {"policy/h", "3 axes", "found 3"}},
        HistoryCase{1, "[{axis: -1, frames: 6, input: policy/x}]", {"policy/h", "axis: expected a whole number"}},
        HistoryCase{1, "[{axis: 1.5, frames: 6, input: policy/x}]", {"policy/h", "axis: expected a whole number"}},
        HistoryCase{1, "[{axis: 2, frames: 2, input: policy/x}]", {"has 6 elements", "policy/x is float32[1,2]"}},
        HistoryCase{
            1, "[{axis: 1, frames: 4, input: policy/x}]", {"4 frames of 1 places do not fill 6 places of axis 1"}},
        HistoryCase{1, "[{axis: 1, frames: 0, input: policy/x}]", {"0 frames"}},
        HistoryCase{1, "[{axis: 1, frames: 6, size: 0, input: policy/x}]", {"6 frames of 0 places"}},
        HistoryCase{1, "[{axis: 1, frames: 4611686018427387904, size: 4, input: policy/x}]", {"do not fill"}},
        HistoryCase{1, "[{axis: 1, start: 4, stop: 3, input: policy/x}]", {"start 4 and stop 3"}},
        HistoryCase{1, "[{axis: 1, stop: 7, input: policy/x}]", {"stop 7", "axis 1 has 6 places"}},
        HistoryCase{1, "[{axis: 1, frames: 6, input: policy/x, of: [policy/x]}]", {"one of input, state, of; found 2"}},
        HistoryCase{1, "[{axis: 1, frames: 6}]", {"one of input, state, of; found 0"}},
        HistoryCase{1, "[{axis: 1, frames: 6, of: [policy/h]}]", {"depends on the state itself"}},
        HistoryCase{1, "[{axis: 1, frames: 6, of: [other/x]}]", {"\"other/x\"", "policy/x"}},
        HistoryCase{1, "[{axis: 1, frames: 6, of: []}]", {"of: expected a list"}},
        HistoryCase{1, "[{axis: 1, frames: 6, of: policy/x}]", {"of: expected a list"}},
        HistoryCase{1, "[{axis: 1, frames: 6, newest: middle, of: [policy/x]}]", {"first or last", "\"middle\""}},
        HistoryCase{1, "[{axis: 1, frames: 6, newest: last, input: policy/x}]", {"newest: only with"}},
        HistoryCase{1, "[{frames: 6, input: policy/x}]", {"only with an axis"}},
        HistoryCase{1, "[{axis: 1, frames: 6, rows: 2, input: policy/x}]", {"unknown key \"rows\""}},
        HistoryCase{1,
                    "[{axis: 1, frames: 6, input: policy/x}, {axis: 1, frames: 6, of: [policy/x]}]",
                    {"policy/h", "two of its parts speak of the same elements"}},
        HistoryCase{
            1, "[{axis: 0, frames: 1, of: [policy/x]}, {axis: 1, frames: 6, of: [policy/x]}]", {"the same elements"}},
        HistoryCase{1, "[{state: policy/last}]", {"policy/h is float32[1,6,2]", "policy/last is float32[1,2]"}},
        HistoryCase{1, "[{state: policy/k}]", {"no state \"policy/k\"", "policy/g, policy/h, policy/last"}},
        HistoryCase{1, "[{axis: 1, state: policy/g}]", {"axis is too much"}},
        HistoryCase{1, "[{state: policy/h}]", {"policy/h wait for each other"}},
        HistoryCase{
            0, "[{of: [policy/x]}]", {"policy/x", "it is no feedback input", "policy/g, policy/h, policy/last"}}));

TEST(History, ThatWaitForEachOther) {
  BundleSpec spec = history_example();
  set(spec, 1, "[{axis: 1, frames: 6, of: [policy/x, policy/g]}]");
  set(spec, 2, "[{axis: 1, frames: 6, of: [policy/x, policy/h]}]");
  const auto read = histories(spec);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("policy/g, policy/h wait for each other's first frame"), std::string::npos)
      << read.status().message();
}

TEST(History, BelongsToNoOutput) {
  BundleSpec spec = history_example();
  set_history(spec.models[0].outputs[1], {{.input = "policy/x"}});
  EXPECT_NE(histories(spec).status().message().find("this is an output"), std::string::npos);
}

}  // namespace
}  // namespace leapp::bundle
