// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/hash.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

class BundleFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("leapp_bundle_files_" + std::to_string(::getpid()));
    folder_ = root_ / "bundle";
    fs::create_directories(folder_ / "sub");
    write(folder_ / "model.onnx", "model");
    write(folder_ / "sub" / "model.onnx", "other");
    write(root_ / "outside.onnx", "outside");
    fs::create_directory(root_ / "bundle2");
    write(root_ / "bundle2" / "model.onnx", "neighbour");
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  static Model model(const std::string& path) {
    return {.name = "m", .inputs = {}, .outputs = {}, .parameters = {.backend = "onnx", .model_path = path}};
  }

  fs::path root_;
  fs::path folder_;
};

TEST_F(BundleFiles, FilesInsideAreFound) {
  fs::create_symlink("sub/model.onnx", folder_ / "link.onnx");
  fs::create_directory_symlink(folder_, root_ / "other_name");
  const fs::path real = fs::canonical(folder_);
  for (const fs::path& folder : {folder_, root_ / "other_name", folder_ / "sub" / ".."}) {
    EXPECT_EQ(locate_file(folder, "model.onnx").value(), real / "model.onnx");
    EXPECT_EQ(locate_file(folder, "./model.onnx").value(), real / "model.onnx");
    EXPECT_EQ(locate_file(folder, "sub/../model.onnx").value(), real / "model.onnx");
    EXPECT_EQ(locate_file(folder, "link.onnx").value(), real / "sub" / "model.onnx");
    EXPECT_EQ(locate_file(folder, (real / "model.onnx").string()).value(), real / "model.onnx");
  }
}

