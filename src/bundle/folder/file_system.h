// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "leapp/base/status.h"

/// What the standard library lacks for replacing a folder safely.
namespace leapp::bundle {

/// An open file descriptor, closed with the object.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();

  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_ = -1;
};

/// "cannot <action> <path>: <the system's words for error_number>"; kIo, or kOutOfMemory when that is what they say.
[[nodiscard]] Status file_error(std::string_view action, const std::filesystem::path& path, int error_number);

/// Writes all of `bytes` to the open file `file`; `path` is for messages.
Status write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path);

/// The name under which replace_file writes: no reader takes it for the file.
[[nodiscard]] std::filesystem::path part_of(const std::filesystem::path& file);

/// Whether `path` is the open file `file`: no link to it, and nothing that has taken its place since.
[[nodiscard]] bool is_at(int file, const std::filesystem::path& path);

/// Writes a file beside `file` and renames it: a reader sees the old one or the new one, and a link in either place is
/// replaced, not followed. On failure the old one stays. Of several who write the same file at a time each writes all
/// of it, one after the other; kFailedPrecondition when they take too long. `durable`: after a loss of power too.
Status replace_file(const std::filesystem::path& file, std::string_view bytes, bool durable = false);

/// Writes a file that must not exist, with those permissions. On failure there is none.
Status create_file(const std::filesystem::path& path, std::string_view text, unsigned mode);
/// Forces a file, or the list of names in a folder, to disk.
Status sync_to_disk(const std::filesystem::path& path);

/// sync_to_disk for the folder and everything below it; follows no symlinks.
Status sync_tree_to_disk(const std::filesystem::path& folder);

/// Deletes a folder and everything below it, read-only sub-folders too; follows no symlinks. What cannot be deleted
/// stays.
void remove_tree(const std::filesystem::path& folder);

/// Puts the folder `staged` in the place of the folder `target`. Afterwards the old one is at `staged`, or gone to
/// `parked` where the file system cannot exchange two names in one step. On failure both are where they were.
/// `can_exchange` false takes the second way from the start.
/// REQUIRES: all three are siblings; `parked` does not exist.
Status exchange_folders(const std::filesystem::path& staged, const std::filesystem::path& target,
                        const std::filesystem::path& parked, bool can_exchange = true);

}  // namespace leapp::bundle
