// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "bundle/folder/file_system.h"
#include "leapp/base/status.h"

namespace leapp::bundle {

/// A file in memory, of which the system reads what is used. Somebody may make it shorter meanwhile, which would end
/// the process with SIGBUS: while there are such files, this signal for an address in one of them makes the rest of it
/// zeros, and for any other address goes to whoever had it before. Any thread.
class MappedFile {
 public:
  /// `status` is what fstat() says of the open file, which has at least a byte. Null when there are too many at once.
  static Result<std::shared_ptr<const MappedFile>> map(FileDescriptor file, const struct ::stat& status,
                                                       const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  /// kIo when the file is not what it was when it was mapped: what was read may be half of two files, or zeros.
  [[nodiscard]] Status unchanged() const;
  /// kIo when the file has become shorter: somebody may have read zeros. It may have become longer.
  [[nodiscard]] Status not_shorter() const;

 private:
  MappedFile(FileDescriptor file, const struct ::stat& status, std::filesystem::path path);

  FileDescriptor file_;
  std::filesystem::path path_;
  struct ::stat status_;
  std::span<std::byte> bytes_;
  std::optional<std::size_t> slot_;  ///< where the signal finds it
};

}  // namespace leapp::bundle
