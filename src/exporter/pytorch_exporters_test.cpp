// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/pytorch_exporters.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "capture/session/front_end.h"
#include "leapp/capture.h"

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

class WithTools : public capture::FrontEnd {
 public:
  explicit WithTools(PytorchExporters tools) : tools_(std::move(tools)) {}
  const PytorchExporters* pytorch_exporters() override { return &tools_; }

 private:
  PytorchExporters tools_;
};

class PytorchExportersTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("leapp_pytorch_exporters_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    capture::set_front_end(nullptr);
    fs::remove_all(folder_);
  }

  Result<CompileReport> compile(const char* backend, at::Tensor (*fn)(const at::Tensor&)) {
    EXPECT_TRUE(start("graph", {.save_path = folder_.string()}).ok());
    const auto inputs = annotate::input_tensors("node", {{"x", at::ones({3})}});
    const at::Tensor y = fn(inputs.value()[0]);
    EXPECT_TRUE(annotate::output_tensors("node", {{"y", y}}, {.export_with = backend}).ok());
    EXPECT_TRUE(stop().ok());
    return compile_graph({.visualize = false, .validate = false});
  }
  std::string text(const char* name) const {
    std::ifstream file(folder_ / "graph" / name);
    return (std::stringstream() << file.rdbuf()).str();
  }

  fs::path folder_;
};

at::Tensor sine(const at::Tensor& x) { return x.sin(); }
at::Tensor unmapped(const at::Tensor& x) { return at::sigmoid_backward(x, x); }

TEST_F(PytorchExportersTest, WithoutPythonItIsUnimplemented) {
  for (const char* backend : {"onnx-dynamo", "onnx-torchscript", "pt2"}) {
    const auto report = compile(backend, sine);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.status().code(), StatusCode::kUnimplemented);
    for (const char* part : {"'node'", backend, "Python"}) {
      EXPECT_NE(report.status().message().find(part), std::string::npos) << report.status().message();
    }
  }
}

TEST_F(PytorchExportersTest, WithoutPythonALackingOperatorIsNamed) {
  const auto report = compile("onnx", unmapped);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kUnimplemented);
  EXPECT_NE(report.status().message().find("aten::sigmoid_backward"), std::string::npos) << report.status().message();
}

TEST_F(PytorchExportersTest, TheRequestHoldsTheNodeAndTheChatterGoesToTheLog) {
  std::string asked;
  const auto emit = [&asked](const PytorchRequest& request) -> PytorchAnswer {
    asked = request.backend + " " + request.node->input_names[0] + " " + request.node->output_names[0];
    EXPECT_TRUE(at::equal(request.sample.at(0), at::ones({3})));
    EXPECT_TRUE(request.torchscript.empty());
    return {std::string("model bytes"), "so much to say"};
  };
  capture::set_front_end(
      std::make_shared<WithTools>(PytorchExporters{.emit = emit, .load = nullptr, .inputs = nullptr}));
  const auto report = compile("onnx", unmapped);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(asked, "onnx-dynamo x y");
  EXPECT_EQ(text("node.onnx"), "model bytes");
  EXPECT_NE(text("log.txt").find("[debug] node 'node': onnx-dynamo says:\nso much to say"), std::string::npos);
}

}  // namespace
}  // namespace leapp::exporter
