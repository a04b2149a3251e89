// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/payload.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leapp::exporter {
namespace {

Status failure_of(const at::Tensor& tensor, Semantics semantics) {
  return flatten("policy", {{"obs", tensor, std::move(semantics)}}).status();
}

void expect_words(const Status& status, StatusCode code, const std::vector<std::string>& words) {
  EXPECT_EQ(status.code(), code) << status.message();
  for (const std::string& word : words) {
    EXPECT_NE(status.message().find(word), std::string::npos) << word << " is not in: " << status.message();
  }
}

TEST(Payload, NestedValuesFlattenToNamesAndComeBackInTheirStructure) {
  const at::Tensor a = at::ones({1});
  const at::Tensor b = at::ones({2});
  const at::Tensor c = at::ones({3});
  const Payload payload = {{"x", a},
                           {"n", Nested::Map{{"left", b}, {"list", Nested::List{c, Nested::Other{"int 3"}, a}}}}};
  const auto flat = flatten("node", payload);
  ASSERT_TRUE(flat.ok());
  std::vector<std::string> names;
  for (const capture::PortTensor& port : flat.value().ports) names.push_back(port.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "n_left", "n_list_0", "n_list_2"}));
  EXPECT_EQ(flat.value().no_tensors, std::vector<std::string>{"'n_list_1' (int 3)"});

  const std::vector<at::Tensor> fresh = {a.add(1), b.add(1), c.add(1), a.add(2)};
  const std::vector<Nested> values = rebuild(payload, fresh);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_TRUE(values[0].tensor().is_same(fresh[0]));
  EXPECT_TRUE(values[1]["left"].tensor().is_same(fresh[1]));
  EXPECT_TRUE(values[1]["list"][0].tensor().is_same(fresh[2]));
  EXPECT_TRUE(values[1]["list"][2].tensor().is_same(fresh[3]));
  EXPECT_EQ(std::get<Nested::Other>(values[1]["list"][1].data).text, "int 3");
}

TEST(Payload, SemanticsGoWithTheirTensor) {
  Semantics semantics;
  semantics.kind = "state/joint/position";
  semantics.element_names = {{std::nullopt, std::vector<std::string>{"hip", "knee"}}};
  semantics.temporal_axis = bundle::TemporalAxis{0, 20};
  const auto flat = flatten("node", {{"plain", at::ones({1})}, {"obs", at::ones({3, 2}), semantics}});
  ASSERT_TRUE(flat.ok()) << flat.status().message();
  EXPECT_FALSE(flat.value().ports[0].semantics.kind);
  EXPECT_EQ(flat.value().ports[1].semantics.kind, "state/joint/position");
  EXPECT_EQ(flat.value().ports[1].semantics.temporal_axis->axis, 0U);
}

TEST(Payload, NamesMustFitTheAxes) {
  const std::vector<std::string> two = {"hip", "knee"};
  const auto names = [](std::vector<bundle::AxisNames> axes) {
    Semantics semantics;
    semantics.element_names = std::move(axes);
    return semantics;
  };
  EXPECT_TRUE(failure_of(at::ones({2}), names({two})).ok());
  EXPECT_TRUE(failure_of(at::ones({1, 2}), names({two})).ok()) << "the last axis";
  EXPECT_TRUE(failure_of(at::ones({2, 3}), names({two})).ok()) << "the first axis";
  EXPECT_TRUE(failure_of(at::ones({1, 2}), names({std::nullopt, two})).ok());
  expect_words(failure_of(at::ones({3}), names({two})), StatusCode::kInvalidArgument, {"obs", "policy", "3", "2"});
  expect_words(failure_of(at::ones({1}), names({two})), StatusCode::kInvalidArgument, {"axis 0", "1 element", "2"});
  expect_words(failure_of(at::ones({2}), names({two, std::nullopt})), StatusCode::kInvalidArgument, {"2 axes", "1"});
}

TEST(Payload, OtherSemanticsAreCheckedToo) {
  Semantics temporal;
  temporal.temporal_axis = bundle::TemporalAxis{0, 0.0};
  expect_words(failure_of(at::ones({2}), temporal), StatusCode::kInvalidArgument, {"period_ms", "> 0", "obs"});
  temporal.temporal_axis = bundle::TemporalAxis{1, 5.0};
  expect_words(failure_of(at::ones({2}), temporal), StatusCode::kInvalidArgument, {"axis 1", "[2]"});
  for (const char* key : {"name", "dtype", "shape", "type", "kind", "element_names", "temporal_period_ms"}) {
    Semantics semantics;
    semantics.extra = {{key, 1}};
    expect_words(failure_of(at::ones({2}), semantics), StatusCode::kInvalidArgument, {key, "obs", "policy"});
  }
  Semantics kind;
  kind.kind = "any";
  const auto nested = flatten("policy", {{"obs", Nested::List{at::ones({1})}, kind}});
  expect_words(nested.status(), StatusCode::kWrongType, {"obs", "policy", "nested"});
}

}  // namespace
}  // namespace leapp::exporter
