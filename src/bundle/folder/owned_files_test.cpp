// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/owned_files.h"

#include <sys/stat.h>

#include <algorithm>

#include "bundle/folder/folder_test_base.h"
#include "bundle/writer.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

using OwnedFilesTest = FolderTest;

const std::vector<std::string> kFixed{"b.html",
                                      "b.html.part",
                                      "b.manifest",
                                      "b.manifest.part",
                                      "b.png",
                                      "b.png.part",
                                      "b.yaml",
                                      "b.yaml.part",
                                      "b_initial_values.safetensors",
                                      "b_initial_values.safetensors.part",
                                      "b_report.json",
                                      "b_report.json.part"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.end(), kFixed.begin(), kFixed.end());
  std::sort(more.begin(), more.end());
  return more;
}

TEST_F(OwnedFilesTest, WhatTheWriterWroteIsRecognised) {
  BundleSpec spec;
  spec.models = {
      {.name = "a", .inputs = {}, .outputs = {}, .parameters = {.backend = "jit", .model_path = "a: b.pt"}},
      {.name = "c", .inputs = {}, .outputs = {}, .parameters = {.backend = "onnx", .model_path = "./c.onnx"}},
      {.name = "d", .inputs = {}, .outputs = {}, .parameters = {}}};
  put(target_ / "b.yaml", yaml_text(spec));
  EXPECT_EQ(files_of_bundle(target_, "b"), with({"a: b.pt", "c.onnx", "c.onnx.data"}));
}

TEST_F(OwnedFilesTest, PathsThatLeadOutAreNotOurs) {
  std::string text = "models:\n";
  int i = 0;
  for (const char* path : {"/etc/passwd", "../x.pt", "a/../../x.pt", "..", ".", "''", "sub/", "log.txt", "./log.txt",
                           "[a]", "{a: b}", "~", "sub/in.pt", "sub/../in.pt"}) {
    text += "  m" + std::to_string(i++) + ": {parameters: {model_path: " + path + "}}\n";
  }
  put(target_ / "b.yaml", text);
  EXPECT_EQ(files_of_bundle(target_, "b"), with({"in.pt", "sub/in.pt"}));
}

TEST_F(OwnedFilesTest, UnreadableYamlIsNoError) {
  EXPECT_EQ(files_of_bundle(target_, "b"), kFixed);
  for (const std::string& text :
       {std::string(), std::string("- a"), std::string("models: 3"), std::string("models: [a]"), std::string("a: [b"),
        std::string("models: {a: 1, b: {parameters: 2}, c: {parameters: {}}}"), std::string("\x00\xff\xfe", 3),
        std::string("models: &a {b: *a}"), std::string(100000, '['), std::string("a\n  b: *c")}) {
    put(target_ / "b.yaml", text);
    EXPECT_EQ(files_of_bundle(target_, "b"), kFixed) << text.substr(0, 40);
  }
  fs::remove(target_ / "b.yaml");
  ASSERT_EQ(::mkfifo((target_ / "b.yaml").c_str(), 0600), 0);
  EXPECT_EQ(files_of_bundle(target_, "b"), kFixed);
}

}  // namespace
}  // namespace leapp::bundle
