// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The peer's bundles give what the peer's own runtime gave (tests/bundles/make_peer_expected.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "leapp/bundle/reader.h"
#include "leapp/runtime/pipeline.h"
#include "runtime/pipeline/pipeline_testing.h"

namespace leapp::runtime {
namespace {

constexpr float kRelative = 1e-5F;
constexpr float kAbsolute = 1e-6F;

class Recorded {
 public:
  explicit Recorded(const fs::path& file) : bytes_(bundle::read_file(file, 1U << 24U).value()) {
    tensors_ = bundle::parse_safetensors(bytes_).value();
  }

  [[nodiscard]] const bundle::StoredTensor* find(const std::string& name) const {
    for (const bundle::StoredTensor& tensor : tensors_) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<bundle::StoredTensor> tensors_;
};

void expect_equal(const TensorView& found, const bundle::StoredTensor& expected, const std::string& place) {
  ASSERT_EQ(found.dtype, expected.dtype) << place;
  ASSERT_TRUE(std::equal(found.shape.begin(), found.shape.end(), expected.shape.begin(), expected.shape.end()))
      << place;
  if (found.dtype != DType::kFloat32) {
    EXPECT_EQ(std::memcmp(found.data, expected.bytes.data(), expected.bytes.size()), 0) << place;
    return;
  }
  std::vector<float> values(found.size());
  std::memcpy(values.data(), expected.bytes.data(), expected.bytes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(static_cast<const float*>(found.data)[i], values[i], kAbsolute + kRelative * std::abs(values[i]))
        << place;
  }
}

bool needs_torch(const bundle::BundleSpec& spec) {
  return std::any_of(spec.models.begin(), spec.models.end(),
                     [](const bundle::Model& model) { return model.parameters.backend == "jit"; });
}

void run_bundle(const fs::path& folder) {
  const std::string name = folder.filename().string();
  auto pipeline = Pipeline::load(folder / (name + ".yaml"), test_options());
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  const Recorded recorded(fs::path(LEAPP_TEST_BUNDLES) / "peer_expected" / (name + ".safetensors"));
  int steps = 0;
  for (;; ++steps) {
    const std::string step = std::to_string(steps);
    for (const std::string& input : pipeline.value().inputs()) {
      const bundle::StoredTensor* value = recorded.find(step + "/in/" + input);
      if (value == nullptr) {
        EXPECT_GE(steps, 20) << name;
        return;
      }
      std::memcpy(pipeline.value().input(input).value().data, value->bytes.data(), value->bytes.size());
    }
    ASSERT_EQ(pipeline.value().step(), StepResult::kOk) << pipeline.value().error().message();
    for (const std::string& output : pipeline.value().outputs()) {
      const bundle::StoredTensor* value = recorded.find(step + "/out/" + output);
      // The peer does not give what is only fed back.
      const auto& listed = pipeline.value().spec().pipeline.outputs;
      const bool given = std::any_of(listed.begin(), listed.end(), [&](const auto& row) {
        return std::any_of(row.second.begin(), row.second.end(),
                           [&](const std::string& port) { return row.first + "/" + port == output; });
      });
      if (!given) continue;
      ASSERT_NE(value, nullptr) << output;
      expect_equal(pipeline.value().output(output).value(), *value, name + " " + output + ", step " + step);
    }
  }
}

TEST(PeerBundles, GiveThePeersOutputs) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  int bundles = 0;
  for (const auto& folder : fs::directory_iterator(fs::path(LEAPP_TEST_BUNDLES) / "peer")) {
    const auto spec = bundle::read_bundle(folder.path() / (folder.path().filename().string() + ".yaml"));
    ASSERT_TRUE(spec.ok()) << spec.status().message();
#ifndef LEAPP_TEST_TORCH_ENGINE
    if (needs_torch(spec.value())) continue;
#endif
    SCOPED_TRACE(folder.path().filename().string() + (needs_torch(spec.value()) ? " (torch)" : ""));
    run_bundle(folder.path());
    ++bundles;
  }
  EXPECT_GE(bundles, 1);
}

#ifdef LEAPP_TEST_TORCH_ENGINE
// A copy of a bundle of the peer's that a test may damage.
class TorchBundle : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy(fs::path(LEAPP_TEST_BUNDLES) / "peer" / "stateful_policy", folder_.path());
    spec_ = bundle::read_bundle(yaml()).value();
  }

  [[nodiscard]] fs::path yaml() const { return folder_.path() / "stateful_policy.yaml"; }

  Result<Pipeline> load() {
    std::ofstream(yaml()) << bundle::yaml_text(spec_);
    return Pipeline::load(yaml(), test_options());
  }

  void expect_error(const std::string& expected) {
    const auto pipeline = load();
    ASSERT_FALSE(pipeline.ok()) << expected;
    EXPECT_NE(pipeline.status().message().find(expected), std::string::npos) << pipeline.status().message();
  }

  TestFolder folder_{"torch_bundle"};
  bundle::BundleSpec spec_;
};

TEST_F(TorchBundle, ModelsAreCheckedAgainstTheBundle) {
  ASSERT_TRUE(load().ok()) << load().status().message();
  const bundle::BundleSpec good = spec_;
  spec_.models[0].outputs[0].shape = {1, 33};
  expect_error(
      "node policy: cannot run models.policy (policy.pt): output \"action\": expected Float[1,33], found Float[1,32]");
  spec_ = good;
  spec_.models[0].outputs.push_back({.name = "more", .shape = {1}});
  spec_.pipeline.outputs[0].second.emplace_back("more");
  expect_error("expected 3 outputs, found 2");
  spec_ = good;
  spec_.models[0].inputs.push_back({.name = "more", .shape = {1}});
  spec_.pipeline.inputs[0].second.emplace_back("more");
  expect_error("cannot bind models.policy (policy.pt): the bundle has 3 inputs, the model 2");
}

TEST_F(TorchBundle, WhatIsNoModelIsAnError) {
  spec_.models[0].parameters.md5sum = spec_.models[0].parameters.sha256sum = std::nullopt;
  std::ofstream(folder_.path() / "policy.pt") << "not a model";
  expect_error("cannot load models.policy (policy.pt): ");
}

TEST_F(TorchBundle, StateGoesOnAndCanBeReset) {
  auto pipeline = load();
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  const auto x = pipeline.value().input<float>("policy/obs").value();
  const auto action = pipeline.value().output<float>("policy/action").value();
  std::vector<std::vector<float>> runs;
  for (int run = 0; run < 2; ++run) {
    std::vector<float> seen;
    for (int step = 0; step < 5; ++step) {
      std::fill(x.begin(), x.end(), 0.1F * static_cast<float>(step));
      ASSERT_EQ(pipeline.value().step(), StepResult::kOk) << pipeline.value().error().message();
      seen.insert(seen.end(), action.begin(), action.end());
    }
    runs.push_back(std::move(seen));
    pipeline.value().reset();
  }
  EXPECT_EQ(runs[0], runs[1]);
}
#endif

}  // namespace
}  // namespace leapp::runtime
