// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/signing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/hash.h"
#include "bundle/files/verified_files.h"
#include "bundle/folder/owned_files.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kYaml =
    "models:\n"
    "  policy:\n"
    "    inputs: [{name: x, dtype: float32, shape: [1], type: tensor}]\n"
    "    outputs: [{name: y, dtype: float32, shape: [1], type: tensor}]\n"
    "    parameters: {backend: onnx, model_path: ./policy.onnx}\n"
    "pipeline:\n"
    "  data_flow: {}\n"
    "  feedback_flow: {}\n"
    "  inputs: {policy: [x]}\n"
    "  outputs: {policy: [y]}\n";

/// A bundle "walk" with a model, a sub-folder and a log, and two pairs of keys.
class Signing : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("leapp_signing_" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(folder() / "data");
    write("walk.yaml", kYaml);
    write("policy.onnx", "a model");
    write("data/table.bin", std::string(5000, 'x'));
    write("log.txt", "a log");
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] fs::path folder() const { return root_ / "walk"; }
  [[nodiscard]] fs::path manifest() const { return folder() / "walk.manifest"; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder() / name, std::ios::binary) << text;
  }
  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  void sign(std::uint64_t serial = 0) const {
    const auto done = sign_bundle(folder(), ours_.private_pem, {.serial = serial});
    ASSERT_TRUE(done.ok()) << done.status().message();
  }
  [[nodiscard]] Result<Signature> verify(std::uint64_t minimum = 0) const {
    return verify_bundle(folder() / "walk.yaml", std::vector{ours_.public_pem}, minimum);
  }
  void expect_refused(std::initializer_list<std::string> words, StatusCode code = StatusCode::kDataLoss) const {
    expect(verify().status(), words, code);
  }
  static void expect(const Status& status, std::initializer_list<std::string> words,
                     StatusCode code = StatusCode::kDataLoss) {
    EXPECT_EQ(status.code(), code) << status.message();
    for (const std::string& word : words) {
      EXPECT_NE(status.message().find(word), std::string::npos) << "no " << word << " in " << status.message();
    }
  }

  fs::path root_;
  KeyPair ours_ = make_key_pair().value();
  KeyPair theirs_ = make_key_pair().value();
};

TEST_F(Signing, WhatWasSignedVerifies) {
  const Signature signature = sign_bundle(folder(), ours_.private_pem, {.serial = 3}).value();
  EXPECT_EQ(signature, (Signature{ours_.fingerprint, 3, 3, 1}));
  const auto verified = verify(3);
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  EXPECT_EQ(verified.value(), signature);
  const std::string text = read(manifest());
  sign(3);
  EXPECT_EQ(read(manifest()), text) << "the same files give the same bytes";
  write("log.txt", "another log");
  EXPECT_TRUE(verify().ok()) << "the log belongs to the session";
  EXPECT_EQ(text.find("log.txt"), std::string::npos);
}

TEST_F(Signing, TheFolderMayBeALink) {
  sign();
  fs::create_directory_symlink(folder(), root_ / "current");
  EXPECT_TRUE(verify_bundle(root_ / "current" / "walk.yaml", std::vector{ours_.public_pem}).ok());
  EXPECT_TRUE(verify_bundle(root_ / "current", std::vector{ours_.public_pem}).ok());
}

TEST_F(Signing, Unsigned) { expect_refused({"walk.manifest", "found no manifest", "leapp sign"}); }

TEST_F(Signing, ByAnotherKey) {
  ASSERT_TRUE(sign_bundle(folder(), theirs_.private_pem).ok());
  expect_refused({"by one of the trusted keys " + ours_.fingerprint, "found " + theirs_.fingerprint});
}

TEST_F(Signing, SeveralMaySign) {
  sign();
  ASSERT_EQ(sign_bundle(folder(), theirs_.private_pem).value().signatures, 2U);
  EXPECT_EQ(verify().value().key, ours_.fingerprint);
  EXPECT_EQ(verify_bundle(folder(), std::vector{theirs_.public_pem}).value().key, theirs_.fingerprint);
  write("policy.onnx", "a better model");
  EXPECT_EQ(sign_bundle(folder(), theirs_.private_pem).value().signatures, 1U) << "nobody else has signed this one";
  expect_refused({"by one of the trusted keys"});
}

TEST_F(Signing, OneBrokenSignatureDoesNotSpoilAGoodOne) {
  sign();
  ASSERT_TRUE(sign_bundle(folder(), theirs_.private_pem).ok());
  std::string text = read(manifest());
  const std::size_t at = text.find("ed25519 " + ours_.fingerprint) + 8 + 64 + 10;
  text[at] = text[at] == '0' ? '1' : '0';
  write("walk.manifest", text);
  expect_refused({"the signature by " + ours_.fingerprint, "not one of this manifest"});
  EXPECT_TRUE(verify_bundle(folder(), std::vector{ours_.public_pem, theirs_.public_pem}).ok());
}

