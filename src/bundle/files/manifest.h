// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ed25519.h"
#include "leapp/base/status.h"

/// `{name}.manifest`, which says what the files of a bundle are and who vouches for that:
///
///   leapp manifest 1
///   bundle walk.yaml
///   serial 7
///   file <SHA-256> <bytes> policy.onnx
///   file <SHA-256> <bytes> walk.yaml
///   signature ed25519 <fingerprint of the key> <signature>
///
/// Files are sorted by name, signatures by key; there is one way to write a manifest, and every other is refused. What
/// is signed is the text before the first signature.
namespace leapp::bundle {

inline constexpr std::string_view kManifestSuffix = ".manifest";
inline constexpr std::size_t kLargestManifest = std::size_t{16} << 20U;

struct ManifestFile {
  std::string path;  ///< relative to the bundle's folder
  std::string sha256;
  std::uint64_t size = 0;

  bool operator==(const ManifestFile&) const = default;
};

struct ManifestSignature {
  std::string key;  ///< PublicKey::fingerprint
  Ed25519Signature bytes{};

  bool operator==(const ManifestSignature&) const = default;
};

struct Manifest {
  std::string bundle;  ///< the YAML file's name
  std::uint64_t serial = 0;
  std::vector<ManifestFile> files;
  std::vector<ManifestSignature> signatures;

  [[nodiscard]] const ManifestFile* find(std::string_view path) const;
  bool operator==(const Manifest&) const = default;
};

/// Whether a file may have that name in a manifest: relative, normal, UTF-8, without control characters.
[[nodiscard]] bool is_manifest_path(std::string_view path);

/// What is signed.
[[nodiscard]] std::string signed_text(const Manifest& manifest);

/// All of it. REQUIRES: what parse_manifest would accept.
[[nodiscard]] std::string manifest_text(const Manifest& manifest);

/// Any bytes end in kDataLoss, with the line, or in a manifest whose text they are.
Result<Manifest> parse_manifest(std::string_view text);

}  // namespace leapp::bundle
