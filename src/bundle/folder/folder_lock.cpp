// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/text.h"
#include "bundle/folder/staging_names.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLockPause{20};

std::string who_we_are() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("process {} on {}", ::getpid(), host.data());
}

// The file has a name that others can foresee: what they put there, a link of theirs to a file of ours among it, is
// locked like any other, but neither written to nor shown.
bool is_made_for_this(const FileDescriptor& file) {
  constexpr off_t kLongest = 300;
  struct stat status {};
  return ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
         status.st_size <= kLongest;
}

std::string holder_of(const FileDescriptor& file) {
  if (!is_made_for_this(file)) return "another process";
  std::array<char, 300> text{};
  const ::ssize_t size = ::pread(file.number(), text.data(), text.size(), 0);
  return size > 0 ? printable({text.data(), static_cast<std::size_t>(size)}) : "another process";
}

/// A file of ours, or one of another user that we may look at: enough for a lock. Not open: there is none.
FileDescriptor open_lock(const fs::path& path) {
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0666));
  if (!file.is_open() && (errno == EACCES || errno == EPERM || errno == EROFS))
    file = FileDescriptor(::open(path.c_str(), O_RDONLY | kFlags));
  return file;
}

/// One that nobody can lock, so nobody has signed: it would lie there for ever.
void remove_unused(const FileDescriptor& file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0) ::unlink(path.c_str());
}

void sign(const FileDescriptor& file) {
  if (!is_made_for_this(file)) return;
  const std::string text = who_we_are();
  // For messages alone.
  if (::ftruncate(file.number(), 0) != 0 || ::pwrite(file.number(), text.data(), text.size(), 0) < 0) errno = 0;
}

}  // namespace

Result<FolderLock> FolderLock::acquire(const fs::path& target, const Options& options) {
  const fs::path path = StagingNames(target).lock_file();
  const auto until = std::chrono::steady_clock::now() + options.patience;
  bool waited = false;
  while (true) {
    FileDescriptor file = open_lock(path);
    if (!file.is_open()) return FolderLock();
    if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) {
      // Whoever gave the lock back removed the file: what we locked may be no file that anybody else would find.
      if (!is_at(file.number(), path)) continue;
      sign(file);
      return FolderLock(path, std::move(file));
    }
    if (errno != EWOULDBLOCK && errno != EINTR) {
      remove_unused(file, path);
      return FolderLock();
    }
    const std::string holder = holder_of(file);
    if (std::chrono::steady_clock::now() >= until) {
      return failed_precondition(
          fmt::format("{} is being written by {}; try again when it is done", quote(target.string()), holder));
    }
    if (!std::exchange(waited, true) && options.on_wait) options.on_wait(holder);
    if (options.interrupted && options.interrupted()) {
      return failed_precondition(
          fmt::format("interrupted while waiting for {}, which is writing {}", holder, quote(target.string())));
    }
    std::this_thread::sleep_for(kLockPause);
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

FolderLock::~FolderLock() {
  // While it is still ours, so that nobody's file is removed.
  if (is_held()) ::unlink(path_.c_str());
}

}  // namespace leapp::bundle
