// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string_view>
#include <vector>

#include "base/digester.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// The values are those of coreutils' md5sum and sha256sum.
TEST(Digest, KnownValues) {
  const Digests empty = digest_bytes({}).value();
  EXPECT_EQ(empty.md5, "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(empty.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const Digests abc = digest_bytes(bytes_of("abc")).value();
  EXPECT_EQ(abc.md5, "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(abc.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, OneOfThemIsTheSame) {
  const Digests both = digest_bytes(bytes_of("LEAPP")).value();
  EXPECT_EQ(md5_of(bytes_of("LEAPP")).value(), both.md5);
  EXPECT_EQ(sha256_of(bytes_of("LEAPP")).value(), both.sha256);
}

TEST(Digest, PiecesAreOneAfterTheOther) {
  Digester digester;
  for (const std::string_view piece : {"LE", "", "APP"}) digester.update(bytes_of(piece));
  EXPECT_EQ(digester.finish().value(), digest_bytes(bytes_of("LEAPP")).value());
}

TEST(Digest, FileEqualsBytesAcrossPieces) {
  const fs::path path = fs::temp_directory_path() / ("leapp_hash_test." + std::to_string(::getpid()));
  std::string content((std::size_t{3} << 20) + 17, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 + (i >> 8));
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(sha256_of_file(path).value(), digest_bytes(bytes_of(content)).value().sha256);
  fs::remove(path);
}

TEST(Digest, UnreadableFilesAreIoErrorsWithTheirPath) {
  for (const char* path : {"/nonexistent/model.pt", "/proc"}) {
    const auto result = sha256_of_file(path);
    ASSERT_FALSE(result.ok()) << path;
    EXPECT_EQ(result.status().code(), StatusCode::kIo);
    EXPECT_NE(result.status().message().find(path), std::string::npos) << result.status().message();
  }
}

TEST(ContentHash, DependsOnEveryBitAndOnTheLength) {
  std::set<std::uint64_t> hashes;
  std::size_t inputs = 0;
  for (std::size_t size = 0; size <= 80; ++size) {
    std::vector<std::byte> bytes(size);
    hashes.insert(content_hash(bytes));
    ++inputs;
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= std::byte(1U << (bit % 8));
      hashes.insert(content_hash(bytes));
      ++inputs;
      bytes[bit / 8] ^= std::byte(1U << (bit % 8));
    }
  }
  EXPECT_EQ(hashes.size(), inputs);
}

TEST(ContentHash, SeesOrderAndSeedButNotTheAddress) {
  const std::string ab = std::string(8, 'a') + std::string(8, 'b') + std::string(48, 'c');
  const std::string ba = std::string(8, 'b') + std::string(8, 'a') + std::string(48, 'c');
  EXPECT_NE(content_hash(bytes_of(ab)), content_hash(bytes_of(ba)));
  EXPECT_NE(content_hash(bytes_of(ab), 1), content_hash(bytes_of(ab), 2));
  const std::string shifted = "x" + ab;
  EXPECT_EQ(content_hash(bytes_of(ab)), content_hash(bytes_of(std::string_view(shifted).substr(1))));
}

}  // namespace
}  // namespace leapp
