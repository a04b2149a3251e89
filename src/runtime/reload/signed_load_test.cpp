// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// LoadOptions::trusted_keys. What makes a signature good or bad is tested in bundle/files/signing_test.cpp.
#include <gtest/gtest.h>

#include <fstream>

#include "base/ed25519.h"
#include "bundle/files/manifest.h"
#include "bundle/files/verified_files.h"
#include "engine/ort/ort_engine.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/reload/swap_testing.h"
#include "runtime/robot/robot_testing.h"

namespace leapp::runtime {
namespace {

class SignedLoad : public ::testing::Test {
 protected:
  [[nodiscard]] Status load(const std::string& key) const {
    return Pipeline::load(bundle_.path(), native_options({key})).status();
  }
  [[nodiscard]] Status load() const { return load(ours_.public_pem); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(bundle_.folder() / name, std::ios::binary) << text;
  }

  bundle::KeyPair ours_ = bundle::make_key_pair().value();
  bundle::KeyPair theirs_ = bundle::make_key_pair().value();
  SwapBundle bundle_{"signed_load"};
};

TEST_F(SignedLoad, WhatWasSignedRuns) {
  EXPECT_FALSE(load_native(bundle_.path()).signature().has_value());
  bundle_.sign(ours_, 3);
  Pipeline pipeline = load_native(bundle_.path(), {theirs_.public_pem, ours_.public_pem});
  EXPECT_EQ(pipeline.step(), StepResult::kOk);
  EXPECT_EQ(pipeline.output<float>("policy/count").value()[0], 101);
  ASSERT_TRUE(pipeline.signature().has_value());
  EXPECT_EQ(*pipeline.signature(), (bundle::Signature{ours_.fingerprint, 3, 3, 1}));
}

TEST_F(SignedLoad, NothingElseDoes) {
  expect_refused(load(), StatusCode::kDataLoss, {"found no manifest"});
  bundle_.sign(ours_, 3);
  expect_refused(load(theirs_.public_pem), StatusCode::kDataLoss, {ours_.fingerprint, theirs_.fingerprint});
  expect_refused(load(ours_.private_pem), StatusCode::kInvalidArgument, {"trusted key 1", "private"});
  LoadOptions newer = native_options({ours_.public_pem});
  newer.minimum_serial = 4;
  expect_refused(Pipeline::load(bundle_.path(), newer).status(), StatusCode::kDataLoss, {"serial 4 or later, found 3"});
  write("extra.txt", "x");
  expect_refused(load(), StatusCode::kDataLoss, {"not signed: extra.txt"});
  fs::remove(bundle_.folder() / "extra.txt");
  EXPECT_TRUE(load().ok());
  fs::remove(bundle_.folder() / "bundle_initial_values.safetensors");
  expect_refused(load(), StatusCode::kDataLoss, {"missing: bundle_initial_values.safetensors"});
  LoadOptions keyless = native_options();
  keyless.minimum_serial = 1;
  expect_refused(Pipeline::load(bundle_.path(), keyless).status(), StatusCode::kInvalidArgument, {"minimum_serial"});
}

// One byte of each file, in turn; its size is what it was.
TEST_F(SignedLoad, EveryFileCounts) {
  write("picture.png", "not read by anybody");
  bundle_.sign(ours_);
  for (const char* name : {"bundle.yaml", "policy.onnx", "bundle_initial_values.safetensors", "picture.png"}) {
    const auto bytes = bundle::read_file(bundle_.folder() / name, 1 << 20).value();
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::string changed = text;
    changed.back() = static_cast<char>(changed.back() ^ 1);
    write(name, changed);
    LoadOptions lax = native_options({ours_.public_pem});
    lax.verify_checksums = false;
    lax.allow_outside = true;
    expect_refused(Pipeline::load(bundle_.path(), lax).status(), StatusCode::kDataLoss, {name, "changed"});
    write(name, text);
  }
  EXPECT_TRUE(load().ok());
}

TEST_F(SignedLoad, AModelOutsideOfTheFolderIsNotSigned) {
  TestBundle outside("signed_outside");
  outside.add("m", "affine", {float_port("x")}, {float_port("y")});
  outside.spec.models[0].parameters.model_path = (fs::path(LEAPP_TEST_BUNDLES) / "models" / "affine.onnx").string();
  outside.spec.pipeline.inputs = {{"m", {"x"}}};
  outside.spec.pipeline.outputs = {{"m", {"y"}}};
  expect_refused(bundle::sign_bundle(outside.write(), ours_.private_pem).status(), StatusCode::kInvalidArgument,
                 {"models.m.parameters.model_path", "in its folder"});
  // Nor is it loaded when the holder of the key has signed such a YAML by other means.
  bundle::Manifest manifest{.bundle = "bundle.yaml", .serial = 0, .files = {}, .signatures = {}};
  const fs::path folder = fs::canonical(outside.folder());
  const std::vector<std::string> files = bundle::files_to_list(folder).value();
  for (const std::string& file : files) {
    manifest.files.push_back(bundle::hash_file(folder, file).value());
  }
  const PrivateKey key = PrivateKey::parse(ours_.private_pem).value();
  manifest.signatures.push_back({ours_.fingerprint, key.sign(signed_text(manifest)).value()});
  outside.write_file("bundle.manifest", manifest_text(manifest));
  LoadOptions options = native_options({ours_.public_pem});
  for (const bool allowed : {false, true}) {
    options.allow_outside = allowed;
    expect_refused(Pipeline::load(outside.yaml(), options).status(), StatusCode::kDataLoss,
                   {"files that were signed", "affine.onnx"});
  }
}

/// Changes a file of the bundle at the last moment.
class MeddlingEngine final : public engine::Engine {
 public:
  MeddlingEngine(std::unique_ptr<engine::Engine> engine, std::function<void(const engine::ModelSource&)> meddle)
      : engine_(std::move(engine)), meddle_(std::move(meddle)) {}

