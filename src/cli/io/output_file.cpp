// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "bundle/folder/file_system.h"

namespace leapp::cli {
namespace {

namespace fs = std::filesystem;

/// What takes bytes and keeps none.
bool is_stream(mode_t mode) { return S_ISCHR(mode) || S_ISFIFO(mode); }

/// Whether the bytes go into what is there, and not into a file that takes its place.
bool is_written_into(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && is_stream(status.st_mode);
}

Status write_into(const fs::path& file, std::span<const std::byte> bytes) {
  // A pipe that nobody reads from would not open at all.
  const bundle::FileDescriptor open(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!open.is_open() && errno == ENXIO) {
    return io_error(fmt::format("cannot write {}: nobody reads from this pipe", quote(file.string())));
  }
  struct stat status {};
  if (!open.is_open() || ::fstat(open.number(), &status) != 0) return bundle::file_error("write", file, errno);
  if (!is_stream(status.st_mode)) return bundle::file_error("write", file, EEXIST);  // it was exchanged meanwhile
  const int flags = ::fcntl(open.number(), F_GETFL);
  if (flags < 0 || ::fcntl(open.number(), F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return bundle::file_error("write", file, errno);
  }
  return bundle::write_all(open.number(), bytes, file);
}

}  // namespace

Status write_output(const fs::path& file, std::span<const std::byte> bytes) {
  if (is_written_into(file)) return write_into(file, bytes);
  LEAPP_RETURN_IF_ERROR(check_output(file));
  return bundle::replace_file(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Status check_output(const fs::path& file) {
  struct stat status {};
  const bool there = ::lstat(file.c_str(), &status) == 0;
  if (is_written_into(file)) return {};
  if (there && S_ISDIR(status.st_mode)) return bundle::file_error("write", file, EISDIR);
  if (there && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    return io_error(fmt::format("cannot write {}: it is not a regular file", quote(file.string())));
  }
  // A file that its owner does not want changed stays, although a folder lets others take its place.
  if (there && S_ISREG(status.st_mode) && ::access(file.c_str(), W_OK) != 0) {
    return bundle::file_error("write", file, errno);
  }
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return ::access(folder.c_str(), W_OK) == 0 ? Status() : bundle::file_error("write", file, errno);
}

}  // namespace leapp::cli
