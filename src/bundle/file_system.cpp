// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

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

Status create_file(const fs::path& path, std::string_view text, unsigned mode) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!file.is_open()) return file_error("write", path, errno);
  Status status = write_all(file.number(), std::as_bytes(std::span(text)), path);
  if (status.ok() && ::fsync(file.number()) != 0 && errno != EINVAL) status = file_error("write", path, errno);
  if (!status.ok()) ::unlink(path.c_str());
  return status;
}

fs::path part_of(const fs::path& file) { return file.string() + ".part"; }

Status replace_file(const fs::path& file, std::string_view bytes, bool durable) {
  const fs::path part = part_of(file);
  const auto write = [&]() -> Status {
    ::unlink(part.c_str());  // what a process that was killed left, or someone put there
    {
      const FileDescriptor stream(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
      if (!stream.is_open()) return file_error("write", part, errno);
      LEAPP_RETURN_IF_ERROR(write_all(stream.number(), std::as_bytes(std::span(bytes)), part));
    }
    if (durable) LEAPP_RETURN_IF_ERROR(sync_to_disk(part));
    return ::rename(part.c_str(), file.c_str()) == 0 ? Status() : file_error("replace", file, errno);
  };
  const Status written = write();
  if (!written.ok()) ::unlink(part.c_str());
  return written.ok() && durable ? sync_to_disk(file.parent_path()) : written;
}

Status sync_to_disk(const fs::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return file_error("open", path, errno);
  // EINVAL: a file system that has no such thing as syncing.
  if (::fsync(file.number()) != 0 && errno != EINVAL) return file_error("write", path, errno);
  return {};
}

Status sync_tree_to_disk(const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::file_type type = it->symlink_status(error).type();
    if (error) break;
    if (type == fs::file_type::regular || type == fs::file_type::directory) {
      LEAPP_RETURN_IF_ERROR(sync_to_disk(it->path()));
    }
  }
  if (error) return file_error("list", folder, error.value());
  return sync_to_disk(folder);
}

void remove_tree(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) return;
  std::error_code ignored;
  const auto open_up = [&](const fs::path& path) {
    if (!fs::is_directory(fs::symlink_status(path, ignored))) return;
    fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, ignored);
  };
  open_up(folder);
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    open_up(it->path());
  }
  fs::remove_all(folder, ignored);
}

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
