// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/files/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"

namespace leapp::bundle {
namespace {

constexpr std::string_view kTitle = "leapp manifest ";
constexpr std::string_view kVersion = "1";
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kHashDigits = 64;

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string hex(const Ed25519Signature& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

std::optional<Ed25519Signature> from_hex(std::string_view text) {
  Ed25519Signature bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, bytes[i], 16);
    if (error != std::errc() || end != at + 2) return std::nullopt;
  }
  return bytes;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  Result<Manifest> read() {
    LEAPP_RETURN_IF_ERROR(read_title());
    LEAPP_RETURN_IF_ERROR(read_head());
    while (!rest_.empty()) LEAPP_RETURN_IF_ERROR(read_entry());
    if (manifest_.find(manifest_.bundle) == nullptr) {
      return data_loss(fmt::format("expected the bundle {} among the files, found {} others", quote(manifest_.bundle),
                                   manifest_.files.size()));
    }
    return std::move(manifest_);
  }

 private:
  [[nodiscard]] Status wrong(std::string_view expected, std::string_view found) const {
    constexpr std::size_t kShown = 80;
    return data_loss(fmt::format("line {}: expected {}, found {}{}", line_, expected, quote(found.substr(0, kShown)),
                                 found.size() > kShown ? "..." : ""));
  }

  Result<std::string_view> next_line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return wrong("a whole line, for the file is cut off", rest_);
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

  /// What stands behind `key` in the next line.
  Result<std::string_view> value_of(std::string_view key) {
    LEAPP_ASSIGN_OR_RETURN(const std::string_view line, next_line());
    if (!line.starts_with(key)) return wrong(fmt::format("\"{}...\"", key), line);
    return line.substr(key.size());
  }

  Status read_title() {
    LEAPP_ASSIGN_OR_RETURN(const std::string_view version, value_of(kTitle));
    if (version == kVersion) return {};
    return wrong(fmt::format("version {} (another needs another LEAPP)", kVersion), version);
  }

  Status read_head() {
    LEAPP_ASSIGN_OR_RETURN(const std::string_view bundle, value_of("bundle "));
    if (!is_manifest_path(bundle) || bundle.find('/') != std::string_view::npos) return wrong("a file name", bundle);
    manifest_.bundle = bundle;
    LEAPP_ASSIGN_OR_RETURN(const std::string_view serial, value_of("serial "));
    const auto value = number(serial);
    if (!value || std::to_string(*value) != serial) return wrong("a whole number", serial);
    manifest_.serial = *value;
    return {};
  }

  Status read_entry() {
    LEAPP_ASSIGN_OR_RETURN(const std::string_view line, next_line());
    if (line.starts_with("file ") && manifest_.signatures.empty()) return read_file(line.substr(5));
    if (line.starts_with("signature ed25519 ")) return read_signature(line.substr(18));
    return wrong(
        manifest_.signatures.empty() ? "\"file ...\" or \"signature ed25519 ...\"" : "\"signature ed25519 ...\"", line);
  }

  Status read_file(std::string_view line) {
    ManifestFile file;
    const std::size_t first = line.find(' ');
    const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) return wrong("a SHA-256, a size and a path", line);
    const std::string_view size = line.substr(first + 1, second - first - 1);
    const auto value = number(size);
    file.sha256 = line.substr(0, first);
    file.path = line.substr(second + 1);
    if (!is_hash(file.sha256)) return wrong("a SHA-256 of 64 small hex digits", file.sha256);
    if (!value || std::to_string(*value) != size) return wrong("a size in bytes", size);
    file.size = *value;
    if (!is_manifest_path(file.path)) return wrong("a path inside the folder", file.path);
    if (!manifest_.files.empty() && manifest_.files.back().path >= file.path) {
      return wrong(fmt::format("files sorted by path, each once, so one after {}", quote(manifest_.files.back().path)),
                   file.path);
    }
    manifest_.files.push_back(std::move(file));
    return {};
  }

  Status read_signature(std::string_view line) {
    ManifestSignature signature;
    const std::size_t space = line.find(' ');
    signature.key = line.substr(0, space);
    if (!is_hash(signature.key)) return wrong("a key's fingerprint of 64 small hex digits", signature.key);
    const std::string_view digits = space == std::string_view::npos ? "" : line.substr(space + 1);
    const auto bytes = from_hex(digits);
    if (!bytes || hex(*bytes) != digits) return wrong("a signature of 128 small hex digits", digits);
    signature.bytes = *bytes;
    if (!manifest_.signatures.empty() && manifest_.signatures.back().key >= signature.key) {
      return wrong("signatures sorted by key, each once", signature.key);
    }
    manifest_.signatures.push_back(std::move(signature));
    return {};
  }

  std::string_view rest_;
  std::size_t line_ = 0;
  Manifest manifest_;
};

}  // namespace

const ManifestFile* Manifest::find(std::string_view path) const {
  const auto at = std::lower_bound(files.begin(), files.end(), path,
                                   [](const ManifestFile& file, std::string_view name) { return file.path < name; });
  return at == files.end() || at->path != path ? nullptr : &*at;
}

bool is_manifest_path(std::string_view path) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (path.empty() || path.size() > kLongestPath || !is_utf8(path)) return false;
  if (std::any_of(path.begin(), path.end(), control)) return false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

std::string signed_text(const Manifest& manifest) {
  std::string text = fmt::format("{}{}\nbundle {}\nserial {}\n", kTitle, kVersion, manifest.bundle, manifest.serial);
  for (const ManifestFile& file : manifest.files) {
    fmt::format_to(std::back_inserter(text), "file {} {} {}\n", file.sha256, file.size, file.path);
  }
  return text;
}

std::string manifest_text(const Manifest& manifest) {
  std::string text = signed_text(manifest);
  for (const ManifestSignature& signature : manifest.signatures) {
    fmt::format_to(std::back_inserter(text), "signature ed25519 {} {}\n", signature.key, hex(signature.bytes));
  }
  return text;
}

Result<Manifest> parse_manifest(std::string_view text) {
  if (text.size() > kLargestManifest) {
    return data_loss(fmt::format("expected at most {} bytes, found {}", kLargestManifest, text.size()));
  }
  return Reader(text).read();
}

}  // namespace leapp::bundle
