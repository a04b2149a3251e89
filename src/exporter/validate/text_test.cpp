// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of validation that are text and plain data: no torch, no models.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <string>

#include "exporter/validate/numbers/trend.h"
#include "exporter/validate/report/console.h"
#include "exporter/validate/report/finding_text.h"
#include "exporter/validate/report/findings.h"
#include "exporter/validate/report/snippets.h"
#include "exporter/validate/report/source_text.h"

namespace {

thread_local std::size_t g_allocated = 0;  // bytes, by this thread

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  g_allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

class SourceText : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = (fs::temp_directory_path() / ("leapp_source_text_" + std::to_string(::getpid()) + ".py")).string();
    std::ofstream(file_) << "def policy(x):\n"                        // 1
                            "    if x.sum().item() > 0:  # sign\n"    // 2
                            "        y = x * 2  # twice, \"so\"\n"    // 3
                            "    else:\n"                             // 4
                            "        y = x - self.offset\n"           // 5
                            "    return torch.relu(y) * gain['#']\n"  // 6
                            "    y == 3\n";                           // 7
  }
  void TearDown() override { fs::remove(file_); }
  std::string file_;
};

TEST_F(SourceText, LinesWithoutComments) {
  EXPECT_EQ(line_of(file_, 3), "y = x * 2");
  EXPECT_EQ(line_of(file_, 6), "return torch.relu(y) * gain['#']");
  EXPECT_EQ(line_of(file_, 99), "");
  EXPECT_EQ(line_of(file_, 0), "");
  EXPECT_EQ(line_of("<stdin>", 1), "");
}

TEST_F(SourceText, TheConditionALineStandsUnder) {
  EXPECT_EQ(condition_over(file_, 3).text, "x.sum().item() > 0");
  EXPECT_FALSE(condition_over(file_, 3).negated);
  EXPECT_EQ(condition_over(file_, 5).text, "x.sum().item() > 0");
  EXPECT_TRUE(condition_over(file_, 5).negated);
  EXPECT_EQ(condition_over(file_, 6).text, "");
}

TEST_F(SourceText, NamesAndAssignments) {
  EXPECT_EQ(assignment_in("y = x * 2").target, "y");
  EXPECT_EQ(assignment_in("y = x * 2").expression, "x * 2");
  EXPECT_EQ(assignment_in("return f(a=1)").expression, "f(a=1)");
  EXPECT_EQ(assignment_in("f(a=1)").target, "");
  EXPECT_EQ(assignment_in("y == 3").target, "");
  EXPECT_EQ(assignment_in("y += 3").target, "");
  EXPECT_EQ(names_read("y = x * self.gain + torch.relu(x) - 1.5"), (std::vector<std::string>{"x", "self.gain"}));
  EXPECT_EQ(names_read("return x if \"a b\" else None"), (std::vector<std::string>{"x"}));
  EXPECT_EQ(index_in("self.keys[self.order[i]] = key[0]"), "self.order[i]");
  EXPECT_EQ(index_in("keys.copy_(key)"), "keys.copy_(key)");
  EXPECT_EQ(without_escapes("s = float(x.max()) + y.item()"), "s = x.max() + y");
  EXPECT_EQ(with_name_replaced("self.gain * self.gains", "self.gain", "gain"), "gain * self.gains");
}

TEST_F(SourceText, Snippets) {
  const ProgramName gain = name_in("return obs * self.gain", "", {"obs"});
  EXPECT_EQ(gain.text, "self.gain");
  EXPECT_EQ(number_snippet("policy", gain, "return obs * self.gain"),
            "gain = annotate.input_tensors(\"policy\", {\"gain\": torch.as_tensor(self.gain)})\nreturn obs * gain");
  EXPECT_EQ(name_in("return a * b", "", {}).name, "value");
  EXPECT_EQ(name_in("return a * self.b", "b", {}).text, "self.b");
  EXPECT_EQ(branch_snippet({file_, 3, ""}, {file_, 5, ""}), "y = torch.where(x.sum() > 0, x * 2, x - self.offset)");
  EXPECT_EQ(branch_snippet({file_, 5, ""}, {file_, 3, ""}), "y = torch.where(x.sum() > 0, x * 2, x - self.offset)");
  EXPECT_EQ(branch_snippet({file_, 3, ""}, {file_, 6, ""}), "");
  EXPECT_EQ(branch_snippet({file_, 3, ""}, {file_, 3, ""}), "");
  EXPECT_EQ(glue_snippet("policy", "obs", "obs = features * 2"),
            "features = annotate.input_tensors(\"policy\", {\"features\": features})  # first\n"
            "obs = features * 2  # then, inside the node");
}

