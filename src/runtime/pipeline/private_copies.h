// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "leapp/base/status.h"

namespace leapp::bundle {
class VerifiedFiles;
}

namespace leapp::runtime {

/// A model and the files of weights beside it, for an engine that reads these itself: copies of what was verified, in a
/// folder that nobody else may write to. Gone with the object; what an engine has mapped stays.
class PrivateCopies {
 public:
  explicit PrivateCopies(bundle::VerifiedFiles& files) : files_(files) {}
  ~PrivateCopies();
  PrivateCopies(const PrivateCopies&) = delete;
  PrivateCopies& operator=(const PrivateCopies&) = delete;

  /// A file whose bytes were verified already. Returns its copy. REQUIRES: `file` is canonical and in the bundle.
  Result<std::filesystem::path> add(const std::filesystem::path& file, std::span<const std::byte> bytes);
  /// A file that is verified while it is copied.
  Status add(const std::filesystem::path& file);

 private:
  Result<std::filesystem::path> place_for(const std::filesystem::path& file);

  bundle::VerifiedFiles& files_;
  std::filesystem::path folder_;
};

}  // namespace leapp::runtime