// Whether this process has the file in its memory as a map.
bool is_mapped(const fs::path& file) {
  std::ifstream maps("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  return text.find(fs::canonical(file).string()) != std::string::npos;
}

TEST_F(BundleFiles, LargeOnesAreMapped) {
  const fs::path file = folder_ / "large.onnx";
  const std::uint64_t size = (std::uint64_t{64} << 20U) + 5;
  write(file, "first");
  fs::resize_file(file, size);
  {
    const ModelFile read = read_model(folder_, model("large.onnx")).value();
    EXPECT_TRUE(is_mapped(file));
    ASSERT_EQ(read.bytes.size(), size);
    EXPECT_EQ(static_cast<char>(read.bytes[4]), 't');
    EXPECT_EQ(static_cast<char>(read.bytes[size - 1]), '\0');
  }
  EXPECT_FALSE(is_mapped(file));

  Model damaged = model("large.onnx");
  damaged.parameters.sha256sum = std::string(64, '0');
  EXPECT_EQ(read_model(folder_, damaged).status().code(), StatusCode::kDataLoss);
}

TEST_F(BundleFiles, WhatBecomesShorterWhileItIsMappedEndsNobody) {
  const fs::path file = folder_ / "large.onnx";
  const std::uint64_t size = (std::uint64_t{64} << 20U) + 5;
  write(file, "first");
  fs::resize_file(file, size);
  const ModelFile read = read_model(folder_, model("large.onnx")).value();
  const ModelFile other = read_model(folder_, model("large.onnx")).value();
  EXPECT_TRUE(check_unchanged(read).ok());
  fs::resize_file(file, 4097);
  EXPECT_EQ(static_cast<char>(read.bytes[4]), 't');
  for (const ModelFile* each : {&read, &other}) {
    EXPECT_EQ(static_cast<char>(each->bytes[8192]), '\0');  // SIGBUS without what is tested here
    EXPECT_EQ(static_cast<char>(each->bytes[size - 1]), '\0');
    EXPECT_EQ(check_unchanged(*each).code(), StatusCode::kIo);
    EXPECT_NE(check_unchanged(*each).message().find("it was changed while it was read"), std::string::npos);
  }
}

TEST_F(BundleFiles, WhatIsWrittenAnewWhileItIsMappedIsNoticed) {
  const fs::path file = folder_ / "large.onnx";
  write(file, "first");
  fs::resize_file(file, (std::uint64_t{64} << 20U) + 5);
  const ModelFile read = read_model(folder_, model("large.onnx")).value();
  std::fstream(file, std::ios::in | std::ios::out) << "later";
  EXPECT_EQ(check_unchanged(read).code(), StatusCode::kIo);
}

volatile std::sig_atomic_t g_bus_errors = 0;

TEST_F(BundleFiles, BusErrorsOfOthersGoToWhoeverHadThem) {
  struct ::sigaction mine {};
  struct ::sigaction before {};
  mine.sa_handler = [](int) { g_bus_errors = g_bus_errors + 1; };
  ::sigaction(SIGBUS, &mine, &before);
  const fs::path file = folder_ / "large.onnx";
  write(file, "first");
  fs::resize_file(file, (std::uint64_t{64} << 20U) + 5);
  {
    const ModelFile read = read_model(folder_, model("large.onnx")).value();
    ::raise(SIGBUS);
    EXPECT_EQ(g_bus_errors, 1);
  }
  struct ::sigaction after {};
  ::sigaction(SIGBUS, &before, &after);
  EXPECT_EQ(after.sa_handler, mine.sa_handler);
}

TEST_F(BundleFiles, WhatWasSignedIsReadHoweverLarge) {
  const fs::path file = folder_ / "large.onnx";
  write(file, "first");
  fs::resize_file(file, (std::uint64_t{64} << 20U) + 5);
  std::size_t inspected = 0;
  const auto inspect = [&](const fs::path&, std::span<const std::byte> bytes) {
    inspected = bytes.size();
    return Status();
  };
  const ModelFile read = read_model(folder_, model("large.onnx"), {.inspect = inspect}).value();
  EXPECT_FALSE(is_mapped(file));
  EXPECT_EQ(inspected, read.bytes.size());
  fs::resize_file(file, 0);
  EXPECT_EQ(static_cast<char>(read.bytes[0]), 'f');
}

TEST_F(BundleFiles, WhatLeadsOutIsRefused) {
  fs::create_symlink(root_ / "outside.onnx", folder_ / "link.onnx");
  fs::create_directory_symlink(root_, folder_ / "up");
  for (const std::string& name :
       {std::string("../outside.onnx"), (root_ / "outside.onnx").string(), std::string("link.onnx"),
        std::string("up/outside.onnx"), std::string("../bundle2/model.onnx"), std::string("../nowhere.onnx"),
        std::string("/etc/hostname"), std::string("..")}) {
    const auto path = locate_file(folder_, name);
    ASSERT_FALSE(path.ok()) << name;
    EXPECT_EQ(path.status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_NE(path.status().message().find("leads out of the bundle's folder"), std::string::npos);
  }
  const FileOptions outside{.allow_outside = true};
  EXPECT_EQ(locate_file(folder_, "../outside.onnx", outside).value(), fs::canonical(root_) / "outside.onnx");
  EXPECT_EQ(locate_file(folder_, "link.onnx", outside).value(), fs::canonical(root_) / "outside.onnx");
}

TEST_F(BundleFiles, ModelsOutsideAreReadWhenTheirSha256Matches) {
  const std::string text = "outside";
  const std::string good = digest_bytes(std::as_bytes(std::span(text))).value().sha256;
  fs::create_symlink(root_ / "outside.onnx", root_ / "alias.onnx");
  fs::create_directory_symlink(root_, root_ / "again");
  for (const std::string& name :
       {std::string("../outside.onnx"), std::string("./sub/../../outside.onnx"), std::string("../alias.onnx"),
        std::string("../again/outside.onnx"), fs::absolute(root_ / "outside.onnx").string()}) {
    Model one = model(name);
    EXPECT_EQ(read_model(folder_, one).status().code(), StatusCode::kInvalidArgument) << name << " without checksum";
    one.parameters.md5sum = digest_bytes(std::as_bytes(std::span(text))).value().md5;
    EXPECT_EQ(read_model(folder_, one).status().code(), StatusCode::kInvalidArgument) << name << " with MD5 only";
    one.parameters.sha256sum = good;
    const auto file = read_model(folder_, one);
    ASSERT_TRUE(file.ok()) << name << ": " << file.status().message();
    EXPECT_EQ(file.value().bytes.size(), text.size());
    one.parameters.sha256sum->back() ^= 1;
    EXPECT_EQ(read_model(folder_, one).status().code(), StatusCode::kDataLoss) << name;
    EXPECT_EQ(read_model(folder_, one, {.verify_checksums = false}).status().code(), StatusCode::kDataLoss)
        << name << ": what is outside is compared in any case";
  }
}

TEST_F(BundleFiles, NoLinkOfTheBundleLeadsToAModelOutside) {
  const std::string text = "outside";
  fs::create_symlink(root_ / "outside.onnx", folder_ / "link.onnx");
  fs::create_directory_symlink(root_, folder_ / "up");
  fs::create_directory_symlink(folder_, root_ / "alias");
  fs::create_directory_symlink("sub", folder_ / "down");
  fs::create_directory_symlink("bundle/up", root_ / "round");
  for (const char* name : {"link.onnx", "up/outside.onnx", "../bundle/link.onnx", "../alias/link.onnx",
                           "../alias/up/outside.onnx", "down/../../outside.onnx", "../round/outside.onnx"}) {
    Model one = model(name);
    one.parameters.sha256sum = digest_bytes(std::as_bytes(std::span(text))).value().sha256;
    const auto file = read_model(folder_, one);
    ASSERT_FALSE(file.ok()) << name;
    EXPECT_EQ(file.status().code(), StatusCode::kInvalidArgument) << name << ": " << file.status().message();
  }
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  Model pipe = model("../pipe");
  pipe.parameters.sha256sum = std::string(64, '0');
  EXPECT_EQ(read_model(folder_, pipe).status().code(), StatusCode::kIo);
}

TEST_F(BundleFiles, OnlyRegularFilesThatAreThere) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const char* name : {"nothing.onnx", "sub", "pipe", ".", "model.onnx/x"}) {
    EXPECT_FALSE(locate_file(folder_, name).ok()) << name;
    EXPECT_FALSE(read_file(folder_ / name, 100).ok()) << name;
  }
  EXPECT_EQ(locate_file(folder_, "nothing.onnx").status().code(), StatusCode::kIo);
  EXPECT_FALSE(locate_file(folder_, "").ok());
  EXPECT_FALSE(locate_file(folder_, std::string("a\0b", 3)).ok());
  EXPECT_FALSE(locate_file(root_ / "no_folder", "a").ok());
  EXPECT_NE(read_file(folder_ / "model.onnx", 4).status().message().find("expected at most 4 bytes, found 5"),
            std::string::npos);
}