TEST(Trend, OverPasses) {
  EXPECT_EQ(trend_of(std::vector<double>{0, 0, 0}), Trend::kNone);
  EXPECT_EQ(trend_of(std::vector<double>{1, 1.5, 1, 1.2}), Trend::kSteady);
  EXPECT_EQ(trend_of(std::vector<double>{1, 2, 4, 8}), Trend::kGrows);
  EXPECT_EQ(trend_of(std::vector<double>{8, 4, 2, 1}), Trend::kShrinks);
  EXPECT_EQ(trend_of(std::vector<double>{8}), Trend::kSteady);
}

// What reports and Python see.
TEST(Words, OfWhatValidationFound) {
  EXPECT_EQ(check_status_name(CheckStatus::kSkipped), "skipped");
  EXPECT_EQ(check_status_name(CheckStatus::kPassed), "passed");
  EXPECT_EQ(check_status_name(CheckStatus::kFailed), "failed");
  EXPECT_EQ(check_status_name(CheckStatus::kErrored), "errored");
  EXPECT_EQ(problem_kind_name(ProblemKind::kCount), "count");
  EXPECT_EQ(problem_kind_name(ProblemKind::kType), "type");
  EXPECT_EQ(problem_kind_name(ProblemKind::kNan), "nan");
  EXPECT_EQ(problem_kind_name(ProblemKind::kInfinity), "infinity");
  EXPECT_EQ(problem_kind_name(ProblemKind::kMismatch), "mismatch");
  EXPECT_EQ(trend_name(Trend::kNone), "none");
  EXPECT_EQ(trend_name(Trend::kSteady), "steady");
  EXPECT_EQ(trend_name(Trend::kGrows), "grows");
  EXPECT_EQ(trend_name(Trend::kShrinks), "shrinks");
}

graph::Constant floats(const std::vector<float>& values) {
  return {{DType::kFloat32, {static_cast<std::int64_t>(values.size())}},
          std::shared_ptr<const void>(values.data(), [](const void*) {})};
}

TEST(Difference, ALargeOutputIsNotCopied) {
  const std::vector<float> expected(25'000'000, 1.0F);  // 100 MB
  std::vector<float> found = expected;
  const graph::Constant a = floats(found);
  const graph::Constant b = floats(expected);
  std::size_t before = g_allocated;
  const Difference same = measure(a, b, {});
  const std::size_t allocated = g_allocated - before;
  EXPECT_TRUE(same.agrees());
  EXPECT_EQ(allocated, 0U);
  found[7'000'000] = 3.0F;
  before = g_allocated;
  EXPECT_EQ(measure(a, b, {}).worst, 7'000'000U);
  EXPECT_EQ(percentiles(a, b).p995, 0.0);
  EXPECT_LT(g_allocated - before, std::size_t{2} << 20U);
}

NodeCheck check(const std::string& node, CheckStatus status) {
  NodeCheck result;
  result.node = node;
  result.backend = "onnx";
  result.status = status;
  result.samples = result.known_samples = result.agreeing = 6;
  result.outputs = {"y"};
  result.max = {2e-7};
  result.milliseconds = 14.2;
  return result;
}

OutputProblem problem() {
  OutputProblem result;
  result.kind = ProblemKind::kMismatch;
  result.output = "y";
  result.sample = 2;
  result.brief = "1 of 4 elements (25 %) differ, |diff| max 0.5";
  result.text = "policy/y, sample 2: float32[4]: all the numbers";
  return result;
}

Validation failing() {
  Validation validation;
  validation.name = "walk";
  validation.nodes = {check("pre", CheckStatus::kPassed), check("policy", CheckStatus::kFailed),
                      check("große", CheckStatus::kSkipped)};
  validation.nodes[1].agreeing = 5;
  validation.nodes[1].max = {0.5};
  validation.nodes[1].problems = {problem()};
  validation.nodes[2].backend = "";
  validation.nodes[2].samples = 0;
  validation.nodes[2].max = {std::numeric_limits<double>::quiet_NaN()};
  validation.nodes[2].reason = "the node has no model";
  validation.pipeline = {.status = CheckStatus::kSkipped, .reason = "node 'große' has no model"};
  return validation;
}

TEST(Findings, AFaultOfOneEngineAloneIsSaidToBeThat) {
  Validation validation = failing();
  validation.nodes[1].engines = {"ONNX Runtime", "LEAPP's own engine"};
  validation.nodes[1].only_on = "LEAPP's own engine";
  const std::vector<Finding> findings = join_findings(validation, {});
  ASSERT_EQ(findings.size(), 1U);
  const std::string text = finding_text(findings[0]);
  EXPECT_NE(text.find("only on LEAPP's own engine: on ONNX Runtime the model gives what the program gave"),
            std::string::npos)
      << text;
  EXPECT_NE(findings[0].remedy.find("LEAPP_ENGINE=onnxruntime"), std::string::npos) << findings[0].remedy;
}

