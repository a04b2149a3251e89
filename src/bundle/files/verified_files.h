// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bundle/files/manifest.h"
#include "leapp/base/status.h"
#include "leapp/bundle/signing.h"

namespace leapp::bundle {

/// Whose signatures are believed.
struct Trust {
  std::span<const std::string> keys;
  std::uint64_t minimum_serial = 0;
};

/// The file that a bundle is: itself, or for a folder the YAML file of the folder's name in it.
[[nodiscard]] std::filesystem::path yaml_of(const std::filesystem::path& bundle);

/// A key's text: what was given, or what the file has that it names.
Result<std::string> key_text(const std::string& key);

/// kInvalidArgument, or kIo, when one of them is no public key.
Status check_keys(std::span<const std::string> keys);

/// Every file that a manifest lists, sorted. kDataLoss when there is a symlink, or anything else that is neither a
/// folder nor a regular file.
Result<std::vector<std::string>> files_to_list(const std::filesystem::path& folder);

/// `path` relative to the folder, as a manifest has it.
[[nodiscard]] std::string manifest_path(const std::filesystem::path& folder, const std::filesystem::path& path);

/// SHA-256 and size of what is read, in one go: the bytes that were hashed are those that were counted. Follows no
/// symlink.
Result<ManifestFile> hash_file(const std::filesystem::path& folder, const std::string& path);

/// The files of a bundle whose manifest was signed by somebody who is trusted. The manifest was read once; what is read
/// later is compared with it byte for byte, so that nothing that happens to the folder in between is believed. One
/// thread at a time.
class VerifiedFiles {
 public:
  /// Checks signature and serial, and that the folder has the files that it should, in the sizes that they should have.
  /// What is wrong with files is told all at once.
  static Result<VerifiedFiles> open(const std::filesystem::path& yaml, const Trust& trust);

  /// kDataLoss when the manifest does not have `file`, or it has other bytes there. REQUIRES: `file` is canonical.
  Status check(const std::filesystem::path& file, std::span<const std::byte> bytes);

  /// Copies the file, which is then what the manifest has, or an error and nothing.
  Status copy(const std::filesystem::path& file, const std::filesystem::path& to);

  /// The files that were not checked yet, which are pictures and the like: nobody reads them, so that reading them from
  /// the disk is as good. All that differ are told.
  Status check_rest();

  [[nodiscard]] const Signature& signature() const { return signature_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  VerifiedFiles() = default;
  Status check_listing() const;
  Result<const ManifestFile*> find(const std::filesystem::path& file) const;
  [[nodiscard]] Status compare(const ManifestFile& expected, const ManifestFile& found) const;

  std::filesystem::path folder_;
  std::filesystem::path file_;  ///< the manifest
  Manifest manifest_;
  Signature signature_;
  std::set<std::string, std::less<>> checked_;
};

}  // namespace leapp::bundle