  [[nodiscard]] const std::string& description() const override { return engine_->description(); }
  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& source) override {
    meddle_(source);
    return engine_->load(source);
  }

 private:
  std::unique_ptr<engine::Engine> engine_;
  std::function<void(const engine::ModelSource&)> meddle_;
};

// Weights beside a model are read by ONNX Runtime, after we have looked at them.
TEST_F(SignedLoad, WhatWasVerifiedIsWhatIsLoaded) {
  if (!have_onnxruntime()) GTEST_SKIP() << "no ONNX Runtime to test with";
  TestBundle bundle("signed_external");
  bundle.add("m", "external", {float_port("x")}, {float_port("y")});
  bundle.spec.pipeline.inputs = {{"m", {"x"}}};
  bundle.spec.pipeline.outputs = {{"m", {"y"}}};
  const std::vector<float> weights{1, 2, 3, 4};
  bundle.write_file("weights.data", {reinterpret_cast<const char*>(weights.data()), 16});
  ASSERT_TRUE(bundle::sign_bundle(bundle.write(), ours_.private_pem).ok());
  LoadOptions options = test_options();
  options.trusted_keys = {ours_.public_pem};
  fs::path copy;
  auto pipeline =
      PipelineAccess::load(bundle.yaml(), options, [&](const std::string&) -> Result<std::unique_ptr<engine::Engine>> {
        LEAPP_ASSIGN_OR_RETURN(auto engine, engine::open_onnxruntime(options.engine));
        return std::unique_ptr<engine::Engine>(
            std::make_unique<MeddlingEngine>(std::move(engine), [&](const engine::ModelSource& source) {
              copy = source.path;
              EXPECT_EQ(fs::status(copy.parent_path()).permissions() & fs::perms::mask, fs::perms::owner_all);
              bundle.write_file("weights.data", std::string(16, '\0'));
            }));
      });
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  ASSERT_EQ(pipeline.value().step(), StepResult::kOk);
  EXPECT_EQ(pipeline.value().output<float>("m/y").value()[3], 4);
  EXPECT_FALSE(fs::exists(copy)) << "the copy is gone";
  EXPECT_NE(copy.parent_path(), bundle.folder());
  const Status after = Pipeline::load(bundle.yaml(), options).status();
  expect_refused(after, StatusCode::kDataLoss, {"weights.data was changed since it was signed"});
}

}  // namespace
}  // namespace leapp::runtime