TEST_F(Signing, AChangedFile) {
  sign();
  write("policy.onnx", "b model");
  expect_refused({"not the one that was signed", "changed: policy.onnx"});
  write("policy.onnx", "a longer model");
  expect_refused({"changed: policy.onnx (14 bytes, expected 7)"});
  write("policy.onnx", "");
  expect_refused({"changed: policy.onnx (0 bytes, expected 7)"});
}

TEST_F(Signing, EverythingThatIsWrongIsTold) {
  sign();
  fs::remove(folder() / "data/table.bin");
  write("policy.onnx", "a longer model");
  write("data/more.bin", "x");
  write(".hidden", "x");
  expect_refused({"missing: data/table.bin", "changed: policy.onnx", "not signed: .hidden, data/more.bin"});
}

TEST_F(Signing, AChangedManifest) {
  sign(5);
  const std::string text = read(manifest());
  std::string changed = text;
  changed.replace(changed.find("serial 5"), 8, "serial 6");
  write("walk.manifest", changed);
  expect_refused({"not one of this manifest"});
  // A model together with what the manifest says of it.
  write("policy.onnx", "b model");
  changed = text;
  const std::string before = sha256_of(std::as_bytes(std::span(std::string_view("a model")))).value();
  const std::string after = sha256_of(std::as_bytes(std::span(std::string_view("b model")))).value();
  changed.replace(changed.find(before), 64, after);
  write("walk.manifest", changed);
  expect_refused({"not one of this manifest"});
}

TEST_F(Signing, ATruncatedManifest) {
  sign();
  const std::string text = read(manifest());
  write("walk.manifest", text.substr(0, text.size() - 40));
  expect_refused({"cut off"});
  write("walk.manifest", text.substr(0, text.find("signature")));
  expect_refused({"expected a signature by one of the trusted keys", "found none"});
  write("walk.manifest", "");
  expect_refused({"line 1"});
  write("walk.manifest", std::string(std::size_t{17} << 20U, 'x'));
  EXPECT_FALSE(verify().ok());
}

TEST_F(Signing, AnEarlierRelease) {
  sign(4);
  EXPECT_TRUE(verify(4).ok());
  expect(verify(5).status(), {"expected serial 5 or later, found 4"});
  std::string text = read(manifest());
  write("walk.manifest", text.replace(0, 16, "leapp manifest 0"));
  expect_refused({"expected version 1", "found \"0\""});
}

TEST_F(Signing, TheManifestOfAnotherBundle) {
  sign();
  fs::rename(folder() / "walk.yaml", folder() / "run.yaml");
  fs::rename(manifest(), folder() / "run.manifest");
  expect(verify_bundle(folder() / "run.yaml", std::vector{ours_.public_pem}).status(),
         {"expected the manifest of \"run.yaml\", found that of \"walk.yaml\""});
}

TEST_F(Signing, LinksAndPipesAreRefused) {
  fs::create_symlink(folder() / "policy.onnx", folder() / "link.onnx");
  expect(sign_bundle(folder(), ours_.private_pem).status(), {"the symlink \"link.onnx\""});
  fs::remove(folder() / "link.onnx");
  sign();
  fs::remove(folder() / "policy.onnx");
  std::ofstream(root_ / "policy.onnx") << "a model";
  fs::create_symlink(root_ / "policy.onnx", folder() / "policy.onnx");
  expect_refused({"the symlink \"policy.onnx\""});
  fs::remove(folder() / "policy.onnx");
  ASSERT_EQ(::mkfifo((folder() / "policy.onnx").c_str(), 0600), 0);
  expect_refused({"the special file \"policy.onnx\""});
}

TEST_F(Signing, TheManifestIsNotWrittenThroughALink) {
  std::ofstream(root_ / "precious") << "keep";
  fs::create_symlink(root_ / "precious", manifest());
  expect_refused({"walk.manifest"});
  sign();
  EXPECT_EQ(read(root_ / "precious"), "keep");
  EXPECT_FALSE(fs::is_symlink(manifest()));
  EXPECT_TRUE(verify().ok());
}

