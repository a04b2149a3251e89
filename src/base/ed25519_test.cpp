// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ed25519.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace leapp {
namespace {

// The second of RFC 8032's test vectors: one byte of message, 0x72.
constexpr const char* kSecret =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
    "-----END PRIVATE KEY-----\n";

constexpr const char* kRsa =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAMG789NKwlB4CmLgUO765xhq/kQwEAfC\n"
    "wRc66Z/wesqEYwT3d5npweaOE7SWPV7eVTKxqeoLS/i9zCxIU79UUEECAwEAAQ==\n"
    "-----END PUBLIC KEY-----\n";

void expect_says(const Status& status, std::initializer_list<const char*> words) {
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.message();
  for (const char* word : words) EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

TEST(Ed25519, SignsAsTheStandardSays) {
  const auto key = PrivateKey::parse(kSecret);
  ASSERT_TRUE(key.ok()) << key.status().message();
  EXPECT_EQ(hex(key.value().sign("r").value()),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
  EXPECT_EQ(key.value().to_pem().value(), kSecret);
}

TEST(Ed25519, OnlyTheSameBytesVerify) {
  const PrivateKey key = PrivateKey::make().value();
  const PublicKey known = PublicKey::parse(key.public_key().value().to_pem().value()).value();
  EXPECT_EQ(known.fingerprint(), key.public_key().value().fingerprint());
  EXPECT_EQ(known.fingerprint().size(), 64U);
  Ed25519Signature signature = key.sign("some text").value();
  EXPECT_TRUE(known.verifies("some text", signature));
  EXPECT_FALSE(known.verifies("some texT", signature));
  EXPECT_FALSE(known.verifies("", signature));
  EXPECT_FALSE(PrivateKey::make().value().public_key().value().verifies("some text", signature));
  signature[40] ^= 1U;
  EXPECT_FALSE(known.verifies("some text", signature));
}

TEST(Ed25519, WhatIsNoKeyIsNamed) {
  const PrivateKey key = PrivateKey::make().value();
  const std::string secret = key.to_pem().value();
  std::string known = key.public_key().value().to_pem().value();
  expect_says(PublicKey::parse(secret).status(), {"public key", "found a private one"});
  expect_says(PrivateKey::parse(known).status(), {"private key", "PUBLIC KEY"});
  expect_says(PublicKey::parse(kRsa).status(), {"Ed25519", "RSA of 512 bits"});
  expect_says(PublicKey::parse("").status(), {"PEM", "found none"});
  expect_says(PublicKey::parse("ssh-ed25519 AAAA").status(), {"PEM", "found none"});
  expect_says(PublicKey::parse(known + known).status(), {"one key", "several"});
  expect_says(PublicKey::parse("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n").status(), {"CERTIFICATE"});
  expect_says(
      PrivateKey::parse("-----BEGIN ENCRYPTED PRIVATE KEY-----\n-----END ENCRYPTED PRIVATE KEY-----\n").status(),
      {"encrypted", "openssl pkey"});
  expect_says(PublicKey::parse(known.substr(0, 60)).status(), {"damaged"});
  expect_says(PublicKey::parse("-----BEGIN PUB").status(), {"damaged"});
  known[40] = '!';
  expect_says(PublicKey::parse(known).status(), {"damaged"});
}

}  // namespace
}  // namespace leapp
