// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/draw.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "draw/bundle_picture.h"
#include "draw/picture_testing.h"
#include "leapp/bundle/reader.h"

namespace leapp::draw {
namespace {

/// Sets LEAPP_DRAW_LIBRARY for a test.
class DrawTest : public ::testing::Test {
 protected:
  ~DrawTest() override { unsetenv("LEAPP_DRAW_LIBRARY"); }
  static void use(const char* library) { setenv("LEAPP_DRAW_LIBRARY", library, 1); }
};

TEST_F(DrawTest, ThePluginDrawsWhatIsWanted) {
  use(LEAPP_TEST_DRAW);
  const auto both = draw(make_chain(2), {.png = true, .page = true});
  ASSERT_TRUE(both.ok()) << both.status().message();
  EXPECT_TRUE(both.value().png.starts_with("\x89PNG"));
  EXPECT_TRUE(both.value().page.starts_with("<!DOCTYPE html>"));
  const auto page = draw(make_chain(2), {.png = false, .page = true});
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_TRUE(page.value().png.empty());
  EXPECT_EQ(page.value().page, both.value().page);
}

TEST_F(DrawTest, WithoutThePluginTheMessageSaysWhatToInstall) {
  use("/nowhere/libleapp_draw.so");
  const auto drawing = draw(make_chain(1), {});
  ASSERT_FALSE(drawing.ok());
  EXPECT_EQ(drawing.status().code(), StatusCode::kNotFound);
  EXPECT_NE(drawing.status().message().find("libgvc6"), std::string::npos) << drawing.status().message();
  EXPECT_NE(drawing.status().message().find("/nowhere/libleapp_draw.so"), std::string::npos);
}

TEST_F(DrawTest, AnotherLibraryIsRefused) {
  use("libm.so.6");
  const auto drawing = draw(make_chain(1), {});
  ASSERT_FALSE(drawing.ok());
  EXPECT_NE(drawing.status().message().find("libm.so.6"), std::string::npos);
}

TEST_F(DrawTest, ManyThreadsDrawTheSame) {
  use(LEAPP_TEST_DRAW);
  const std::string expected = draw(make_chain(4), {.png = false}).value().page;
  std::vector<std::string> pages(4);
  std::vector<std::thread> threads;
  for (std::string& page : pages) {
    threads.emplace_back([&page] { page = draw(make_chain(4), {.png = false}).value().page; });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& page : pages) EXPECT_EQ(page, expected);
}

constexpr const char* kYaml = R"(
models:
  pre:
    inputs:
    - {name: obs, dtype: float32, shape: [1, 3], type: tensor, kind: state/joint/position, element_names: [null, [a, b, c]], scale: 2}
    outputs:
    - {name: features, dtype: float32, shape: [1, 3], type: tensor}
    parameters: {backend: onnx, model_path: pre.onnx, md5sum: null, sha256sum: null, opset_version: 18}
  policy:
    inputs:
    - {name: x, dtype: float32, shape: [1, 3], type: tensor}
    - {name: h_in, dtype: int64, shape: [], type: tensor}
    outputs:
    - {name: h_out, dtype: int64, shape: [], type: tensor}
    parameters: {backend: null, model_path: null, md5sum: null, sha256sum: null}
pipeline:
  configs: {frequency: 50.0}
  data_flow: {pre/features: [policy/x], pre/gone: [policy/x]}
  feedback_flow: {policy/h_out: [policy/h_in]}
  inputs: {pre: [obs]}
  outputs: {policy: [h_out]}
system information: {}
)";

TEST(BundlePicture, WhatTheYamlTells) {
  const auto spec = bundle::parse_bundle(kYaml);
  ASSERT_TRUE(spec.ok()) << spec.status().message();
  const PipelinePicture picture = picture_of(spec.value(), "walk");
  ASSERT_EQ(picture.nodes.size(), 2U);
  const PicturePort& obs = picture.nodes[0].inputs[0];
  EXPECT_EQ(obs.shape, "[1, 3]");
  EXPECT_EQ(obs.kind, "state/joint/position");
  EXPECT_TRUE(obs.external);
  EXPECT_EQ(obs.facts, (std::vector<Fact>{{"elements", "unnamed × a, b, c"}, {"scale", "2"}}));
  EXPECT_EQ(picture.nodes[1].inputs[1].shape, "[]");
  EXPECT_TRUE(picture.nodes[1].outputs[0].external);
  ASSERT_EQ(picture.edges.size(), 2U);
  EXPECT_FALSE(picture.edges[0].feedback);
  EXPECT_TRUE(picture.edges[1].feedback);
  EXPECT_EQ(picture.edges[1].to_port, 1U);
  EXPECT_EQ(picture.facts, (std::vector<Fact>{{"frequency", "50 Hz"}}));
  ASSERT_EQ(picture.findings.size(), 1U);
  EXPECT_NE(picture.findings[0].text.find("pre/gone"), std::string::npos);
}

TEST(BundlePicture, LinesOfPrograms) {
  EXPECT_EQ(parse_line("a/walk.py:12").file, "a/walk.py");
  EXPECT_EQ(parse_line("a/walk.py:12").line, 12);
  EXPECT_EQ(parse_line("note: none").text, "note: none");
  EXPECT_EQ(parse_line("note: none").line, 0);
}

}  // namespace
}  // namespace leapp::draw
