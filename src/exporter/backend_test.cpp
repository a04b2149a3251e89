// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/backend.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace leapp::exporter {
namespace {

namespace fs = std::filesystem;

Status failure_of(const OutputOptions& options) {
  const auto result = parse_backend("policy", options);
  return result.status();
}

void expect_text(const Status& status, StatusCode code, const std::vector<std::string>& words) {
  EXPECT_EQ(status.code(), code) << status.message();
  for (const std::string& word : words) {
    EXPECT_NE(status.message().find(word), std::string::npos) << word << " is not in: " << status.message();
  }
}

TEST(Backend, KnowsEveryNameOfTheTable) {
  const std::vector<std::tuple<std::string, std::string, std::string, BackendKind>> table = {
      {"jit", "jit", ".pt", BackendKind::kTorchScript},
      {"jit-script", "jit", ".pt", BackendKind::kTorchScript},
      {"jit-trace", "jit", ".pt", BackendKind::kTorchScript},
      {"onnx", "onnx", ".onnx", BackendKind::kOnnx},
      {"onnx-dynamo", "onnx", ".onnx", BackendKind::kPytorch},
      {"onnx-torchscript", "onnx", ".onnx", BackendKind::kPytorch},
      {"pt2", "pt2", ".pt2", BackendKind::kPytorch},
      {"exported-program", "pt2", ".pt2", BackendKind::kPytorch},
  };
  for (const auto& [name, format, suffix, kind] : table) {
    const auto backend = parse_backend("policy", {.export_with = name});
    ASSERT_TRUE(backend.ok()) << backend.status().message();
    EXPECT_EQ(backend.value().format_name(), format);
    EXPECT_EQ(backend.value().suffix(), suffix);
    EXPECT_EQ(backend.value().kind, kind);
  }
}

TEST(Backend, UnknownNamesAndKeysListTheKnownOnes) {
  expect_text(failure_of({.export_with = "tensorflow"}), StatusCode::kInvalidArgument,
              {"policy", "tensorflow", "jit-script", "onnx-dynamo", "pt2"});
  expect_text(failure_of({.export_with = "onnx", .backend_params = {{"opset", 17}}}), StatusCode::kInvalidArgument,
              {"'opset'", "opset_version", "ir_version"});
  expect_text(failure_of({.export_with = "jit", .backend_params = {{"opset_version", 17}}}),
              StatusCode::kInvalidArgument, {"'opset_version'", "known: source_lines"});
  expect_text(failure_of({.export_with = "pt2", .backend_params = {{"opset_version", 17}}}),
              StatusCode::kInvalidArgument, {"'opset_version'", "known: none"});
  expect_text(failure_of({.backend_params = {{"path", "a.pt"}}}), StatusCode::kInvalidArgument,
              {"'path'", "model_path", "copy_original_model"});
}

TEST(Backend, ParametersOfOthersAreAcceptedWithANote) {
  const std::vector<std::string> keys = {"optimize",    "verify", "report", "skip_validation", "prescript",
                                         "check_trace", "strict", "device", "dynamic_shapes"};
  for (const std::optional<std::string>& name : {std::optional<std::string>("jit"), std::optional<std::string>("onnx"),
                                                 std::optional<std::string>("pt2"), std::optional<std::string>()}) {
    for (const std::string& key : keys) {
      const auto backend = parse_backend("policy", {.export_with = name, .backend_params = {{key, true}}});
      ASSERT_TRUE(backend.ok()) << backend.status().message();
      ASSERT_EQ(backend.value().notes.size(), 1U) << key;
      EXPECT_NE(backend.value().notes[0].find("'" + key + "'"), std::string::npos) << backend.value().notes[0];
    }
  }
  const auto read = parse_backend("policy", {.export_with = "onnx-dynamo", .backend_params = {{"optimize", false}}});
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read.value().optimize);
  EXPECT_TRUE(read.value().notes.empty()) << "it has an effect there";
}

TEST(Backend, ValuesAreChecked) {
  expect_text(failure_of({.export_with = "onnx", .backend_params = {{"opset_version", 12}}}),
              StatusCode::kInvalidArgument, {"opset_version", "13", "23", "12"});
  expect_text(failure_of({.export_with = "onnx", .backend_params = {{"opset_version", "18"}}}), StatusCode::kWrongType,
              {"opset_version", "int", "str"});
  expect_text(failure_of({.backend_params = {{"model_path", 3}}}), StatusCode::kWrongType, {"model_path", "str"});
  expect_text(failure_of({.backend_params = {{"model_path", "there/is/none.pt"}}}), StatusCode::kInvalidArgument,
              {"policy", "there/is/none.pt"});
  expect_text(failure_of({.backend_params = {{"model_path", "model.txt"}}}), StatusCode::kInvalidArgument,
              {".pt", ".onnx", ".pt2", "model.txt"});
  const auto onnx = parse_backend("policy", {.export_with = "onnx", .backend_params = {{"opset_version", 20}}});
  ASSERT_TRUE(onnx.ok());
  EXPECT_EQ(onnx.value().opset_version, 20);
  EXPECT_FALSE(onnx.value().ir_version);
}

TEST(Backend, AModelOfTheUsersIsRecognisedByItsSuffix) {
  const fs::path folder = fs::temp_directory_path() / ("leapp_backend_test_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  for (const auto& [suffix, format] : {std::pair{".pt", "jit"}, std::pair{".onnx", "onnx"}, std::pair{".pt2", "pt2"}}) {
    const fs::path file = folder / (std::string("mine") + suffix);
    std::ofstream(file) << "bytes";
    const OutputOptions options{.backend_params = {{"model_path", file.string()}, {"copy_original_model", false}}};
    const auto backend = parse_backend("policy", options);
    ASSERT_TRUE(backend.ok()) << backend.status().message();
    EXPECT_EQ(backend.value().kind, BackendKind::kGiven);
    EXPECT_EQ(backend.value().format_name(), format);
    EXPECT_FALSE(backend.value().copy_original_model);
  }
  fs::remove_all(folder);
  const auto none = parse_backend("policy", {});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none.value().kind, BackendKind::kNone);
}

}  // namespace
}  // namespace leapp::exporter
