// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Bundles for tests, made from the models under tests/bundles.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "bundle/files/safetensors.h"
#include "bundle/writer.h"
#include "leapp/bundle/reader.h"
#include "leapp/bundle/spec.h"
#include "leapp/runtime/options.h"

namespace leapp::runtime {

namespace fs = std::filesystem;

inline bundle::Port float_port(const std::string& name) {
  return {.name = name, .dtype = DType::kFloat32, .shape = {1, 4}};
}

/// A folder that is gone with the object.
class TestFolder {
 public:
  explicit TestFolder(const std::string& name)
      : path_(fs::path(::testing::TempDir()) / ("leapp_" + name + "_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~TestFolder() { fs::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// A bundle that is written when it is asked for. Change `spec` and `initial` as the test needs it.
class TestBundle {
 public:
  explicit TestBundle(const std::string& name) : folder_(name) {}

  /// A node that runs tests/bundles/models/{model}.onnx.
  bundle::Model& add(const std::string& node, const std::string& model, std::vector<bundle::Port> inputs,
                     std::vector<bundle::Port> outputs) {
    const fs::path file = fs::path(LEAPP_TEST_BUNDLES) / "models" / (model + ".onnx");
    fs::copy_file(file, folder() / (node + ".onnx"), fs::copy_options::overwrite_existing);
    const Digests digests = digest_bytes(bundle::read_file(file, 1 << 30).value()).value();
    bundle::Model entry{.name = node, .inputs = std::move(inputs), .outputs = std::move(outputs), .parameters = {}};
    entry.parameters = {
        .backend = "onnx", .model_path = node + ".onnx", .md5sum = digests.md5, .sha256sum = digests.sha256};
    spec.models.push_back(std::move(entry));
    return spec.models.back();
  }

  /// pre (2x + 1) → policy (h = h/2 + f, y = 2h) → post (y/2), h fed back.
  static void make_recurrent(TestBundle& bundle) {
    bundle.add("pre", "affine", {float_port("x")}, {float_port("y")});
    bundle.add("policy", "filter", {float_port("x"), float_port("h_in")}, {float_port("y"), float_port("h_out")});
    bundle.add("post", "halve", {float_port("x")}, {float_port("y")});
    bundle.spec.pipeline.data_flow = {{"pre/y", {"policy/x"}}, {"policy/y", {"post/x"}}};
    bundle.spec.pipeline.feedback_flow = {{"policy/h_out", {"policy/h_in"}}};
    bundle.spec.pipeline.inputs = {{"pre", {"x"}}};
    bundle.spec.pipeline.outputs = {{"post", {"y"}}};
    bundle.initial = {{"policy/h_in", {1, 2, 3, 4}}};
  }

  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }
  [[nodiscard]] fs::path yaml() const { return folder() / "bundle.yaml"; }

  fs::path write() {
    if (!initial.empty()) {
      spec.pipeline.initial_values = "bundle_initial_values.safetensors";
      std::vector<bundle::TensorEntry> entries;
      for (const auto& [name, value] : initial) {
        entries.push_back({name, DType::kFloat32, shape, std::as_bytes(std::span(value))});
      }
      const auto bytes = bundle::safetensors_bytes(entries).value();
      write_file("bundle_initial_values.safetensors", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    write_file("bundle.yaml", bundle::yaml_text(spec));
    return yaml();
  }

  void write_file(const std::string& name, const std::string& text) const {
    std::ofstream(folder() / name, std::ios::binary) << text;
  }

  bundle::BundleSpec spec;
  std::vector<std::pair<std::string, std::vector<float>>> initial;
  std::vector<std::int64_t> shape = {1, 4};  ///< of the initial values

 private:
  TestFolder folder_;
};

/// On the ONNX Runtime that the build found.
inline LoadOptions test_options() {
  LoadOptions options;
  options.engine.prefer = engine::Prefer::kOnnxRuntime;
  options.engine.onnxruntime_library = LEAPP_TEST_ONNXRUNTIME;
#ifdef LEAPP_TEST_TORCH_ENGINE
  options.engine.torch_engine_library = LEAPP_TEST_TORCH_ENGINE;
#endif
  return options;
}

inline bool have_onnxruntime() { return !std::string(LEAPP_TEST_ONNXRUNTIME).empty(); }

}  // namespace leapp::runtime
