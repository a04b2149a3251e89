// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "leapp/base/status.h"

namespace leapp {

/// What OpenSSL calls a raw public or private key.
using Ed25519Bytes = std::array<std::uint8_t, 32>;
using Ed25519Signature = std::array<std::uint8_t, 64>;

/// A key that signatures are checked with.
class PublicKey {
 public:
  /// From PEM ("-----BEGIN PUBLIC KEY-----"). kInvalidArgument says what was found instead: a private key, a key of
  /// another kind, several keys, damaged text.
  static Result<PublicKey> parse(std::string_view pem);

  /// Whether the holder of the private key signed exactly these bytes.
  [[nodiscard]] bool verifies(std::string_view message, const Ed25519Signature& signature) const;

  /// SHA-256 of the key as `openssl pkey -pubin -outform DER` prints it, in hex.
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }
  [[nodiscard]] Result<std::string> to_pem() const;

 private:
  friend class PrivateKey;
  static Result<PublicKey> from_bytes(const Ed25519Bytes& bytes);

  Ed25519Bytes bytes_{};
  std::string fingerprint_;
};

/// A key that signs. Its bytes are wiped with the object.
class PrivateKey {
 public:
  static Result<PrivateKey> make();
  /// From PEM ("-----BEGIN PRIVATE KEY-----", not encrypted); as PublicKey::parse.
  static Result<PrivateKey> parse(std::string_view pem);

  PrivateKey(const PrivateKey&) = default;
  PrivateKey& operator=(const PrivateKey&) = default;
  ~PrivateKey();

  /// The same bytes give the same signature.
  [[nodiscard]] Result<Ed25519Signature> sign(std::string_view message) const;
  [[nodiscard]] Result<PublicKey> public_key() const;
  [[nodiscard]] Result<std::string> to_pem() const;

 private:
  PrivateKey() = default;

  Ed25519Bytes bytes_{};
};

}  // namespace leapp
