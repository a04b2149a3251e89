// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/samples.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "capture/recorder/tensor_content.h"
#include "exporter/validate/numbers/compare.h"
#include "torch_types/tensors.h"

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::optional<graph::Constant> value(const at::Tensor& tensor) { return to_constant(tensor); }

Comparison compare_one(const at::Tensor& found, const at::Tensor& expected, Tolerance tolerance = {}) {
  return compare({value(found)}, {value(expected)}, {"policy", {"action"}, 3, tolerance});
}

bool agree(const Comparison& comparison) { return comparison.problems.empty(); }

void expect_problem(const Comparison& comparison, const std::vector<std::string>& parts) {
  ASSERT_EQ(comparison.problems.size(), 1U);
  for (const std::string& part : parts) {
    EXPECT_NE(comparison.problems[0].text.find(part), std::string::npos)
        << part << " in " << comparison.problems[0].text;
  }
}

TEST(Compare, EqualWithinTolerance) {
  const at::Tensor expected = at::tensor({1.0F, -2.0F, 100.0F});
  EXPECT_TRUE(agree(compare_one(expected.clone(), expected)));
  EXPECT_TRUE(agree(compare_one(expected.mul(1.0005), expected)));
  EXPECT_FALSE(agree(compare_one(expected.mul(1.0005), expected, {1e-4, 0})));
  EXPECT_TRUE(agree(compare_one(at::zeros({0, 3}), at::zeros({0, 3}))));
  EXPECT_TRUE(agree(compare_one(at::ones({2}, at::kBool), at::ones({2}, at::kBool))));
}

TEST(Compare, MismatchesAreDescribed) {
  expect_problem(compare({}, {value(at::ones({2}))}, {"policy", {"action"}, 3, {}}),
                 {"policy, sample 3: expected 1 outputs, found 0"});
  expect_problem(compare_one(at::ones({2}), at::ones({3})), {"policy/action, sample 3: expected", "[3]", "[2]"});
  expect_problem(compare_one(at::ones({2}, at::kLong), at::ones({2})), {"policy/action, sample 3: expected"});
  expect_problem(compare_one(at::tensor({1.0F, 2.0F, 3.0F, 8.0F}), at::tensor({1.0F, 2.0F, 3.0F, 4.0F})),
                 {"policy/action, sample 3", "1 of 4 elements (25 %)", "rtol 0.001 and atol 1e-05",
                  "range of the source [1, 4]", "exported output [1, 8]", "|diff| max 4", "mean 1", "p50 0", "p75 1",
                  "p90 2.8", "p99 3.88", "p99.5 3.94", "worst at [3]: exported 8, source 4"});
}

TEST(Compare, NanFailsAndNamesTheSide) {
  const at::Tensor numbers = at::tensor({1.0F, 2.0F});
  const at::Tensor nan = at::tensor({1.0F, kNan});
  expect_problem(compare_one(nan, numbers), {"NaN in the exported output: 1 of 2 elements (50 %)"});
  expect_problem(compare_one(numbers, nan), {"NaN in the source output: 1 of 2"});
  expect_problem(compare_one(nan, nan), {"NaN in the exported output", "NaN in the source output"});
}

TEST(Compare, EqualInfinitiesAreEqualWithAWarning) {
  const at::Tensor infinite = at::tensor({1.0F, kInfinity, -kInfinity});
  const Comparison same = compare_one(infinite.clone(), infinite);
  EXPECT_TRUE(agree(same));
  ASSERT_EQ(same.warnings.size(), 1U);
  EXPECT_NE(same.warnings[0].find("policy/action, sample 3: both sides are infinite in 2 of 3"), std::string::npos);
  expect_problem(compare_one(at::tensor({1.0F, 5.0F, -kInfinity}), infinite),
                 {"Inf at different places: exported 1 of 3"});
  expect_problem(compare_one(infinite.neg(), infinite), {"Inf at different places"});
}

TEST(Compare, WhatIsNotKnownIsNotCompared) {
  EXPECT_TRUE(agree(compare({value(at::ones({2}))}, {value(at::zeros({2}))}, {"policy", {""}, 0, {}})));
  EXPECT_TRUE(agree(compare({value(at::ones({2}))}, {std::nullopt}, {"policy", {"y"}, 0, {}})));
}

