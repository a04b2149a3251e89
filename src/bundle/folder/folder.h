// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bundle/folder/file_system.h"
#include "bundle/folder/folder_lock.h"
#include "leapp/base/status.h"

namespace leapp::bundle {

/// A folder under construction beside the one it will replace. Nothing of the target changes before commit(), and
/// commit changes all of it in one step; whatever fails before leaves the target as it was. One thread at a time.
class StagedFolder {
 public:
  /// Makes the folder `target`, and those above it, where there is none. One that an export which died was about to
  /// replace, with two renames, goes back to its place instead.
  static Status make(const std::filesystem::path& target);

  /// Makes the temporary folder, after removing those that dead processes left for the same target. `target` may exist,
  /// as a folder or as a symlink to one (which then stays a symlink); its parent folder must.
  /// Waits for others that do the same (folder_lock.h); kFailedPrecondition when they take too long.
  static Result<StagedFolder> create(const std::filesystem::path& target, const FolderLock::Options& options = {});

  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;
  /// Without a commit(), removes the temporary folder and everything in it.
  ~StagedFolder();

  /// The right to replace the target, given back by commit() unless somebody keeps it who has more to do there.
  /// REQUIRES: not committed.
  [[nodiscard]] std::shared_ptr<FolderLock> right() const { return right_; }

  /// Where the files are: the temporary folder, after commit() the target.
  [[nodiscard]] const std::filesystem::path& folder() const { return committed_ ? target_ : staged_; }

  /// Where to find or to write the file `name`.
  [[nodiscard]] std::filesystem::path path(std::string_view name) const { return folder() / name; }

  /// Writes a file, and the sub-folders of its name. A name that leads out of the folder is kInvalidArgument.
  /// REQUIRES: not committed.
  Status write(std::string_view name, std::span<const std::byte> bytes);
  /// The pieces one after the other.
  Status write(std::string_view name, std::span<const std::span<const std::byte>> pieces);
  /// What `fill` hands to the function it is given, one after the other; ends with the first failure of either.
  using Writer = std::function<Status(std::span<const std::byte>)>;
  Status write(std::string_view name, const std::function<Status(const Writer&)>& fill);
  Status write(std::string_view name, std::string_view text) { return write(name, std::as_bytes(std::span(text))); }

  /// Forces all to disk, takes over what the target holds (hard links, so an open log.txt stays the same file) except
  /// the files named in `previously_written` and those written anew, and swaps the folders. log.txt is taken over in
  /// any case. A process that works in the old folder works in the new one then. REQUIRES: not committed.
  Status commit(const std::vector<std::string>& previously_written);

 private:
  StagedFolder(std::filesystem::path target, std::filesystem::path staged, FileDescriptor lock,
               std::shared_ptr<FolderLock> right);

  std::filesystem::path target_;
  std::filesystem::path staged_;
  FileDescriptor lock_;  // held while the folder is in use, so that no other process takes it for a leftover
  std::shared_ptr<FolderLock> right_;
  bool committed_ = false;
};

}  // namespace leapp::bundle
