// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/ed25519.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <new>
#include <utility>

#include "base/hash.h"
#include "base/openssl_errors.h"
#include "base/text.h"

namespace leapp {
namespace {

template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

void free_bio(BIO* bio) { BIO_free_all(bio); }

Handle<EVP_PKEY> hold(EVP_PKEY* key) { return {key, &EVP_PKEY_free}; }

Status openssl_failed(const char* what) {
  forget_openssl_errors();
  return internal_error(fmt::format("OpenSSL could not {}", what));
}

// Without it, OpenSSL would ask at the terminal.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writes*/, void* /*user*/) { return -1; }

/// "PUBLIC KEY" of "-----BEGIN PUBLIC KEY-----".
Result<std::string_view> only_label(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  const std::size_t at = pem.find(kBegin);
  if (at == std::string_view::npos) return invalid_argument("expected a key as PEM (-----BEGIN ...), found none");
  const std::string_view rest = pem.substr(at + kBegin.size());
  if (rest.find(kBegin) != std::string_view::npos) return invalid_argument("expected one key, found several");
  const std::size_t end = rest.find("-----");
  if (end == std::string_view::npos || rest.substr(0, end).find('\n') != std::string_view::npos) {
    return invalid_argument("expected a key as PEM, found a damaged first line");
  }
  return rest.substr(0, end);
}

Status wrong_label(std::string_view label, bool is_public) {
  const std::string expected = is_public ? "a public key (BEGIN PUBLIC KEY)" : "a private key (BEGIN PRIVATE KEY)";
  if (is_public && label.ends_with("PRIVATE KEY")) {
    return invalid_argument(fmt::format(
        "expected {}, found a private one ({}): it is for signing and is kept secret; verifying takes the public one",
        expected, quote(label)));
  }
  if (!is_public && label.starts_with("ENCRYPTED")) {
    return invalid_argument(fmt::format(
        "expected {}, found one that is encrypted: openssl pkey -in FILE prints it without its passphrase", expected));
  }
  return invalid_argument(fmt::format("expected {}, found {}", expected, quote(label)));
}

/// The first test vector of RFC 8032, 7.1, as the keys in files are.
constexpr std::string_view kKnownPublicPem =
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC "
    "KEY-----\n";
constexpr std::string_view kKnownPrivatePem =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE "
    "KEY-----\n";

/// Null for what OpenSSL does not read.
Handle<EVP_PKEY> key_once(std::string_view pem, bool is_public) {
  begin_openssl();
  const Handle<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &free_bio);
  if (!bio) {
    forget_openssl_errors();
    throw std::bad_alloc();  // it needs nothing else
  }
  Handle<EVP_PKEY> key = hold(is_public ? PEM_read_bio_PUBKEY(bio.get(), nullptr, &no_passphrase, nullptr)
                                        : PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_passphrase, nullptr));
  if (!key) forget_openssl_errors();
  return key;
}

/// The one key in `pem`, which is an Ed25519 key.
Result<Handle<EVP_PKEY>> read_key(std::string_view pem, bool is_public) {
  LEAPP_ASSIGN_OR_RETURN(const std::string_view label, only_label(pem));
  if (label != (is_public ? "PUBLIC KEY" : "PRIVATE KEY")) return wrong_label(label, is_public);
  Handle<EVP_PKEY> key = key_once(pem, is_public);
  if (!key) {
    // OpenSSL does not always say that it was memory. So "damaged" counts only from one that reads a good key, and
    // twice.
    if (!key_once(is_public ? kKnownPublicPem : kKnownPrivatePem, is_public)) throw std::bad_alloc();
    key = key_once(pem, is_public);
  }
  if (!key) return invalid_argument(fmt::format("expected {} as PEM, found one that is damaged", quote(label)));
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519) {
    const char* name = EVP_PKEY_get0_type_name(key.get());
    return invalid_argument(fmt::format("expected an Ed25519 key, found {} of {} bits",
                                        name == nullptr ? "another kind" : name, EVP_PKEY_get_bits(key.get())));
  }
  return key;
}

Result<std::string> text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  if (size <= 0) return openssl_failed("write a key");
  return std::string(data, static_cast<std::size_t>(size));
}

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

/// The first test vector of RFC 8032, 7.1: a key, and its signature of nothing.
constexpr Ed25519Bytes kKnownKey{0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe,
                                 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6,
                                 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};
constexpr Ed25519Signature kKnownSignature{0xe5, 0x56, 0x43, 0x00, 0xc3, 0x60, 0xac, 0x72, 0x90, 0x86, 0xe2, 0xcc, 0x80,
                                           0x6e, 0x82, 0x8a, 0x84, 0x87, 0x7f, 0x1e, 0xb8, 0xe5, 0xd9, 0x74, 0xd8, 0x73,
                                           0xe0, 0x65, 0x22, 0x49, 0x01, 0x55, 0x5f, 0xb8, 0x82, 0x15, 0x90, 0xa3, 0x3b,
                                           0xac, 0xc6, 0x1e, 0x39, 0x70, 0x1c, 0xf9, 0xb4, 0x6b, 0xd2, 0x5b, 0xf5, 0xf0,
                                           0x59, 0x5b, 0xbe, 0x24, 0x65, 0x51, 0x41, 0x43, 0x8e, 0x7a, 0x10, 0x0b};