TEST(Measure, EveryTypeOfElement) {
  for (const auto type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kChar, at::kShort, at::kInt, at::kLong,
                          at::kByte, at::kComplexFloat}) {
    const at::Tensor expected = at::arange(1, 7).to(type);
    at::Tensor found = expected.clone();
    found[4].add_(2);
    const Difference difference = measure(*value(found), *value(expected), {});
    EXPECT_EQ(difference.wrong, 1U) << type;
    EXPECT_EQ(difference.max, 2.0) << type;
    EXPECT_EQ(difference.worst, type == at::kComplexFloat ? 8U : 4U) << type;
    EXPECT_EQ(difference.worst_found, 7.0) << type;
    EXPECT_EQ(difference.worst_expected, 5.0) << type;
  }
  for (const double number : {65504.0, 6e-8, -1.5, 0.333251953125}) {
    const at::Tensor half = at::full({1}, number, at::kHalf);
    EXPECT_EQ(measure(*value(half), *value(half), {}).found.low, half.to(at::kDouble).item<double>());
  }
}

TEST(Measure, LargeIntegersThatADoubleCannotTellApart) {
  const at::Tensor expected = at::full({1}, (std::int64_t{1} << 60) + 1, at::kLong);
  const Difference difference = measure(*value(expected.sub(1)), *value(expected), {0, 0});
  EXPECT_EQ(difference.wrong, 1U);
  EXPECT_EQ(difference.max, 1.0);
}

TEST(Measure, PercentilesAreExact) {
  for (const std::int64_t elements : {1, 2, 3, 10, 1001}) {
    const at::Tensor expected = at::randn({elements}, at::kDouble);
    const at::Tensor found = expected.add(at::randn({elements}, at::kDouble).pow(3));
    const at::Tensor apart = found.sub(expected).abs();
    const Percentiles p = percentiles(*value(found), *value(expected));
    for (const auto& [share, is] :
         {std::pair{0.5, p.p50}, {0.75, p.p75}, {0.9, p.p90}, {0.99, p.p99}, {0.995, p.p995}}) {
      EXPECT_NEAR(is, apart.quantile(share).item<double>(), 1e-12) << elements << " " << share;
    }
  }
}

// A node that computed 2x + 1, and tests/bundles/models/affine.onnx, which does that.
class ValidateOnnx : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("leapp_validate_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    log_ = Logger::open(folder_).value();
    record_.name = "policy";
    record_.inputs.push_back({.name = "x"});
    record_.outputs.push_back({.name = "y"});
    for (int i = 0; i < 3; ++i) add(at::randn({1, 4}), 1);
    node_.record = &record_;
    node_.inputs = {0};
    model_.name = "policy";
    model_.inputs = {{.name = "x", .shape = {1, 4}}};
    model_.outputs = {{.name = "y", .shape = {1, 4}}};
    model_.parameters.backend = "onnx";
    if (!std::string(LEAPP_TEST_ONNXRUNTIME).empty()) setenv("LEAPP_ONNXRUNTIME", LEAPP_TEST_ONNXRUNTIME, 1);
  }
  void TearDown() override {
    unsetenv("LEAPP_ONNXRUNTIME");
    fs::remove_all(folder_);
  }

  void add(const at::Tensor& x, double offset) {
    record_.samples.push_back(
        {record_.samples.size(), {capture::content_of(x)}, {capture::content_of(x.mul(2).add(offset))}});
  }

  NodeCheck validate(const fs::path& file = fs::path(LEAPP_TEST_BUNDLES) / "models" / "affine.onnx") {
    return check_samples({&node_, &model_, file}, {}, *log_);
  }
  /// The same model, with an operator that nobody knows.
  [[nodiscard]] fs::path other_operator() const {
    std::ifstream file(fs::path(LEAPP_TEST_BUNDLES) / "models" / "affine.onnx", std::ios::binary);
    std::string bytes = (std::stringstream() << file.rdbuf()).str();
    bytes.replace(bytes.find("Add"), 3, "Adx");
    fs::path other = folder_ / "other.onnx";
    std::ofstream(other, std::ios::binary) << bytes;
    return other;
  }
  std::string log() const {
    std::ifstream file(folder_ / "log.txt");
    return (std::stringstream() << file.rdbuf()).str();
  }

  fs::path folder_;
  std::unique_ptr<Logger> log_;
  capture::NodeRecord record_;
  PreparedNode node_;
  bundle::Model model_;
};