TEST(Console, ALineForEachNode) {
  Validation validation = failing();
  NodeCheck both = validation.nodes[0];
  both.engines = {"ONNX Runtime", "LEAPP's own engine"};
  EXPECT_EQ(node_line(both, 1, 3), "[1/3] pre → onnx 14 ms, 6 samples ok on ONNX Runtime and LEAPP's own engine");
  EXPECT_EQ(node_line(validation.nodes[0], 1, 3), "[1/3] pre → onnx 14 ms, 6 samples ok");
  EXPECT_EQ(node_line(validation.nodes[1], 2, 3), "[2/3] policy → onnx 14 ms, 1 of 6 samples differ");
  EXPECT_EQ(node_line(validation.nodes[2], 3, 3), "[3/3] große → no model: not checked: the node has no model");
}

TEST(Console, TheTable) {
  EXPECT_EQ(
      table_text(failing(), false),
      "  node              model  samples ok  max |diff|  result\n"
      "  pre               onnx   6 of 6      2e-07       passed\n"
      "  policy            onnx   5 of 6      0.5         failed   y: 1 of 4 elements (25 %) differ, |diff| max 0.5\n"
      "  große             -      -           -           skipped  the node has no model\n"
      "  (whole pipeline)         -           -           skipped  node 'große' has no model\n"
      "Validation: 1 passed, 1 failed, 0 errored, 1 skipped");
  EXPECT_NE(table_text(failing(), true).find("\x1b[31mfailed\x1b[0m"), std::string::npos);
}

TEST(Findings, NumbersJoinTheirCause) {
  Validation validation = failing();
  Suspect branch{Weight::kDiffers, {.kind = "branch", .fails = true, .node = "policy", .what = "another operator"}};
  Suspect glue{Weight::kNote, {.kind = "glue", .node = "pre", .what = "stands between"}};
  const std::vector<Finding> findings = join_findings(validation, {glue, branch});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].kind, "branch");
  EXPECT_EQ(findings[0].details,
            (std::vector<std::string>{"it shows in sample 2 of 6", "policy/y, sample 2: float32[4]: all the numbers"}));
  EXPECT_FALSE(findings[1].fails);
}

TEST(Findings, ACallThatDiffersFailsNoNodeWhoseSamplesAgree) {
  Validation validation;
  validation.nodes = {check("policy", CheckStatus::kPassed)};
  const Suspect number{Weight::kDiffers, {.kind = "baked_number", .fails = true, .node = "policy", .what = "another"}};
  const std::vector<Finding> findings = join_findings(validation, {number});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_FALSE(findings[0].fails);
  EXPECT_EQ(validation.nodes[0].status, CheckStatus::kPassed);
}

TEST(Findings, AnOperatorThatDiffersIsACauseOfItsOwn) {
  Validation validation = failing();
  validation.nodes[1].bisection = Bisection{.outcome = Bisection::Outcome::kFirst,
                                            .op = "aten::relu",
                                            .location = {"/nowhere/policy.py", 12, "forward"},
                                            .position = 3,
                                            .operators = 9,
                                            .difference = "all of it"};
  const std::vector<Finding> findings = join_findings(validation, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, "mismatch");
  EXPECT_EQ(findings[0].line, 12);
  EXPECT_NE(findings[0].details.back().find("aten::relu is the first of 9 operators"), std::string::npos);
}

TEST(Findings, WhatOnlyTheWholePipelineShows) {
  Validation validation;
  validation.nodes = {check("pre", CheckStatus::kPassed), check("policy", CheckStatus::kPassed)};
  validation.pipeline = {.status = CheckStatus::kFailed, .passes = 3};
  validation.pipeline.outputs = {
      {.output = "policy/y", .max = {0, 0.5, 2}, .worst_pass = 2, .trend = Trend::kGrows, .problem = problem()}};
  const std::vector<Finding> findings = join_findings(validation, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, "drift");
  EXPECT_EQ(findings[0].details[0], "|diff| max by pass (3 passes): 0, 0.5, 2; worst in pass 2, grows");
  EXPECT_EQ(validation.nodes[1].status, CheckStatus::kFailed);
  EXPECT_EQ(validation.nodes[0].status, CheckStatus::kPassed);
}

TEST(Findings, AsText) {
  const Finding finding{.kind = "branch",
                        .fails = true,
                        .node = "policy",
                        .what = "call 1 differs",
                        .file = "policy.py",
                        .line = 12,
                        .code = "y = x",
                        .details = {"it shows in sample 2"},
                        .remedy = "choose with tensors",
                        .snippet = "y = a\nz = b"};
  EXPECT_EQ(finding_text(finding),
            "call 1 differs\n    where: policy.py:12    y = x\n    it shows in sample 2\n"
            "    what to do: choose with tensors\n        y = a\n        z = b");
}

}  // namespace
}  // namespace leapp::exporter
