// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "base/digester.h"
#include "base/openssl_errors.h"
#include "base/text.h"

namespace leapp {
namespace {

class Digest {
 public:
  explicit Digest(const EVP_MD* algorithm) : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    begin_openssl();
    ok_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), algorithm, nullptr) == 1;
  }

  void update(std::span<const std::byte> bytes) {
    ok_ = ok_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
  }

  Result<std::string> finish(std::string_view name) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
    unsigned size = 0;
    if (!ok_ || EVP_DigestFinal_ex(context_.get(), sum.data(), &size) != 1) {
      forget_openssl_errors();
      return internal_error(fmt::format("OpenSSL could not compute {}", name));
    }
    std::string hex;
    hex.reserve(std::size_t{2} * size);
    for (unsigned i = 0; i < size; ++i) fmt::format_to(std::back_inserter(hex), "{:02x}", sum[i]);
    return hex;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
  bool ok_ = false;
};

Result<std::string> digest(const EVP_MD* algorithm, std::string_view name, std::span<const std::byte> bytes) {
  Digest digest(algorithm);
  digest.update(bytes);
  return digest.finish(name);
}

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87U;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FU;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9U;

std::uint64_t load_word(const std::byte* from, std::size_t size = 8) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, size);
  return word;
}

// Every step is a bijection of the lane for a given word and of the word for a given lane: nothing is lost on the way.
std::uint64_t absorb(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * kPrime2, 31) * kPrime1; }

std::uint64_t avalanche(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace

Result<std::string> md5_of(std::span<const std::byte> bytes) { return digest(EVP_md5(), "md5", bytes); }

Result<std::string> sha256_of(std::span<const std::byte> bytes) { return digest(EVP_sha256(), "sha256", bytes); }

struct Sha256::State {
  Digest digest{EVP_sha256()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
void Sha256::update(std::span<const std::byte> bytes) { state_->digest.update(bytes); }
Result<std::string> Sha256::finish() { return state_->digest.finish("sha256"); }

struct Digester::State {
  Digest md5{EVP_md5()};
  Digest sha256{EVP_sha256()};
};

Digester::Digester() : state_(std::make_unique<State>()) {}
Digester::~Digester() = default;
void Digester::update(std::span<const std::byte> bytes) {
  state_->md5.update(bytes);
  state_->sha256.update(bytes);
}
Result<Digests> Digester::finish() {
  LEAPP_ASSIGN_OR_RETURN(std::string md5, state_->md5.finish("md5"));
  LEAPP_ASSIGN_OR_RETURN(std::string sha256, state_->sha256.finish("sha256"));
  return Digests{std::move(md5), std::move(sha256)};
}

Result<Digests> digest_bytes(std::span<const std::byte> bytes) {
  Digester digester;
  digester.update(bytes);
  return digester.finish();
}

Result<std::string> sha256_of_file(const std::filesystem::path& path) {
  const auto failure = [&](int error) {
    return io_error(fmt::format("cannot read {}: {}", quote(path.string()), std::generic_category().message(error)));
  };
  // A pipe that nobody writes to would never open, and a device never end.
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) return failure(errno);
  struct ::stat status {};
  const bool regular = ::fstat(number, &status) == 0 && S_ISREG(status.st_mode);
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(regular ? ::fdopen(number, "rb") : nullptr, &std::fclose);
  if (!file) {
    const int reason = errno;
    ::close(number);
    return regular ? failure(reason)
                   : io_error(fmt::format("cannot read {}: it is not a regular file", quote(path.string())));
  }

  Digest digest(EVP_sha256());
  std::vector<std::byte> piece(std::size_t{1} << 20);
  std::size_t size = 0;
  while ((size = std::fread(piece.data(), 1, piece.size(), file.get())) > 0) {
    digest.update(std::span(piece).first(size));
  }
  if (std::ferror(file.get()) != 0) return failure(errno);
  return digest.finish("sha256");
}

std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed) {
  // Four lanes, because one is bound by the latency of its multiplications.
  std::array<std::uint64_t, 4> lanes{seed + kPrime1, seed ^ kPrime2, seed + kPrime3, ~seed};
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 32; left -= 32, at += 32) {
    for (std::size_t i = 0; i < 4; ++i) lanes[i] = absorb(lanes[i], load_word(at + 8 * i));
  }
  std::uint64_t hash = bytes.size() * kPrime3;
  for (const std::uint64_t lane : lanes) hash = absorb(hash, avalanche(lane));
  for (; left >= 8; left -= 8, at += 8) hash = absorb(hash, load_word(at));
  if (left > 0) hash = absorb(hash, load_word(at, left));
  return avalanche(hash);
}

void begin_openssl() noexcept {
  [[maybe_unused]] static const int begun = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
}

void forget_openssl_errors() {
  bool memory = false;
  for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error()) {
    memory |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
  }
  if (memory) throw std::bad_alloc();
}

}  // namespace leapp