TEST_F(BundleFiles, ChecksumsAreCompared) {
  const std::string text = "model";
  const Digests digests = digest_bytes(std::as_bytes(std::span(text))).value();
  Model one = model("./model.onnx");
  EXPECT_TRUE(read_model(folder_, one).ok());
  one.parameters.md5sum = digests.md5;
  one.parameters.sha256sum = digests.sha256;
  const auto file = read_model(folder_, one);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file.value().bytes.size(), text.size());
  for (auto* sum : {&one.parameters.md5sum, &one.parameters.sha256sum}) {
    const std::string good = **sum;
    (*sum)->back() = (*sum)->back() == '0' ? '1' : '0';
    const auto bad = read_model(folder_, one);
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.status().code(), StatusCode::kDataLoss);
    EXPECT_NE(bad.status().message().find("found " + good + " in ./model.onnx"), std::string::npos);
    EXPECT_TRUE(read_model(folder_, one, {.verify_checksums = false}).ok());
    const bool md5 = sum == &one.parameters.md5sum;
    EXPECT_EQ(read_model(folder_, one, {.md5_too = false}).ok(), md5);
    EXPECT_EQ(check_md5(one, std::as_bytes(std::span(text))).ok(), !md5);
    *sum = good;
  }
  one.parameters.sha256sum.reset();
  one.parameters.md5sum->back() ^= 1;
  EXPECT_FALSE(read_model(folder_, one, {.md5_too = false}).ok()) << "the only one there is";
  one.parameters.model_path.reset();
  EXPECT_EQ(read_model(folder_, one).status().message(), "models.m: the node has no model, so the pipeline cannot run");
}

}  // namespace
}  // namespace leapp::bundle
