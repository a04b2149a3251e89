// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/onnx_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/native/native_engine.h"
#include "engine/ort/ort_engine.h"

namespace leapp::runtime {
namespace {

/// Up to here our own engine was measured to be the faster one; see docs/realtime.md.
constexpr double kMostMultiplications = -1;

/// What the options ask of ONNX Runtime alone; empty: nothing.
std::string asked_of_onnxruntime(const engine::Options& options) {
  if (options.provider == engine::Provider::kCuda) return "CUDA was asked for";
  if (!options.profile_prefix.empty()) return "a profile was asked for";
  if (options.intra_op_threads != 1) return "several threads were asked for";
  return "";
}

class OnnxEngine final : public engine::Engine {
 public:
  explicit OnnxEngine(engine::Options options) : options_(std::move(options)) {}

  [[nodiscard]] const std::string& description() const override {
    return onnxruntime_ ? onnxruntime_->description() : description_;
  }

  Result<std::unique_ptr<engine::Model>> load(const engine::ModelSource& source) override {
    const std::string asked = asked_of_onnxruntime(options_);
    auto native = native::attempt(source);
    if (!native.ok()) return load_elsewhere(source, {}, "LEAPP's own engine cannot read it");
    native::Attempt& attempt = native.value();
    if (!attempt.model) {
      const std::string why = fmt::format("LEAPP's own engine does not cover {} of its nodes, the first: {}",
                                          attempt.uncovered.size(), first_line(native::describe(attempt.uncovered)));
      return load_elsewhere(source, std::move(attempt.report.operators), why);
    }
    if (!asked.empty()) return load_elsewhere(source, std::move(attempt.report.operators), asked);
    if (attempt.cost.multiplications > kMostMultiplications) {
      auto other = load_elsewhere(source, attempt.report.operators, "the faster one for a model of this size");
      if (other.ok()) return other;
      attempt.report.why = "it covers every operator, and there is no ONNX Runtime";
    } else {
      attempt.report.why = "it covers every operator and is the faster one for a model of this size";
    }
    attempt.model->set_report(std::move(attempt.report));
    return std::move(attempt.model);
  }

 private:
  static std::string first_line(const std::string& text) {
    const std::string line = text.substr(0, text.find('\n'));
    return line.substr(std::min(line.find_first_not_of(' '), line.size()));
  }

  Result<std::unique_ptr<engine::Model>> load_elsewhere(const engine::ModelSource& source,
                                                        std::vector<engine::OperatorReport> operators,
                                                        const std::string& why) {
    if (!onnxruntime_) {
      LEAPP_ASSIGN_OR_RETURN(onnxruntime_, engine::open_onnxruntime(options_));
    }
    LEAPP_ASSIGN_OR_RETURN(auto model, onnxruntime_->load(source));
    model->set_report({source.name, onnxruntime_->description(), false, why, std::move(operators)});
    return model;
  }

  engine::Options options_;
  std::string description_ = "LEAPP's own engine or ONNX Runtime";
  std::unique_ptr<engine::Engine> onnxruntime_;
};

}  // namespace

Result<std::unique_ptr<engine::Engine>> open_onnx_engine(const engine::Options& options) {
  if (options.prefer == engine::Prefer::kNative) return native::open_native();
  if (options.prefer == engine::Prefer::kOnnxRuntime || kMostMultiplications < 0) {
    return engine::open_onnxruntime(options);
  }
  return std::unique_ptr<engine::Engine>(std::make_unique<OnnxEngine>(options));
}

}  // namespace leapp::runtime
