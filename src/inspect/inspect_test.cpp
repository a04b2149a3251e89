// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "inspect/compare.h"
#include "inspect/differences.h"
#include "inspect/findings.h"
#include "inspect/lint.h"

namespace leapp::inspect {
namespace {

bundle::Port port(const std::string& name, const std::string& kind, std::vector<std::string> elements) {
  bundle::Port made;
  made.name = name;
  made.shape = {1, static_cast<std::int64_t>(elements.size())};
  if (!kind.empty()) made.kind = kind;
  made.element_names = {std::nullopt, std::move(elements)};
  return made;
}

/// pre (q -> features) and policy (features -> action), as an export writes them.
bundle::BundleSpec robot() {
  bundle::BundleSpec spec;
  bundle::Model pre;
  pre.name = "pre";
  pre.inputs = {port("q", "state/joint/position", {"hip", "knee"})};
  pre.outputs = {port("features", "", {"a", "b"})};
  bundle::Model policy;
  policy.name = "policy";
  policy.inputs = {port("features", "", {"a", "b"})};
  policy.outputs = {port("action", "target/joint/position", {"hip", "knee"})};
  spec.models = {pre, policy};
  spec.pipeline.inputs = {{"pre", {"q"}}};
  spec.pipeline.outputs = {{"policy", {"action"}}};
  spec.pipeline.data_flow = {{"pre/features", {"policy/features"}}};
  spec.pipeline.configs.emplace_back("frequency", bundle::YamlValue{50.0});
  return spec;
}

OpenedBundle opened(bundle::BundleSpec spec) {
  OpenedBundle made;
  made.yaml = "walk/walk.yaml";
  made.name = "walk";
  made.report = bundle::resolve_wiring(spec);
  made.spec = std::move(spec);
  EXPECT_TRUE(made.report.problems.empty()) << made.report.problems.front().message();
  return made;
}

std::vector<std::string> findings_of(bundle::BundleSpec spec) {
  std::vector<std::string> lines;
  for (const CheckFinding& one : lint(opened(std::move(spec)))) lines.push_back(one.place + ": " + one.message);
  return lines;
}

bool one_says(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) < line.size(); });
}

TEST(Lint, ASoundBundleHasNoFindings) { EXPECT_EQ(findings_of(robot()), std::vector<std::string>()); }

TEST(Lint, AMistypedKind) {
  bundle::BundleSpec spec = robot();
  spec.models[0].inputs[0].kind = "state/joint/postion";
  EXPECT_EQ(findings_of(spec),
            std::vector<std::string>{"pre/q: the kind \"state/joint/postion\" is unknown; did you mean "
                                     "\"state/joint/position\"?"});
  for (const char* own : {"state/tail/position", "battery", "kq/x", "state/joint/temperature"}) {
    spec.models[0].inputs[0].kind = own;
    EXPECT_EQ(findings_of(spec), std::vector<std::string>()) << own;
  }
}

TEST(Lint, AnElementNameThatOccursTwice) {
  bundle::BundleSpec spec = robot();
  spec.models[1].outputs[0].element_names = {std::nullopt, std::vector<std::string>{"hip", "hip"}};
  EXPECT_TRUE(one_says(findings_of(spec), "policy/action: the element name \"hip\" occurs more than once"));
}

TEST(Lint, ElementNamesThatChangeAlongAnEdge) {
  bundle::BundleSpec spec = robot();
  spec.models[1].inputs[0].element_names = {std::nullopt, std::vector<std::string>{"b", "a"}};
  EXPECT_TRUE(one_says(findings_of(spec), "axis 1, element 0: \"a\" becomes \"b\""));
}

TEST(Lint, FrequencyKindsAndDtypes) {
  bundle::BundleSpec spec = robot();
  spec.pipeline.configs.clear();
  spec.models[0].inputs[0].kind.reset();
  spec.models[0].inputs[0].dtype = DType::kFloat64;
  const std::vector<std::string> lines = findings_of(spec);
  EXPECT_TRUE(one_says(lines, "no frequency"));
  EXPECT_TRUE(one_says(lines, "pre/q: the input has no kind"));
  EXPECT_TRUE(one_says(lines, "found float64"));
}

TEST(Lint, GainsThatAreZero) {
  bundle::BundleSpec spec = robot();
  spec.models[1].outputs[0].extra.emplace_back("kp", bundle::YamlValue{0.0});
  EXPECT_TRUE(one_says(findings_of(spec), "all of kp is zero"));
}

TEST(Findings, ErrorsComeFirstAndAreCounted) {
  std::vector<CheckFinding> findings{
      {Severity::kNote, "a", "", ""}, {Severity::kError, "b", "", ""}, {Severity::kNote, "c", "", ""}};
  sort_by_severity(findings);
  EXPECT_EQ(findings[0].place, "b");
  EXPECT_EQ(findings[1].place, "a");
  EXPECT_EQ(counts_text(findings), "1 error, 0 warnings, 2 notes");
}

TEST(Differences, EqualBundlesHaveNone) { EXPECT_TRUE(diff_specs(robot(), robot()).empty()); }

TEST(Differences, PortsKindsAndConfiguration) {
  bundle::BundleSpec other = robot();
  other.models[0].inputs[0].kind = "state/joint/velocity";
  other.models[1].outputs[0].shape = {1, 3};
  other.pipeline.configs[0].second = bundle::YamlValue{100.0};
  std::vector<std::string> places;
  for (const BundleDifference& one : diff_specs(robot(), other)) places.push_back(one.place);
  std::sort(places.begin(), places.end());
  EXPECT_TRUE(std::any_of(places.begin(), places.end(), [](const auto& one) { return one.find("pre/q") == 0; }));
  EXPECT_TRUE(
      std::any_of(places.begin(), places.end(), [](const auto& one) { return one.find("policy/action") == 0; }));
  EXPECT_TRUE(std::any_of(places.begin(), places.end(), [](const auto& one) { return one.find("frequency") == 0; }));
}

TEST(Differences, ANodeThatOnlyOneHas) {
  bundle::BundleSpec other = robot();
  bundle::Model extra = other.models[1];
  extra.name = "filter";
  other.models.push_back(extra);
  const std::vector<BundleDifference> found = diff_specs(robot(), other);
  const auto node = std::find_if(found.begin(), found.end(), [](const auto& one) { return one.what == "node"; });
  ASSERT_NE(node, found.end());
  EXPECT_EQ(node->place, "filter");
  EXPECT_TRUE(node->a.empty());
}

TEST(CompareTensors, TheFirstElementOutsideTheTolerance) {
  std::vector<float> found{1, 2, 3};
  const std::vector<float> expected{1, 2.5F, 3};
  const std::vector<std::int64_t> shape{3};
  const TensorView view{.data = found.data(), .dtype = DType::kFloat32, .shape = shape};
  const TensorDifference difference = compare(view, std::as_bytes(std::span(expected)), {.rtol = 1e-3, .atol = 1e-5});
  ASSERT_TRUE(difference.first);
  EXPECT_EQ(difference.first->element, 1U);
  EXPECT_EQ(difference.count, 1U);
  EXPECT_EQ(difference.largest, 0.5);
}

}  // namespace
}  // namespace leapp::inspect
