// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "leapp/base/status.h"

namespace leapp {

/// The two checksums a bundle carries for each model, in lower-case hex.
struct Digests {
  std::string md5;
  std::string sha256;

  bool operator==(const Digests&) const = default;
};

/// Fails with kInternal when OpenSSL lacks a digest (a FIPS build without MD5).
Result<Digests> digest_bytes(std::span<const std::byte> bytes);

/// One of them, for who needs no other: MD5 takes more than twice as long as SHA-256.
Result<std::string> md5_of(std::span<const std::byte> bytes);
Result<std::string> sha256_of(std::span<const std::byte> bytes);

/// SHA-256 of what comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::span<const std::byte> bytes);
  /// Once, at the end.
  Result<std::string> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads the file once, in pieces. Fails with kIo when it cannot be read.
Result<std::string> sha256_of_file(const std::filesystem::path& path);

/// Fast hash of contents, for telling constants apart within one process: not for files, not against an adversary.
/// Two inputs of one length that differ in a single 8-byte word never collide.
[[nodiscard]] std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace leapp
