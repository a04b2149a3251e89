// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "bundle/folder/carry_over.h"
#include "bundle/folder/staging_names.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

bool is_mount_point(const fs::path& folder) {
  struct stat inside {};
  struct stat outside {};
  return ::lstat(folder.c_str(), &inside) == 0 && ::lstat(folder.parent_path().c_str(), &outside) == 0 &&
         inside.st_dev != outside.st_dev;
}

// Follows a symlink at `target` itself, so that the folder it stands for is replaced and not the link.
Result<fs::path> resolve_target(const fs::path& target) {
  std::error_code error;
  fs::path path = fs::absolute(target, error);
  if (error) return file_error("find", target, error.value());
  if (!path.has_filename()) path = path.parent_path();  // "name/"
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) {
    const fs::path parent = fs::canonical(path.parent_path(), error);
    if (error == std::errc::not_enough_memory) return file_error("find", path.parent_path(), ENOMEM);
    if (error || !fs::is_directory(parent, error)) {
      return io_error(fmt::format("cannot make {}: its parent folder does not exist", quote(path.string())));
    }
    return parent / path.filename();
  }
  if (error) return file_error("look at", path, error.value());
  const fs::path real = fs::canonical(path, error);
  if (error) return file_error("follow", path, error.value());
  if (!fs::is_directory(real, error)) {
    return io_error(fmt::format("expected a folder, found something else: {}", quote(path.string())));
  }
  if (!real.has_filename()) return invalid_argument(fmt::format("cannot replace {}", quote(real.string())));
  if (is_mount_point(real)) {
    return failed_precondition(
        fmt::format("{} is where another file system begins, so that it cannot be replaced as a whole: export into a "
                    "folder inside of it",
                    quote(real.string())));
  }
  return real;
}

/// Where the process works, if that is in `folder`; else nothing. It would go away with it.
fs::path working_folder_in(const fs::path& folder) {
  std::error_code error;
  fs::path here = fs::current_path(error);
  if (error) return {};
  const auto [rest, unused] = std::mismatch(folder.begin(), folder.end(), here.begin(), here.end());
  return rest == folder.end() ? here : fs::path();
}

/// Nothing where it has that mode already: not every file system lets anybody change one.
Status give_mode(const fs::path& folder, ::mode_t mode) {
  struct stat now {};
  if (::lstat(folder.c_str(), &now) == 0 && (now.st_mode & 07777U) == mode) return {};
  return ::chmod(folder.c_str(), mode) == 0 ? Status() : file_error("change", folder, errno);
}

Result<fs::path> checked_name(std::string_view name) {
  const fs::path normal = fs::path(name).lexically_normal();
  if (!normal.has_filename() || normal.is_absolute() || *normal.begin() == ".." || normal == "." ||
      name.find('\0') != std::string_view::npos) {
    return invalid_argument(fmt::format("expected the name of a file inside the folder, found {}", quote(name)));
  }
  return normal;
}

}  // namespace

StagedFolder::StagedFolder(fs::path target, fs::path staged, FileDescriptor lock, std::shared_ptr<FolderLock> right)
    : target_(std::move(target)), staged_(std::move(staged)), lock_(std::move(lock)), right_(std::move(right)) {}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : target_(std::move(other.target_)),
      staged_(std::exchange(other.staged_, {})),
      lock_(std::move(other.lock_)),
      right_(std::move(other.right_)),
      committed_(other.committed_) {}

StagedFolder::~StagedFolder() {
  if (!committed_ && !staged_.empty()) remove_tree(staged_);
}

Status StagedFolder::make(const fs::path& target) {
  std::error_code error;
  if (fs::is_directory(target, error)) return {};
  if (error && error != std::errc::no_such_file_or_directory) return file_error("make", target, error.value());
  fs::create_directories(target.parent_path(), error);
  if (error) return file_error("make", target.parent_path(), error.value());
  if (fs::symlink_status(target, error).type() == fs::file_type::not_found) {
    // With the right to replace it: to another process it may be gone for a moment only.
    LEAPP_ASSIGN_OR_RETURN(const fs::path real, resolve_target(target));
    LEAPP_ASSIGN_OR_RETURN(const FolderLock right, FolderLock::acquire(real, {}));
    StagingNames(real).clean_up(right.is_held());
    if (::mkdir(real.c_str(), 0777) != 0 && errno != EEXIST) return file_error("make", real, errno);
  }
  if (fs::is_directory(target, error)) return {};
  return io_error(fmt::format("expected a folder, found something else: {}", quote(target.string())));
}

