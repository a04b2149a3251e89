// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Small bundles that take each other's place, on LEAPP's own engine.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/native/model_testing.h"
#include "leapp/bundle/signing.h"
#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/reloader.h"
#include "runtime/pipeline/pipeline_testing.h"

namespace leapp::runtime {

/// How a bundle differs from the others.
struct SwapBundleOptions {
  float gain = 1;
  std::string state = "n";  ///< its name; empty: none
  std::int64_t states = 1;  ///< its elements
  std::string input = "q";  ///< the input's name
  std::int64_t joints = 3;
  std::vector<std::string> names = {"hip", "knee", "ankle"};
  std::string kind = "state/joint/position";
  double frequency = 50;
  bool reverse = false;  ///< inputs and outputs in the other order
  double period_ms = 0;  ///< if it is not 0, the axis of `other` is one of moments
};

/// One node, "policy":
///   inputs   q [1,3] (with names), other [1,2]
///   outputs  action [1,3] = gain * q, count [1,1] = what was counted, other_out [1,2] = other
///   state    n [1,states], counts steps, begins as 100
class SwapBundle {
 public:
  explicit SwapBundle(const std::string& name, const SwapBundleOptions& options = {})
      : bundle_(std::make_unique<TestBundle>(name)) {
    write(options);
  }

  [[nodiscard]] fs::path path() const { return bundle_->yaml(); }
  [[nodiscard]] const fs::path& folder() const { return bundle_->folder(); }

  void write(const SwapBundleOptions& options) {
    write_model(options);
    write_spec(options);
    bundle_->write();
  }

  void sign(const bundle::KeyPair& key, std::uint64_t serial = 0) const {
    const auto done = bundle::sign_bundle(path(), key.private_pem, {.serial = serial});
    ASSERT_TRUE(done.ok()) << done.status().message();
  }

 private:
  void write_model(const SwapBundleOptions& options) const {
    native::ModelMaker maker;
    const std::int64_t states = options.states;
    maker.input(options.input, {1, options.joints}).input("other", {1, 2});
    maker.floats("gain", {}, {options.gain}).floats("one", {}, {1}).floats("zero", {}, {0});
    maker.output("action", {1, options.joints}).output("other_out", {1, 2}).output("count", {1, 1});
    maker.node("Mul", {options.input, "gain"}, {"action"}).node("Add", {"other", "zero"}, {"other_out"});
    if (options.state.empty()) {
      maker.floats("none", {1, 1}, {-1}).node("Add", {"none", "zero"}, {"count"});
    } else {
      maker.input(options.state + "_in", {1, states}).output(options.state + "_out", {1, states});
      maker.node("Add", {options.state + "_in", "one"}, {options.state + "_out"});
      maker.ints("begin", {0}).ints("end", {1}).ints("axis", {1});
      maker.node("Slice", {options.state + "_out", "begin", "end", "axis"}, {"counted"});
      maker.node("Add", {"counted", "zero"}, {"count"});
    }
    bundle_->write_file("policy.onnx", maker.bytes());
  }

  void write_spec(const SwapBundleOptions& options) {
    const std::vector<bundle::AxisNames> names{std::nullopt, options.names};
    bundle::Model model{.name = "policy", .inputs = {}, .outputs = {}, .parameters = {}};
    const auto port = [](const std::string& name, std::int64_t size) {
      return bundle::Port{.name = name, .shape = {1, size}};
    };
    model.inputs = {port(options.input, options.joints), port("other", 2)};
    model.inputs[0].element_names = names;
    model.inputs[0].kind = options.kind;
    model.outputs = {port("action", options.joints), port("other_out", 2), port("count", 1)};
    model.outputs[0].element_names = names;
    if (options.period_ms > 0) {
      model.outputs[1].element_names = std::vector<bundle::AxisNames>{std::nullopt, std::nullopt};
      model.outputs[1].temporal_axis = bundle::TemporalAxis{1, options.period_ms};
    }
    if (options.reverse) {
      std::swap(model.inputs[0], model.inputs[1]);
      std::swap(model.outputs[0], model.outputs[2]);
    }
    bundle::BundleSpec& spec = bundle_->spec;
    spec = {};
    bundle_->initial.clear();
    if (!options.state.empty()) {
      model.inputs.push_back(port(options.state + "_in", options.states));
      model.outputs.push_back(port(options.state + "_out", options.states));
      spec.pipeline.feedback_flow = {{"policy/" + options.state + "_out", {"policy/" + options.state + "_in"}}};
      bundle_->initial = {
          {"policy/" + options.state + "_in", std::vector<float>(static_cast<std::size_t>(options.states), 100)}};
      bundle_->shape = {1, options.states};
    }
    model.parameters = {.backend = "onnx", .model_path = "policy.onnx"};
    spec.models = {model};
    spec.pipeline.configs = {{"frequency", options.frequency}};
    spec.pipeline.inputs = {{"policy", {options.input, "other"}}};
    spec.pipeline.outputs = {{"policy", {"action", "other_out", "count"}}};
  }

  std::unique_ptr<TestBundle> bundle_;
};

inline LoadOptions native_options(std::vector<std::string> trusted_keys = {}) {
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  options.trusted_keys = std::move(trusted_keys);
  return options;
}

inline Pipeline load_native(const fs::path& bundle, std::vector<std::string> trusted_keys = {}) {
  auto pipeline = Pipeline::load(bundle, native_options(std::move(trusted_keys)));
  EXPECT_TRUE(pipeline.ok()) << pipeline.status().message();
  return std::move(pipeline).value();
}

inline Reloader make_reloader(Pipeline& pipeline, ReloaderOptions options = {}) {
  options.load.engine.prefer = engine::Prefer::kNative;
  auto reloader = Reloader::make(pipeline, std::move(options));
  EXPECT_TRUE(reloader.ok()) << reloader.status().message();
  return std::move(reloader).value();
}

/// For what comes soon, unless something is broken.
inline constexpr std::chrono::seconds kLong{60};

/// The action for `q`.
inline float step(Pipeline& pipeline, float q) {
  pipeline.input<float>("policy/q").value()[0] = q;
  EXPECT_EQ(pipeline.step(), StepResult::kOk) << pipeline.error().message();
  return pipeline.output<float>("policy/action").value()[0];
}

}  // namespace leapp::runtime
