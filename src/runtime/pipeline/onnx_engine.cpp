// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/onnx_engine.h"

#include <fmt/format.h>

#include <utility>

#include "engine/native/native_engine.h"
#include "engine/ort/ort_engine.h"
#include "runtime/pipeline/engine_choice.h"

namespace leapp::runtime {
namespace {

class OnnxEngine final : public engine::Engine {
 public:
  explicit OnnxEngine(engine::Options options) : options_(std::move(options)) {}

  [[nodiscard]] const std::string& description() const override {
    return onnxruntime_ ? onnxruntime_->description() : description_;
  }

  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& source) override {
    LEAPP_ASSIGN_OR_RETURN(EngineChoice choice, choose_engine(source, options_));
    if (choice.native) {
      choice.model->set_report(std::move(choice.report));
      return std::move(choice.model);
    }
    const Status opened = open();
    if (!opened.ok()) return without_onnxruntime(source, std::move(choice), opened);
    // It is about to make copies of its own.
    choice.model.reset();
    LEAPP_ASSIGN_OR_RETURN(auto model, onnxruntime_->load(source));
    choice.report.engine = onnxruntime_->description();
    model->set_report(std::move(choice.report));
    return model;
  }

 private:
  Status open() {
    if (onnxruntime_) return {};
    LEAPP_ASSIGN_OR_RETURN(onnxruntime_, engine::open_onnxruntime(options_));
    return {};
  }

  // What was found to be slower, or too large to be looked at, runs all the same.
  static Result<std::unique_ptr<engine::EngineModel>> without_onnxruntime(const engine::ModelSource& source,
                                                                          EngineChoice choice, const Status& missing) {
    const auto refuse = [&](const std::string& lacking) {
      return Status(missing.code(), fmt::format("cannot load {}: {}{}", source.name, missing.message(), lacking));
    };
    if (choice.only_onnxruntime) return refuse(fmt::format(" [it is needed: {}]", choice.report.why));
    if (!choice.model && choice.uncovered.empty()) {
      auto attempted = native::attempt(source);
      if (!attempted.ok()) return refuse("");
      choice.uncovered = native::describe(attempted.value().uncovered);
      choice.report = std::move(attempted.value().report);
      choice.model = std::move(attempted.value().model);
    }
    if (!choice.model) return refuse("\nLEAPP's own engine, which needs no other, does not cover\n" + choice.uncovered);
    choice.report.engine = native::open_native()->description();
    choice.report.native = true;
    choice.report.why = "it covers every operator, and there is no ONNX Runtime";
    choice.model->set_report(std::move(choice.report));
    return std::move(choice.model);
  }

  engine::Options options_;
  std::string description_ = "LEAPP's own engine or ONNX Runtime";
  std::unique_ptr<engine::Engine> onnxruntime_;
};

}  // namespace

Result<std::unique_ptr<engine::Engine>> open_onnx_engine(const engine::Options& options) {
  LEAPP_ASSIGN_OR_RETURN(const engine::Prefer prefer, preferred_engine(options));
  if (prefer == engine::Prefer::kNative) return native::open_native();
  if (prefer == engine::Prefer::kOnnxRuntime) return engine::open_onnxruntime(options);
  return std::unique_ptr<engine::Engine>(std::make_unique<OnnxEngine>(options));
}

}  // namespace leapp::runtime
