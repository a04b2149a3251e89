// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/carry_over.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "base/folder_names.h"
#include "base/text.h"
#include "bundle/folder/file_system.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

class Carrier {
 public:
  Carrier(const fs::path& from, const fs::path& to, const std::set<std::string>& left_behind)
      : from_(from), to_(to), left_behind_(left_behind) {}

  Status run() {
    struct stat status {};
    if (::lstat(from_.c_str(), &status) != 0) return file_error("look at", from_, errno);
    device_ = status.st_dev;
    return entries_of("").status();
  }

 private:
  /// The number of entries left behind, at any depth.
  Result<std::size_t> entries_of(const fs::path& relative) {
    std::error_code error;
    const std::vector<std::string> names = folder_names(from_ / relative, error);
    if (error) return file_error("list", from_ / relative, error.value());
    std::size_t left = 0;
    for (const std::string& name : names) {
      LEAPP_ASSIGN_OR_RETURN(const std::size_t more, entry(relative / name));
      left += more;
    }
    return left;
  }

  Result<std::size_t> entry(const fs::path& relative) {
    const fs::path source = from_ / relative;
    struct stat status {};
    if (::lstat(source.c_str(), &status) != 0) {
      if (errno == ENOENT) return std::size_t{0};  // deleted by someone while we look: nothing to keep
      return file_error("look at", source, errno);
    }
    if (status.st_dev != device_) return mount_point(source);
    if (S_ISDIR(status.st_mode)) return folder(relative, status);
    if (S_ISREG(status.st_mode) && left_behind_.contains(relative.string())) return std::size_t{1};
    LEAPP_RETURN_IF_ERROR(S_ISLNK(status.st_mode) ? symlink(relative) : file(relative, status));
    return std::size_t{0};
  }

  Result<std::size_t> folder(const fs::path& relative, const struct stat& status) {
    const fs::path target = to_ / relative;
    struct stat there {};
    const bool exists = ::lstat(target.c_str(), &there) == 0;
    if (exists && !S_ISDIR(there.st_mode)) {
      return failed_precondition(fmt::format("{} is a folder, and what is written now has a file of that name",
                                             quote((from_ / relative).string())));
    }
    if (!exists && ::mkdir(target.c_str(), 0700) != 0) return file_error("make", target, errno);
    LEAPP_ASSIGN_OR_RETURN(const std::size_t left, entries_of(relative));
    if (!exists && left > 0 && ::rmdir(target.c_str()) == 0) return left;  // only an empty one goes
    LEAPP_RETURN_IF_ERROR(sync_to_disk(target));
    if (!exists) copy_ownership(target, status);
    return left;
  }

  Status file(const fs::path& relative, const struct stat& status) {
    const fs::path source = from_ / relative;
    const fs::path target = to_ / relative;
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), 0) == 0) return {};
    const int reason = errno;
    if (reason == EEXIST || reason == ENOENT) return {};
    if (reason == EXDEV) return mount_point(source);  // a bind mount: the same device, yet no link leads out of it
    if (!S_ISREG(status.st_mode)) return file_error("link", source, reason);

    std::error_code error;
    fs::copy_file(source, target, error);
    if (error) return file_error("copy", source, error.value());
    fs::last_write_time(target, fs::last_write_time(source, error), error);
    copy_ownership(target, status);
    return sync_to_disk(target);
  }

  Status symlink(const fs::path& relative) {
    std::error_code error;
    const fs::path leads_to = fs::read_symlink(from_ / relative, error);
    if (error) return file_error("copy", from_ / relative, error.value());
    const bool made = ::symlink(leads_to.c_str(), (to_ / relative).c_str()) == 0;
    return made || errno == EEXIST ? Status() : file_error("copy", from_ / relative, errno);
  }

  static Status mount_point(const fs::path& path) {
    return failed_precondition(
        fmt::format("{} lies on another file system than its folder, which therefore cannot be replaced as a whole",
                    quote(path.string())));
  }

  static void copy_ownership(const fs::path& target, const struct stat& status) {
    // Only root may give files away; for everyone else they have the right owner already.
    if (::chown(target.c_str(), status.st_uid, status.st_gid) != 0) errno = 0;
    if (::chmod(target.c_str(), status.st_mode & 07777U) != 0) errno = 0;
  }

  const fs::path& from_;
  const fs::path& to_;
  const std::set<std::string>& left_behind_;
  dev_t device_ = 0;
};

}  // namespace

Status carry_over(const fs::path& from, const fs::path& to, const std::set<std::string>& left_behind) {
  return Carrier(from, to, left_behind).run();
}

}  // namespace leapp::bundle
