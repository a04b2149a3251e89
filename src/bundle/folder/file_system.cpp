// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "base/folder_names.h"
#include "base/text.h"

namespace leapp::bundle {

namespace fs = std::filesystem;

FileDescriptor::~FileDescriptor() {
  if (is_open()) ::close(number_);
}

Status file_error(std::string_view action, const fs::path& path, int error_number) {
  std::string text =
      fmt::format("cannot {} {}: {}", action, quote(path.string()), std::generic_category().message(error_number));
  return error_number == ENOMEM ? out_of_memory(std::move(text)) : io_error(std::move(text));
}

Status write_all(int file, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(file, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (size < 0 && errno != EINTR) return file_error("write", path, errno);
    if (size > 0) bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  return {};
}

namespace {

Status sync(int file, const fs::path& path) {
  if (::fsync(file) == 0) return {};
  // A file system that has no such thing as syncing.
  const bool unsupported = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
  return unsupported ? Status() : file_error("write", path, errno);
}

}  // namespace

Status create_file(const fs::path& path, std::string_view text, unsigned mode) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file.is_open()) return file_error("write", path, errno);
  Status status = write_all(file.number(), std::as_bytes(std::span(text)), path);
  if (status.ok()) status = sync(file.number(), path);
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

fs::path part_of(const fs::path& file) { return file.string() + ".part"; }

bool is_at(int file, const fs::path& path) {
  struct stat ours {};
  struct stat theirs {};
  return ::fstat(file, &ours) == 0 && ::lstat(path.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino;
}

namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kPause{5};

/// Removes what a process that was killed left there, or someone put there. False while another process writes it:
/// whoever does holds its lock.
Result<bool> remove_leftover(const fs::path& part) {
  const FileDescriptor file(::open(part.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open() && errno == ENOENT) return true;
  if (file.is_open()) {
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    if (!is_at(file.number(), part)) return true;  // it got its name, or its owner has removed it
  }
  // One that cannot be opened is a link, or nobody's who writes now.
  if (::unlink(part.c_str()) != 0 && errno != ENOENT) return file_error("replace", part, errno);
  return true;
}

/// A file that is new, and ours alone until it is closed.
Result<FileDescriptor> open_part(const fs::path& part) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    LEAPP_ASSIGN_OR_RETURN(const bool free, remove_leftover(part));
    if (free) {
      FileDescriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
      if (!file.is_open() && errno != EEXIST) return file_error("write", part, errno);
      // Before it was locked another may have taken it for a leftover. File systems without locks have no such others.
      const bool ours = file.is_open() && (::flock(file.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
      if (ours && is_at(file.number(), part)) return file;
    }
    if (std::chrono::steady_clock::now() >= until) {
      return failed_precondition(
          fmt::format("{} is being written by another process; try again when it is done", quote(part.string())));
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Status replace_file(const fs::path& file, std::string_view bytes, bool durable) {
  const fs::path part = part_of(file);
  {
    LEAPP_ASSIGN_OR_RETURN(const FileDescriptor stream, open_part(part));
    Status status = write_all(stream.number(), std::as_bytes(std::span(bytes)), part);
    if (status.ok() && durable) status = sync_to_disk(part);
    if (status.ok() && ::rename(part.c_str(), file.c_str()) != 0) status = file_error("replace", file, errno);
    if (!status.ok()) {
      ::unlink(part.c_str());
      return status;
    }
  }
  return durable ? sync_to_disk(file.parent_path()) : Status();
}

namespace {

bool remove_entry(int folder, const char* name) noexcept;

/// What is in an open folder, which is closed then. Needs no memory but the system's for reading it: destructors ask
/// for this, and the functions of the C++ library end the process when there is none.
void remove_entries(int folder) noexcept {
  DIR* const open = ::fdopendir(folder);
  if (open == nullptr) {
    ::close(folder);
    return;
  }
  while (const dirent* entry = ::readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") remove_entry(::dirfd(open), entry->d_name);
  }
  ::closedir(open);
}

/// Whatever it is; of a link the link. A folder that its owner may not change is opened up first.
bool remove_entry(int folder, const char* name) noexcept {
  if (::unlinkat(folder, name, 0) == 0) return true;
  struct stat status {};
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(status.st_mode)) return false;
  if ((status.st_mode & 0700U) != 0700U && ::fchmodat(folder, name, status.st_mode | 0700U, 0) != 0) return false;
  const int inner = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return false;
  remove_entries(inner);
  return ::unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

}  // namespace

Status sync_to_disk(const fs::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return file_error("open", path, errno);
  return sync(file.number(), path);
}

Status sync_tree_to_disk(const fs::path& folder) {
  std::error_code error;
  const std::vector<std::string> names = folder_names(folder, error);
  if (error) return file_error("list", folder, error.value());
  for (const std::string& name : names) {
    const fs::path path = folder / name;
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return file_error("look at", path, errno);
    if (S_ISDIR(status.st_mode)) LEAPP_RETURN_IF_ERROR(sync_tree_to_disk(path));
    if (S_ISREG(status.st_mode)) LEAPP_RETURN_IF_ERROR(sync_to_disk(path));
  }
  return sync_to_disk(folder);
}

void remove_tree(const fs::path& folder) { remove_entry(AT_FDCWD, folder.c_str()); }

Status exchange_folders(const fs::path& staged, const fs::path& target, const fs::path& parked, bool can_exchange) {
  if (can_exchange) {
    if (::renameat2(AT_FDCWD, staged.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return {};
    const bool unsupported = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    if (!unsupported) return file_error("replace", target, errno);
  }
  if (::rename(target.c_str(), parked.c_str()) != 0) return file_error("replace", target, errno);
  if (::rename(staged.c_str(), target.c_str()) == 0) return {};
  const int reason = errno;
  if (::rename(parked.c_str(), target.c_str()) != 0) {
    return io_error(fmt::format("cannot replace {}; what was there is now in {}: {}", quote(target.string()),
                                quote(parked.string()), std::generic_category().message(reason)));
  }
  return file_error("replace", target, reason);
}

}  // namespace leapp::bundle
