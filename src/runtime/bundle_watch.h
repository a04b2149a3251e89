// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "leapp/runtime/reloader.h"

namespace leapp::runtime {

/// Sees that a bundle has changed, by its files' times, sizes and numbers. One thread at a time.
class BundleWatch {
 public:
  /// What is there now is not news.
  explicit BundleWatch(const ReloaderOptions& options);

  [[nodiscard]] bool is_on() const { return !bundle_.empty(); }

  /// True once for each change, at the first look that finds the files as the look before did: whoever writes them is
  /// done. Files that are not there are no news.
  bool look();

 private:
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;  ///< 0: there is none
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    std::int64_t size = 0;

    bool operator==(const Stamp&) const = default;
  };

  static Stamp stamp_of(const std::filesystem::path& file);
  [[nodiscard]] std::vector<Stamp> stamps() const;

  std::filesystem::path bundle_;
  bool signed_ = false;
  std::vector<Stamp> told_;  ///< of what was told last
  std::vector<Stamp> seen_;  ///< at the last look
};

}  // namespace leapp::runtime