TEST_F(ValidateOnnx, FeedsEverySample) {
  if (std::string(LEAPP_TEST_ONNXRUNTIME).empty()) GTEST_SKIP() << "no ONNX Runtime to test with";
  const NodeCheck result = validate();
  EXPECT_EQ(result.status, CheckStatus::kPassed) << result.reason;
  EXPECT_EQ(result.samples, 3U);
  EXPECT_EQ(result.agreeing, 3U);
  EXPECT_EQ(result.outputs, std::vector<std::string>{"y"});
}

TEST_F(ValidateOnnx, ASampleThatDiffersFails) {
  if (std::string(LEAPP_TEST_ONNXRUNTIME).empty()) GTEST_SKIP() << "no ONNX Runtime to test with";
  add(at::randn({1, 4}), 1.5);
  add(at::randn({1, 4}), 1);
  const NodeCheck result = validate();
  EXPECT_EQ(result.status, CheckStatus::kFailed);
  EXPECT_EQ(result.samples, 5U);
  EXPECT_EQ(result.agreeing, 4U);
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_NE(result.problems[0].text.find("policy/y, sample 3: "), std::string::npos) << result.problems[0].text;
}

TEST_F(ValidateOnnx, OutputsThatTheFileHasOtherwise) {
  if (std::string(LEAPP_TEST_ONNXRUNTIME).empty()) GTEST_SKIP() << "no ONNX Runtime to test with";
  model_.outputs[0].shape = {4, 1};
  const NodeCheck other_shape = validate();
  EXPECT_EQ(other_shape.status, CheckStatus::kFailed);
  ASSERT_EQ(other_shape.problems.size(), 1U);
  EXPECT_EQ(other_shape.problems[0].text, "policy: output 'y': expected float32[4,1], found float32[1,4]");
  model_.outputs.push_back({.name = "z", .shape = {1, 4}});
  EXPECT_EQ(validate().problems.at(0).text, "policy: expected 2 outputs, found 1 (y)");
}

TEST_F(ValidateOnnx, WhatCannotBeLoadedIsAnError) {
  if (std::string(LEAPP_TEST_ONNXRUNTIME).empty()) GTEST_SKIP() << "no ONNX Runtime to test with";
  std::ofstream(folder_ / "broken.onnx") << "not a model";
  EXPECT_EQ(validate(folder_ / "broken.onnx").status, CheckStatus::kErrored);
  EXPECT_EQ(validate(folder_ / "missing.onnx").status, CheckStatus::kErrored);
  model_.inputs[0].name = "obs";
  const NodeCheck result = validate();
  EXPECT_EQ(result.status, CheckStatus::kErrored);
  EXPECT_NE(result.reason.find("the model has no input \"obs\"; it has x"), std::string::npos) << result.reason;
}

TEST_F(ValidateOnnx, WithoutOnnxRuntimeItRunsOnOurEngine) {
  setenv("LEAPP_ONNXRUNTIME", "/nowhere", 1);
  EXPECT_EQ(validate().status, CheckStatus::kPassed);
}

TEST_F(ValidateOnnx, WhatNoEngineHereRunsIsSkippedWithAWarning) {
  setenv("LEAPP_ONNXRUNTIME", "/nowhere", 1);
  const NodeCheck result = validate(other_operator());
  EXPECT_EQ(result.status, CheckStatus::kSkipped) << result.reason;
  EXPECT_NE(result.reason.find("LEAPP_ONNXRUNTIME"), std::string::npos) << result.reason;
  EXPECT_NE(log().find("policy: the exported model was not run: LEAPP_ONNXRUNTIME"), std::string::npos) << log();
}

TEST_F(ValidateOnnx, OtherBackendsAreSkippedWithAWarning) {
  model_.parameters.backend = "pt2";
  EXPECT_EQ(validate().status, CheckStatus::kSkipped);
  EXPECT_NE(log().find("nothing here runs 'pt2' models"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::exporter
