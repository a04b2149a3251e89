// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "bundle/folder/file_system.h"

namespace leapp::bundle {

/// Names of the temporary folders for one target. They are siblings of it, say which process made them, and are no
/// longer than a file name may be, however long the target's is.
class StagingNames {
 public:
  explicit StagingNames(std::filesystem::path target);

  /// A path that is not taken: for the folder under construction, and for the old folder while two renames are needed.
  [[nodiscard]] std::filesystem::path fresh_staged() const { return fresh(staged_prefix_); }
  [[nodiscard]] std::filesystem::path fresh_parked() const { return fresh(parked_prefix_); }

  /// The file whose lock is the right to replace the target.
  [[nodiscard]] std::filesystem::path lock_file() const;

  /// Removes what processes that are gone left behind. Should one have died between its two renames, the old folder
  /// goes back to its place first. `alone`: nobody else replaces the target now, so that whatever is there and not in
  /// use was left behind; else the numbers of processes decide, and one that was given to another process misleads.
  void clean_up(bool alone) const;

 private:
  [[nodiscard]] std::filesystem::path fresh(const std::string& prefix) const;

  std::filesystem::path target_;
  std::string staged_prefix_;
  std::string parked_prefix_;
};

/// Marks `folder` as in use by this process until the result is closed. Not open when the file system has no locks.
[[nodiscard]] FileDescriptor lock_folder(const std::filesystem::path& folder);

}  // namespace leapp::bundle
