// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace leapp::runtime {

/// Tells a file from what somebody has put in its place, or written to it.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< 0: there is none
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  std::int64_t size = 0;

  /// Of a link what it leads to.
  static FileStamp of(const std::filesystem::path& file);

  bool operator==(const FileStamp&) const = default;
};

/// Tells a bundle from the one that an export puts in its place.
struct BundleStamp {
  explicit BundleStamp(const std::filesystem::path& yaml);

  bool operator==(const BundleStamp&) const = default;

 private:
  FileStamp folder_;  ///< without its time: files that are not the bundle's may come and go
  FileStamp yaml_;
};

}  // namespace leapp::runtime
