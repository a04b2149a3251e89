// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "bundle/folder/file_system.h"
#include "leapp/base/status.h"

namespace leapp::bundle {

/// The right to replace a folder: one process, and in it one object, has it at a time. It is a lock on a file beside
/// the folder that says who holds it, goes with the process that dies, and is removed when it is given back.
class FolderLock {
 public:
  struct Options {
    /// How long to wait for someone who has it.
    std::chrono::milliseconds patience = std::chrono::minutes(2);
    /// Called once, before waiting, with who has it: "process 4711 on robot".
    std::function<void(const std::string& holder)> on_wait;
    /// Asked while waiting: true ends it (Ctrl-C).
    std::function<bool()> interrupted = {};
  };

  /// kFailedPrecondition, with who has it, when the patience is over. Where the file system has no locks, or the file
  /// cannot be made, the result is not held: then processes go by each other's numbers (staging_names.h).
  static Result<FolderLock> acquire(const std::filesystem::path& target, const Options& options);

  FolderLock() = default;
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

  [[nodiscard]] bool is_held() const { return file_.is_open(); }

 private:
  FolderLock(std::filesystem::path path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::filesystem::path path_;
  FileDescriptor file_;
};

}  // namespace leapp::bundle