Result<StagedFolder> StagedFolder::create(const fs::path& target, const FolderLock::Options& options) {
  LEAPP_ASSIGN_OR_RETURN(fs::path real, resolve_target(target));
  LEAPP_ASSIGN_OR_RETURN(FolderLock lock, FolderLock::acquire(real, options));
  auto right = std::make_shared<FolderLock>(std::move(lock));
  const StagingNames names(real);
  names.clean_up(right->is_held());
  // Another thread may take the same name between looking and making.
  for (int attempt = 0;; ++attempt) {
    fs::path staged = names.fresh_staged();
    if (::mkdir(staged.c_str(), 0777) == 0) {
      return StagedFolder(std::move(real), staged, lock_folder(staged), std::move(right));
    }
    if (errno != EEXIST || attempt == 100) return file_error("make", staged, errno);
  }
}

Status StagedFolder::write(std::string_view name, std::span<const std::byte> bytes) {
  return write(name, std::span<const std::span<const std::byte>>(&bytes, 1));
}

Status StagedFolder::write(std::string_view name, std::span<const std::span<const std::byte>> pieces) {
  return write(name, [&](const Writer& write) {
    for (const std::span<const std::byte> piece : pieces) LEAPP_RETURN_IF_ERROR(write(piece));
    return Status();
  });
}

Status StagedFolder::write(std::string_view name, const std::function<Status(const Writer&)>& fill) {
  if (committed_) return failed_precondition(fmt::format("{}: the folder is committed already", quote(name)));
  LEAPP_ASSIGN_OR_RETURN(const fs::path relative, checked_name(name));
  const fs::path path = staged_ / relative;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return file_error("make", path.parent_path(), error.value());
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file.is_open()) return file_error("write", path, errno);
  return fill([&](std::span<const std::byte> piece) { return write_all(file.number(), piece, path); });
}

Status StagedFolder::commit(const std::vector<std::string>& previously_written) {
  if (committed_) return failed_precondition(fmt::format("{} is committed already", quote(target_.string())));
  LEAPP_RETURN_IF_ERROR(sync_tree_to_disk(staged_));

  struct stat old {};
  const bool replaces = ::lstat(target_.c_str(), &old) == 0;
  const fs::path parked = StagingNames(target_).fresh_parked();
  const fs::path here = working_folder_in(target_);
  if (replaces) {
    if (!S_ISDIR(old.st_mode)) return file_error("replace", target_, ENOTDIR);
    std::set<std::string> left_behind(previously_written.begin(), previously_written.end());
    left_behind.erase(std::string(Logger::kFileName));
    LEAPP_RETURN_IF_ERROR(carry_over(target_, staged_, left_behind));
    if (::chown(staged_.c_str(), old.st_uid, old.st_gid) != 0) errno = 0;  // only root may, and only root needs to
    LEAPP_RETURN_IF_ERROR(give_mode(staged_, old.st_mode & 07777U));
    LEAPP_RETURN_IF_ERROR(sync_to_disk(staged_));
    LEAPP_RETURN_IF_ERROR(exchange_folders(staged_, target_, parked));
  } else if (::rename(staged_.c_str(), target_.c_str()) != 0) {
    return file_error("make", target_, errno);
  }
  committed_ = true;
  lock_ = FileDescriptor();
  if (!here.empty() && ::chdir(here.c_str()) != 0) errno = 0;
  const std::shared_ptr<FolderLock> until_cleaned_up = std::exchange(right_, nullptr);

  // From here on the new folder is in place. What is left of the old one is removed by a later create() if not now.
  (void)sync_to_disk(target_.parent_path());
  remove_tree(staged_);
  remove_tree(parked);
  return {};
}

}  // namespace leapp::bundle
