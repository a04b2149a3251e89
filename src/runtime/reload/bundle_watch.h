// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "leapp/runtime/reloader.h"
#include "runtime/reload/file_stamp.h"

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
  [[nodiscard]] std::vector<FileStamp> stamps() const;

  std::filesystem::path bundle_;
  bool signed_ = false;
  std::vector<FileStamp> told_;  ///< of what was told last
  std::vector<FileStamp> seen_;  ///< at the last look
};

}  // namespace leapp::runtime
