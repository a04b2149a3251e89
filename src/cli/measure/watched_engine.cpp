// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/watched_engine.h"

#include <chrono>
#include <utility>

#include "cli/measure/allocations.h"

namespace leapp::cli {
namespace {

using Clock = std::chrono::steady_clock;

class WatchedModel final : public engine::EngineModel {
 public:
  WatchedModel(std::unique_ptr<engine::EngineModel> model, Latencies* times)
      : model_(std::move(model)), times_(times) {}

  [[nodiscard]] const std::vector<engine::TensorInfo>& inputs() const override { return model_->inputs(); }
  [[nodiscard]] const std::vector<engine::TensorInfo>& outputs() const override { return model_->outputs(); }
  Result<std::size_t> prepare(const engine::Binding& binding) override { return model_->prepare(binding); }
  [[nodiscard]] bool run(std::size_t binding) noexcept override {
    const EngineScope scope;
    if (times_ == nullptr) return model_->run(binding);
    const auto begin = Clock::now();
    const bool done = model_->run(binding);
    times_->add(static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count()));
    return done;
  }
  [[nodiscard]] Status error() const override { return model_->error(); }

 private:
  std::unique_ptr<engine::EngineModel> model_;
  Latencies* times_;
};

class WatchedEngine final : public engine::Engine {
 public:
  WatchedEngine(std::unique_ptr<engine::Engine> engine, ModelTimes* times, std::size_t runs)
      : engine_(std::move(engine)), times_(times), runs_(runs) {}

  [[nodiscard]] const std::string& description() const override { return engine_->description(); }
  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& source) override {
    LEAPP_ASSIGN_OR_RETURN(auto model, engine_->load(source));
    engine::Report report = model->report();
    if (times_ != nullptr) times_->push_back(std::make_unique<Latencies>(runs_));
    Latencies* times = times_ == nullptr ? nullptr : times_->back().get();
    auto watched = std::make_unique<WatchedModel>(std::move(model), times);
    watched->set_report(std::move(report));
    return std::unique_ptr<engine::EngineModel>(std::move(watched));
  }

 private:
  std::unique_ptr<engine::Engine> engine_;
  ModelTimes* times_;
  std::size_t runs_;
};

}  // namespace

runtime::EngineOpener watched_engines(const engine::Options& options, ModelTimes* times, std::size_t runs) {
  return [=](const std::string& backend) -> Result<std::unique_ptr<engine::Engine>> {
    LEAPP_ASSIGN_OR_RETURN(auto engine, runtime::open_engine(backend, options));
    return std::unique_ptr<engine::Engine>(std::make_unique<WatchedEngine>(std::move(engine), times, runs));
  };
}

}  // namespace leapp::cli