/// Throws std::bad_alloc when it could not be found out: the key was good when it was read, so only memory can lack.
bool verified_once(const Ed25519Bytes& public_key, std::string_view message, const Ed25519Signature& signature) {
  const Handle<EVP_PKEY> key =
      hold(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, public_key.data(), public_key.size()));
  const Handle<EVP_MD_CTX> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  const bool ready = key && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1;
  const bool verified = ready && EVP_DigestVerify(context.get(), signature.data(), signature.size(), bytes_of(message),
                                                  message.size()) == 1;
  if (!verified) forget_openssl_errors();
  if (!ready) throw std::bad_alloc();
  return verified;
}

}  // namespace

Result<PublicKey> PublicKey::from_bytes(const Ed25519Bytes& bytes) {
  begin_openssl();
  PublicKey made;
  made.bytes_ = bytes;
  const Handle<EVP_PKEY> key = hold(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes.data(), bytes.size()));
  unsigned char* der = nullptr;
  const int size = key ? i2d_PUBKEY(key.get(), &der) : 0;
  if (size <= 0) return openssl_failed("encode a key");
  auto sum = sha256_of(std::as_bytes(std::span(der, static_cast<std::size_t>(size))));
  OPENSSL_free(der);
  if (!sum.ok()) return sum.status();
  made.fingerprint_ = std::move(sum).value();
  return made;
}

Result<PublicKey> PublicKey::parse(std::string_view pem) {
  LEAPP_ASSIGN_OR_RETURN(const Handle<EVP_PKEY> key, read_key(pem, true));
  Ed25519Bytes bytes{};
  std::size_t size = bytes.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1 || size != bytes.size()) {
    return openssl_failed("decode a key");
  }
  return from_bytes(bytes);
}

bool PublicKey::verifies(std::string_view message, const Ed25519Signature& signature) const {
  if (verified_once(bytes_, message, signature)) return true;
  // OpenSSL says "wrong" too when memory ran out, now or when it was started, and not always why. So "wrong" counts
  // only from one that knows a right one, and twice.
  if (!verified_once(kKnownKey, "", kKnownSignature)) throw std::bad_alloc();
  return verified_once(bytes_, message, signature);
}

Result<std::string> PublicKey::to_pem() const {
  const Handle<EVP_PKEY> key =
      hold(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_.data(), bytes_.size()));
  const Handle<BIO> bio(BIO_new(BIO_s_mem()), &free_bio);
  if (!key || !bio || PEM_write_bio_PUBKEY(bio.get(), key.get()) != 1) return openssl_failed("write a key");
  return text_of(bio.get());
}

PrivateKey::~PrivateKey() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

Result<PrivateKey> PrivateKey::make() {
  begin_openssl();
  const Handle<EVP_PKEY> key = hold(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  PrivateKey made;
  std::size_t size = made.bytes_.size();
  if (!key || EVP_PKEY_get_raw_private_key(key.get(), made.bytes_.data(), &size) != 1) {
    return openssl_failed("make a key");
  }
  return made;
}

Result<PrivateKey> PrivateKey::parse(std::string_view pem) {
  LEAPP_ASSIGN_OR_RETURN(const Handle<EVP_PKEY> key, read_key(pem, false));
  PrivateKey made;
  std::size_t size = made.bytes_.size();
  if (EVP_PKEY_get_raw_private_key(key.get(), made.bytes_.data(), &size) != 1 || size != made.bytes_.size()) {
    return openssl_failed("decode a key");
  }
  return made;
}

Result<Ed25519Signature> PrivateKey::sign(std::string_view message) const {
  const Handle<EVP_PKEY> key =
      hold(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_.data(), bytes_.size()));
  const Handle<EVP_MD_CTX> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  Ed25519Signature signature{};
  std::size_t size = signature.size();
  if (!key || !context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, bytes_of(message), message.size()) != 1 ||
      size != signature.size()) {
    return openssl_failed("sign");
  }
  return signature;
}

Result<PublicKey> PrivateKey::public_key() const {
  const Handle<EVP_PKEY> key =
      hold(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_.data(), bytes_.size()));
  Ed25519Bytes bytes{};
  std::size_t size = bytes.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1 || size != bytes.size()) {
    return openssl_failed("derive a key");
  }
  return PublicKey::from_bytes(bytes);
}

Result<std::string> PrivateKey::to_pem() const {
  const Handle<EVP_PKEY> key =
      hold(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_.data(), bytes_.size()));
  const Handle<BIO> bio(BIO_new(BIO_s_secmem()), &free_bio);
  if (!key || !bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return openssl_failed("write a key");
  }
  return text_of(bio.get());
}

}  // namespace leapp
