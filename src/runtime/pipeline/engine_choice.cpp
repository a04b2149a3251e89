// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/engine_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "engine/native/native_engine.h"

namespace leapp::runtime {
namespace {

constexpr const char* kEngineVariable = "LEAPP_ENGINE";

/// Larger models are not taken apart to see whether they would be faster: that takes as much memory again.
constexpr std::uintmax_t kLargestLookedAt = std::uintmax_t{256} << 20U;

/// What the options ask of ONNX Runtime alone; empty: nothing.
std::string asked_of_onnxruntime(const engine::Options& options) {
  if (options.provider == engine::Provider::kCuda) return "CUDA was asked for";
  if (!options.profile_prefix.empty()) return "a profile was asked for";
  if (options.intra_op_threads != 1 || options.inter_op_threads != 1) return "several threads were asked for";
  if (options.optimisation != engine::Optimisation::kAll) return "a level of its optimisation was asked for";
  return "";
}

std::uintmax_t size_of(const engine::ModelSource& source) {
  if (!source.bytes.empty()) return source.bytes.size();
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(source.path, error);
  return error ? 0 : size;
}

std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

std::string why_slower(const native::Speed& speed) {
  return fmt::format(
      "it is the faster one: LEAPP's own engine would lose {:.0f} us in a step{}", (speed.lost - speed.saved) / 1000,
      speed.slowest.empty() ? "" : fmt::format(", {:.0f} of them in {}", speed.most / 1000, speed.slowest));
}

EngineChoice onnxruntime_because(const engine::ModelSource& source, std::string why) {
  EngineChoice choice;
  choice.report.model = source.name;
  choice.report.why = std::move(why);
  return choice;
}

Result<EngineChoice> automatic(const engine::ModelSource& source, const engine::Options& options) {
  if (size_of(source) > kLargestLookedAt) {
    return onnxruntime_because(
        source, fmt::format("the model is larger than {} MB, and was not looked at", kLargestLookedAt >> 20U));
  }
  auto attempted = native::attempt(source);
  // It would take ONNX Runtime as much.
  if (attempted.status().code() == StatusCode::kInvalidArgument) {
    return Status(attempted.status().code(),
                  fmt::format("cannot load {}: {}", source.name, attempted.status().message()));
  }
  if (!attempted.ok()) {
    return onnxruntime_because(
        source, fmt::format("LEAPP's own engine cannot read it: {}", first_line(attempted.status().message())));
  }
  native::Attempt& attempt = attempted.value();
  EngineChoice choice;
  choice.report = std::move(attempt.report);
  choice.model = std::move(attempt.model);
  const std::string asked = asked_of_onnxruntime(options);
  choice.only_onnxruntime = !asked.empty();
  if (!choice.model) {
    choice.uncovered = native::describe(attempt.uncovered);
    choice.report.why = fmt::format("LEAPP's own engine does not cover {} of its nodes, the first: {}",
                                    attempt.uncovered.size(), first_line(choice.uncovered));
  } else if (!asked.empty()) {
    choice.report.why = asked;
  } else if (!attempt.speed.wins()) {
    choice.report.why = why_slower(attempt.speed);
  } else {
    choice.native = true;
    choice.report.why = "it covers every operator and is the faster one for a model of this size";
    return choice;
  }
  choice.report.native = false;
  choice.report.engine.clear();
  return choice;
}

/// A model that is only talked about.
class ChosenModel final : public engine::EngineModel {
 public:
  [[nodiscard]] const std::vector<engine::TensorInfo>& inputs() const override { return none_; }
  [[nodiscard]] const std::vector<engine::TensorInfo>& outputs() const override { return none_; }
  Result<std::size_t> prepare(const engine::Binding&) override { return error(); }
  [[nodiscard]] bool run(std::size_t) noexcept override { return false; }
  [[nodiscard]] Status error() const override { return failed_precondition("the model was not loaded"); }

 private:
  std::vector<engine::TensorInfo> none_;
};

class ChoosingEngine final : public engine::Engine {
 public:
  ChoosingEngine(std::string backend, engine::Options options)
      : backend_(std::move(backend)), options_(std::move(options)) {}

  [[nodiscard]] const std::string& description() const override { return description_; }
  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& source) override {
    auto model = std::make_unique<ChosenModel>();
    if (backend_ == "onnx") {
      LEAPP_ASSIGN_OR_RETURN(EngineChoice choice, choose_engine(source, options_));
      if (!choice.native) choice.report.engine = "ONNX Runtime";
      model->set_report(std::move(choice.report));
    } else {
      model->set_report({source.name, "torch", false, fmt::format("it is a '{}' model", backend_), {}});
    }
    return std::unique_ptr<engine::EngineModel>(std::move(model));
  }

 private:
  std::string backend_;
  engine::Options options_;
  std::string description_ = "no engine";
};

}  // namespace

Result<engine::Prefer> preferred_engine(const engine::Options& options) {
  if (options.prefer != engine::Prefer::kAuto) return options.prefer;
  const char* named = std::getenv(kEngineVariable);
  const std::string_view name = named == nullptr ? "" : named;
  if (name.empty() || name == "auto") return engine::Prefer::kAuto;
  if (name == "native") return engine::Prefer::kNative;
  if (name == "onnxruntime") return engine::Prefer::kOnnxRuntime;
  return invalid_argument(
      fmt::format("{}: expected auto, native or onnxruntime, found {}", kEngineVariable, quote(name)));
}

Result<EngineChoice> choose_engine(const engine::ModelSource& source, const engine::Options& options) {
  LEAPP_ASSIGN_OR_RETURN(const engine::Prefer prefer, preferred_engine(options));
  if (prefer == engine::Prefer::kAuto) return automatic(source, options);
  if (prefer == engine::Prefer::kOnnxRuntime) return onnxruntime_because(source, "it was asked for");
  EngineChoice choice;
  choice.native = true;
  LEAPP_ASSIGN_OR_RETURN(choice.model, native::open_native()->load(source));
  choice.report = choice.model->report();
  return choice;
}

EngineOpener choosing_engines(const engine::Options& options) {
  return [options](const std::string& backend) {
    return Result<std::unique_ptr<engine::Engine>>(std::make_unique<ChoosingEngine>(backend, options));
  };
}

}  // namespace leapp::runtime