TEST_F(Signing, WhatCannotBeLoadedIsNotSigned) {
  const auto with_model = [](const std::string& parameters) {
    std::string text = kYaml;
    const std::string old = "model_path: ./policy.onnx";
    return text.replace(text.find(old), old.size(), parameters);
  };
  const auto refusal = [&](const std::string& parameters) {
    write("walk.yaml", with_model(parameters));
    const auto done = sign_bundle(folder(), ours_.private_pem);
    EXPECT_FALSE(done.ok());
    EXPECT_FALSE(fs::exists(manifest()));
    return done.status();
  };
  std::ofstream(root_ / "outside.onnx") << "a model";
  expect(refusal("model_path: ../outside.onnx"), {"models.policy.parameters.model_path", "in its folder"},
         StatusCode::kInvalidArgument);
  expect(refusal("model_path: nothing.onnx"), {"models.policy.parameters.model_path", "nothing.onnx"}, StatusCode::kIo);
  expect(refusal("model_path: log.txt"), {"never signed"}, StatusCode::kInvalidArgument);
  expect(refusal("model_path: policy.onnx, sha256sum: abc"), {"the YAML's sha256sum is abc", "policy.onnx is"});
  write("walk.yaml", "just text");
  EXPECT_FALSE(sign_bundle(folder(), ours_.private_pem).ok());
  fs::remove(folder() / "walk.yaml");
  expect(sign_bundle(folder(), ours_.private_pem).status(), {"is not a bundle", "walk.yaml"}, StatusCode::kIo);
  expect(sign_bundle(root_ / "nowhere" / "x.yaml", ours_.private_pem).status(), {"nowhere"}, StatusCode::kIo);
}

TEST_F(Signing, KeysThatAreNone) {
  sign();
  const auto with = [&](const std::string& key) { return verify_bundle(folder(), std::vector{ours_.public_pem, key}); };
  expect(with(ours_.private_pem).status(), {"trusted key 2: ", "found a private one"}, StatusCode::kInvalidArgument);
  expect(with("-----BEGIN PUBLIC KEY-----\nAAAA\n").status(), {"damaged"}, StatusCode::kInvalidArgument);
  expect(with((root_ / "no.pem").string()).status(), {"trusted key 2 (", "no.pem"}, StatusCode::kIo);
  expect(with("").status(), {"found nothing"}, StatusCode::kInvalidArgument);
  expect(verify_bundle(folder(), {}).status(), {"at least one trusted key"}, StatusCode::kInvalidArgument);
  const std::string before = read(manifest());
  expect(sign_bundle(folder(), ours_.public_pem).status(), {"key: ", "private key", "PUBLIC KEY"},
         StatusCode::kInvalidArgument);
  EXPECT_EQ(read(manifest()), before);
}

TEST_F(Signing, KeyFilesAreNeverOverwritten) {
  const fs::path secret = root_ / "release.private.pem";
  const fs::path known = root_ / "release.public.pem";
  const auto pair = write_key_pair(secret, known);
  ASSERT_TRUE(pair.ok()) << pair.status().message();
  EXPECT_EQ(fs::status(secret).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read(secret), pair.value().private_pem);
  expect(write_key_pair(secret, root_ / "other.pem").status(), {"release.private.pem"}, StatusCode::kIo);
  EXPECT_FALSE(fs::exists(root_ / "other.pem"));
  expect(write_key_pair(root_ / "other.pem", known).status(), {"release.public.pem"}, StatusCode::kIo);
  EXPECT_FALSE(fs::exists(root_ / "other.pem")) << "half a pair is of no use";
  EXPECT_EQ(read(known), pair.value().public_pem);
  fs::create_symlink(root_ / "elsewhere", root_ / "link.pem");
  EXPECT_FALSE(write_key_pair(root_ / "link.pem", root_ / "other.pem").ok());
  EXPECT_FALSE(fs::exists(root_ / "elsewhere"));
  // And as paths they serve as the texts do.
  ASSERT_TRUE(sign_bundle(folder(), secret.string()).ok());
  EXPECT_EQ(verify_bundle(folder(), std::vector{known.string()}).value().key, pair.value().fingerprint);
}

// Between looking at a folder and reading its files, it may change.
TEST_F(Signing, OnlyTheBytesThatWereReadCount) {
  sign();
  auto files = VerifiedFiles::open(folder() / "walk.yaml", {std::vector{ours_.public_pem}, 0});
  ASSERT_TRUE(files.ok()) << files.status().message();
  const fs::path model = files.value().folder() / "policy.onnx";
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  write("policy.onnx", "b model");
  EXPECT_TRUE(files.value().check(model, bytes("a model")).ok());
  expect(files.value().check(model, bytes("b model")), {"policy.onnx was changed since it was signed"});
  expect(files.value().check(files.value().folder() / "other.onnx", bytes("a model")), {"found \"other.onnx\""});
  expect(files.value().check(root_ / "x.onnx", bytes("a model")), {"x.onnx"});
  expect(files.value().copy(model, root_ / "copy"), {"policy.onnx was changed"});
  EXPECT_FALSE(fs::exists(root_ / "copy"));
  write("data/table.bin", std::string(5000, 'y'));
  expect(files.value().check_rest(), {"changed: data/table.bin"});
}

TEST_F(Signing, ANewExportLeavesNoOldManifest) {
  const std::vector<std::string> files = files_of_bundle(folder(), "walk");
  EXPECT_NE(std::find(files.begin(), files.end(), "walk.manifest"), files.end());
}

}  // namespace
}  // namespace leapp::bundle
