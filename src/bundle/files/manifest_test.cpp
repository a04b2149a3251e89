// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/manifest.h"

#include <gtest/gtest.h>

#include <string>

namespace leapp::bundle {
namespace {

const std::string kA(64, 'a');
const std::string kB(64, 'b');

std::string good() {
  return "leapp manifest 1\nbundle walk.yaml\nserial 7\nfile " + kA + " 12 a b/policy.onnx\nfile " + kB +
         " 0 walk.yaml\nsignature ed25519 " + kA + " " + std::string(128, '1') + "\nsignature ed25519 " + kB + " " +
         std::string(128, '2') + "\n";
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = good();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, IsReadAndPrinted) {
  const auto manifest = parse_manifest(good());
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest.value().bundle, "walk.yaml");
  EXPECT_EQ(manifest.value().serial, 7U);
  ASSERT_EQ(manifest.value().files.size(), 2U);
  EXPECT_EQ(manifest.value().find("a b/policy.onnx")->size, 12U);
  EXPECT_EQ(manifest.value().find("policy.onnx"), nullptr);
  ASSERT_EQ(manifest.value().signatures.size(), 2U);
  EXPECT_EQ(manifest.value().signatures[1].bytes[63], 0x22);
  EXPECT_EQ(manifest_text(manifest.value()), good());
  EXPECT_EQ(signed_text(manifest.value()), good().substr(0, good().find("signature")));
}

// Each beside what the message has to say.
TEST(Manifest, WhatIsNotOneIsRefusedWithItsLine) {
  const std::string sum = "file " + kA;
  const std::pair<std::string, const char*> cases[] = {
      {"", "line 1: expected a whole line"},
      {"leapp manifest 1", "cut off"},
      {replaced("manifest 1", "manifest 2"), "line 1: expected version 1 (another needs another LEAPP), found \"2\""},
      {replaced("manifest 1", "manifest 0"), "found \"0\""},
      {replaced("bundle walk.yaml", "bundle ../walk.yaml"), "line 2: expected a file name"},
      {replaced("bundle walk.yaml", "bundle other.yaml"), "expected the bundle \"other.yaml\" among the files"},
      {replaced("serial 7", "serial 07"), "line 3: expected a whole number, found \"07\""},
      {replaced("serial 7", "serial -7"), "line 3"},
      {replaced("serial 7", "serial 18446744073709551616"), "line 3"},
      {replaced("serial 7\n", ""), "line 3: expected \"serial ...\""},
      {replaced(sum, "file " + std::string(64, 'A')), "64 small hex digits"},
      {replaced(sum, "file abc"), "64 small hex digits"},
      {replaced(" 12 ", " 012 "), "line 4: expected a size"},
      {replaced(" 12 ", " "), "line 4"},
      {replaced("a b/policy.onnx", "/etc/passwd"), "a path inside the folder"},
      {replaced("a b/policy.onnx", "a/../../x"), "a path inside the folder"},
      {replaced("a b/policy.onnx", "a//x"), "a path inside the folder"},
      {replaced("a b/policy.onnx", "a/x\r"), "a path inside the folder"},
      {replaced("a b/policy.onnx", "a/\xff"), "a path inside the folder"},
      {replaced("a b/policy.onnx", "walk.yaml"), "line 5: expected files sorted by path, each once"},
      {replaced("a b/policy.onnx", "z.onnx"), "sorted by path"},
      {replaced("signature ed25519 " + kA, "signature rsa " + kA), "signature ed25519"},
      {replaced("signature ed25519 " + kB, "signature ed25519 " + kA), "sorted by key"},
      {replaced(std::string(128, '1'), std::string(127, '1')), "128 small hex digits"},
      {replaced(std::string(128, '1'), std::string(127, '1') + "F"), "128 small hex digits"},
      {good() + "file " + kA + " 1 zz\n", "line 8: expected \"signature ed25519 ...\""},
      {good() + "\n", "line 8"},
      {good().substr(0, good().size() - 1), "line 7: expected a whole line, for the file is cut off"},
      {std::string(100, '\0'), "line 1"},
  };
  for (const auto& [text, word] : cases) {
    const auto manifest = parse_manifest(text);
    ASSERT_FALSE(manifest.ok()) << text;
    EXPECT_EQ(manifest.status().code(), StatusCode::kDataLoss);
    EXPECT_NE(manifest.status().message().find(word), std::string::npos) << word << "\n" << manifest.status().message();
  }
}

TEST(Manifest, NoPrefixIsOneWithTheSameSignatures) {
  const std::string text = good();
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto manifest = parse_manifest(text.substr(0, size));
    EXPECT_LT(manifest.ok() ? manifest.value().signatures.size() : 0, 2U) << size;
  }
}

}  // namespace
}  // namespace leapp::bundle
