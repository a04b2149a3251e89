// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate.h"

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

#include "exporter/validate_compare.h"

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Comparison compare_one(const at::Tensor& found, const at::Tensor& expected, Tolerance tolerance = {}) {
  return compare({found}, {expected}, {"policy", {"action"}, 3, tolerance});
}

void expect_problem(const Comparison& comparison, const std::vector<std::string>& parts) {
  ASSERT_FALSE(comparison.problem.empty());
  for (const std::string& part : parts) {
    EXPECT_NE(comparison.problem.find(part), std::string::npos) << part << " in " << comparison.problem;
  }
}

TEST(Compare, EqualWithinTolerance) {
  const at::Tensor expected = at::tensor({1.0F, -2.0F, 100.0F});
  EXPECT_EQ(compare_one(expected.clone(), expected).problem, "");
  EXPECT_EQ(compare_one(expected.mul(1.0005), expected).problem, "");
  EXPECT_NE(compare_one(expected.mul(1.0005), expected, {1e-4, 0}).problem, "");
  EXPECT_EQ(compare_one(at::zeros({0, 3}), at::zeros({0, 3})).problem, "");
  EXPECT_EQ(compare_one(at::ones({2}, at::kBool), at::ones({2}, at::kBool)).problem, "");
}

TEST(Compare, MismatchesAreDescribed) {
  expect_problem(compare({}, {at::ones({2})}, {"policy", {"action"}, 3, {}}),
                 {"policy, sample 3: expected 1 outputs, found 0"});
  expect_problem(compare_one(at::ones({2}), at::ones({3})), {"policy/action, sample 3: expected", "[3]", "[2]"});
  expect_problem(compare_one(at::ones({2}, at::kLong), at::ones({2})), {"policy/action, sample 3: expected"});
  expect_problem(
      compare_one(at::tensor({1.0F, 2.0F, 3.0F, 8.0F}), at::tensor({1.0F, 2.0F, 3.0F, 4.0F})),
      {"policy/action, sample 3", "1 of 4 elements (25 %)", "rtol 0.001 and atol 1e-05", "range of the source [1, 4]",
       "exported output [1, 8]", "|diff| max 4", "mean 1", "p50 0", "p75 0", "p90 4", "p99 4", "p99.5 4"});
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
  EXPECT_EQ(same.problem, "");
  ASSERT_EQ(same.warnings.size(), 1U);
  EXPECT_NE(same.warnings[0].find("policy/action, sample 3: both sides are infinite in 2 of 3"), std::string::npos);
  expect_problem(compare_one(at::tensor({1.0F, 5.0F, -kInfinity}), infinite),
                 {"Inf at different places: exported 1 of 3"});
  expect_problem(compare_one(infinite.neg(), infinite), {"Inf at different places"});
}

TEST(Compare, WhatIsNotKnownIsNotCompared) {
  EXPECT_EQ(compare({at::ones({2})}, {at::zeros({2})}, {"policy", {""}, 0, {}}).problem, "");
  EXPECT_EQ(compare({at::ones({2})}, {at::Tensor()}, {"policy", {"y"}, 0, {}}).problem, "");
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

  void add(const at::Tensor& x, double offset) { record_.samples.push_back({{x}, {x.mul(2).add(offset)}}); }

  NodeResult validate(const fs::path& file = fs::path(LEAPP_TEST_BUNDLES) / "models" / "affine.onnx") {
    return validate_model({&node_, &model_, file}, {}, *log_);
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
  const NodeResult result = validate();
  EXPECT_EQ(result.status, "passed") << result.message;
  EXPECT_EQ(result.samples, 3);
  EXPECT_EQ(result.outputs, 1);
}

TEST_F(ValidateOnnx, ASampleThatDiffersFails) {
  if (std::string(LEAPP_TEST_ONNXRUNTIME).empty()) GTEST_SKIP() << "no ONNX Runtime to test with";
  add(at::randn({1, 4}), 1.5);
  const NodeResult result = validate();
  EXPECT_EQ(result.status, "failed");
  EXPECT_EQ(result.samples, 3);
  EXPECT_NE(result.message.find("policy/y, sample 3: "), std::string::npos) << result.message;
  EXPECT_NE(result.message.find("Earlier samples agree"), std::string::npos) << result.message;
}

TEST_F(ValidateOnnx, WhatCannotBeLoadedIsAnError) {
  if (std::string(LEAPP_TEST_ONNXRUNTIME).empty()) GTEST_SKIP() << "no ONNX Runtime to test with";
  std::ofstream(folder_ / "broken.onnx") << "not a model";
  EXPECT_EQ(validate(folder_ / "broken.onnx").status, "errored");
  EXPECT_EQ(validate(folder_ / "missing.onnx").status, "errored");
  model_.inputs[0].name = "obs";
  const NodeResult result = validate();
  EXPECT_EQ(result.status, "errored");
  EXPECT_NE(result.message.find("the model has no input \"obs\"; it has x"), std::string::npos) << result.message;
}

TEST_F(ValidateOnnx, WithoutOnnxRuntimeItIsSkippedWithAWarning) {
  setenv("LEAPP_ONNXRUNTIME", "/nowhere", 1);
  const NodeResult result = validate();
  EXPECT_EQ(result.status, "skipped");
  EXPECT_TRUE(result.ok());
  EXPECT_NE(result.message.find("LEAPP_ONNXRUNTIME"), std::string::npos) << result.message;
  EXPECT_NE(log().find("policy: the exported model was not run: LEAPP_ONNXRUNTIME"), std::string::npos) << log();
}

TEST_F(ValidateOnnx, OtherBackendsAreSkippedWithAWarning) {
  model_.parameters.backend = "pt2";
  EXPECT_EQ(validate().status, "skipped");
  EXPECT_NE(log().find("nothing here runs 'pt2' models"), std::string::npos) << log();
}

}  // namespace
}  // namespace leapp::exporter
