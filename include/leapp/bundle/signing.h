// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Bundles that somebody vouches for.
//
//   write_key_pair("release.private.pem", "release.public.pem");    // once; the private one stays with you
//   sign_bundle("walk", "release.private.pem");                     // writes walk/walk.manifest
//   LoadOptions options{.trusted_keys = {"release.public.pem"}};    // on the robot: this and nothing else
//   auto pipeline = Pipeline::load("walk", options);
//
// The manifest has the SHA-256 and size of every file in the folder and below it, except log.txt and the manifests of
// the folder itself; docs/reference/bundle_format.md shows one. Keys are Ed25519, as PEM. Wherever a key is asked for,
// it is given as the PEM text itself or as the path of a file that has it: what contains "-----BEGIN" is a text. All
// functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "leapp/base/export.h"
#include "leapp/base/status.h"

namespace leapp::bundle {

/// What is known of a bundle whose signature was checked, or that was just signed.
struct Signature {
  std::string key;           ///< fingerprint: SHA-256 of `openssl pkey -pubin -outform DER`, in hex
  std::uint64_t serial = 0;  ///< what the signer gave
  std::size_t files = 0;     ///< in the manifest
  std::size_t signatures = 0;

  bool operator==(const Signature&) const = default;
};

/// A new pair of keys, as PEM text.
struct KeyPair {
  std::string private_pem;
  std::string public_pem;
  std::string fingerprint;  ///< Signature::key
};

/// Makes a pair of Ed25519 keys from the system's random numbers.
LEAPP_API Result<KeyPair> make_key_pair();

/// Makes a pair and writes its two files, the private one for the owner's eyes only (mode 0600). kIo when one of them
/// exists, also as a symlink, or cannot be written: then neither is there that was not before.
LEAPP_API Result<KeyPair> write_key_pair(const std::filesystem::path& private_file,
                                         const std::filesystem::path& public_file);

/// What a signature says besides the checksums.
struct SignOptions {
  /// Counts the releases of a bundle: LoadOptions::minimum_serial and a Reloader refuse an earlier one, however well
  /// it is signed.
  std::uint64_t serial = 0;
};

/// Hashes every file of the bundle (its YAML file, or the folder that has one of the same name) and writes
/// `{name}.manifest` beside the YAML, whole or not at all. Signatures by other keys stay when files and serial are what
/// these have signed, and are dropped else; the same key, files and serial give the same bytes. Refused are symlinks
/// and what is not a regular file, a model or initial values that lie outside of the folder, and a bundle that
/// contradicts its own checksums: what cannot be loaded is not signed.
LEAPP_API Result<Signature> sign_bundle(const std::filesystem::path& bundle, const std::string& private_key,
                                        const SignOptions& options = {});

/// Whether one of the keys has signed the bundle as it is. kDataLoss when it has no signature or none by these keys,
/// when its manifest is damaged or of an earlier serial than `minimum_serial`, and when files were changed, removed or
/// added, all of which are listed; kInvalidArgument for keys that are none. To load a bundle, LoadOptions::trusted_keys
/// does the same with the very bytes that are loaded.
LEAPP_API Result<Signature> verify_bundle(const std::filesystem::path& bundle,
                                          std::span<const std::string> trusted_keys, std::uint64_t minimum_serial = 0);

}  // namespace leapp::bundle
