// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/both_engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "inspect/compare.h"
#include "inspect/words.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/mock.h"

namespace leapp::inspect {
namespace {

constexpr std::size_t kSteps = 5;
/// The time that ONNX Runtime takes to load grows with more than the number of operators.
constexpr std::size_t kMostOperators = 20'000;

std::span<const std::byte> bytes_of(const TensorView& view) {
  return {static_cast<const std::byte*>(view.data), view.size() * dtype_size(view.dtype)};
}

class Both {
 public:
  Both(runtime::Pipeline own, runtime::Pipeline other) : own_(std::move(own)), other_(std::move(other)) {}

  void run(EngineComparison& result) {
    std::vector<runtime::MockSource> sources;
    for (const std::string& name : own_.inputs()) sources.emplace_back(0, name);
    for (; result.steps < kSteps && result.port.empty(); ++result.steps) {
      for (std::size_t i = 0; i < sources.size(); ++i) {
        const TensorView input = own_.input(own_.inputs()[i]).value();
        sources[i].fill(input);
        if (!other_.set_input_value(own_.inputs()[i], input).ok()) return;
      }
      if (!step(result)) return;
      compare_all(result);
      if (!result.port.empty()) return;
    }
  }

 private:
  // Both fail when it is the data's fault.
  bool step(EngineComparison& result) {
    const bool own = own_.step() == runtime::StepResult::kOk;
    const bool other = other_.step() == runtime::StepResult::kOk;
    if (own != other) {
      result.port = "step";
      result.difference = fmt::format("{} fails: {}", own ? "ONNX Runtime" : "LEAPP's own engine",
                                      one_line((own ? other_ : own_).error().message()));
    }
    return own && other;
  }

  void compare_all(EngineComparison& result) {
    for (const std::string& name : own_.outputs()) {
      compare_one(name, own_.output(name).value(), other_.output(name).value(), result);
    }
    for (const std::string& name : own_.feedback_inputs()) {
      compare_one(name, own_.feedback_input(name).value(), other_.feedback_input(name).value(), result);
    }
  }

  static void compare_one(const std::string& name, const TensorView& own, const TensorView& other,
                          EngineComparison& result) {
    const TensorDifference found = compare(own, bytes_of(other), usual_tolerance(own.dtype));
    result.largest = std::max(result.largest, found.largest);
    if (!found.first || !result.port.empty()) return;
    result.port = name;
    result.difference = fmt::format("element {} in step {} is {} on LEAPP's own engine and {} on ONNX Runtime",
                                    found.first->element, result.steps, found.first->found, found.first->expected);
  }

  runtime::Pipeline own_;
  runtime::Pipeline other_;
};

std::size_t operators_of(const runtime::Pipeline& pipeline) {
  std::size_t count = 0;
  for (const engine::Report& report : pipeline.engine()) {
    for (const engine::OperatorReport& row : report.operators) count += row.count;
  }
  return count;
}

}  // namespace

EngineComparison compare_engines(const OpenedBundle& opened, const runtime::LoadOptions& options) {
  EngineComparison result;
  const auto& models = opened.spec.models;
  if (std::none_of(models.begin(), models.end(),
                   [](const auto& one) { return one.parameters.format() == bundle::ModelFormat::kOnnx; })) {
    result.why_not = "there is no ONNX model";
    return result;
  }
  runtime::LoadOptions load = options;
  load.engine.prefer = engine::Prefer::kNative;
  auto own = runtime::Pipeline::load(opened.yaml, load);
  if (own.ok() && operators_of(own.value()) > kMostOperators) {
    result.operators = operators_of(own.value());
    return result;
  }
  load.engine.prefer = engine::Prefer::kOnnxRuntime;
  auto other = own.ok() ? runtime::Pipeline::load(opened.yaml, load) : own.status();
  if (!other.ok()) {
    result.why_not = in_option_words(one_line(other.status().message()));
    return result;
  }
  result.compared = true;
  Both(std::move(own).value(), std::move(other).value()).run(result);
  return result;
}

std::string comparison_text(const EngineComparison& comparison) {
  if (comparison.operators > 0) {
    return fmt::format("LEAPP's own engine and ONNX Runtime were not compared: {} operators, at most {} are\n",
                       comparison.operators, kMostOperators);
  }
  if (!comparison.compared || !comparison.port.empty()) return "";
  return fmt::format("LEAPP's own engine and ONNX Runtime agree over {}\n", plural(comparison.steps, "step"));
}

Json comparison_json(const EngineComparison& comparison) {
  return {{"compared", comparison.compared},
          {"agree", comparison.compared ? Json(comparison.port.empty()) : Json(nullptr)},
          {"steps", comparison.steps}};
}

}  // namespace leapp::inspect
