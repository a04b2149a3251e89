// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/folder/staging_names.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/folder_names.h"
#include "base/hash.h"

namespace leapp::bundle {
namespace {

namespace fs = std::filesystem;

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text[0] == '-' || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Of the process that gave the name, which ends in "4711.0"; nothing: it is no name that we give, so not ours.
std::optional<pid_t> process_of(std::string_view tail) {
  const std::size_t point = tail.find('.');
  if (point == std::string_view::npos || !number_of(tail.substr(point + 1))) return std::nullopt;
  const std::optional<int> process = number_of(tail.substr(0, point));
  return process && *process > 0 ? process : std::nullopt;
}

bool is_alive(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

// The process id alone would mislead where containers share a disk: there it means another process, or none.
bool is_locked(const fs::path& folder) {
  const FileDescriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  return file.is_open() && ::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

StagingNames::StagingNames(fs::path target) : target_(std::move(target)) {
  const std::string name = target_.filename().string();
  const std::uint64_t hash = content_hash(std::as_bytes(std::span(name)));
  staged_prefix_ = fmt::format(".leapp-staged.{:016x}.", hash);
  parked_prefix_ = fmt::format(".leapp-parked.{:016x}.", hash);
}

fs::path StagingNames::lock_file() const {
  const std::string_view hash = std::string_view(staged_prefix_).substr(std::string_view(".leapp-staged.").size());
  return target_.parent_path() / fmt::format(".leapp-lock.{}", hash.substr(0, hash.size() - 1));
}

fs::path StagingNames::fresh(const std::string& prefix) const {
  std::error_code error;
  for (int i = 0;; ++i) {
    fs::path path = target_.parent_path() / fmt::format("{}{}.{}", prefix, ::getpid(), i);
    if (fs::symlink_status(path, error).type() == fs::file_type::not_found || i == 9999) return path;
  }
}

void StagingNames::clean_up(bool alone) const {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (const std::string& name : folder_names(target_.parent_path(), error)) {
    const bool parked = name.starts_with(parked_prefix_);
    if (!parked && !name.starts_with(staged_prefix_)) continue;
    const fs::path path = target_.parent_path() / name;
    std::error_code ignored;
    if (!fs::is_directory(fs::symlink_status(path, ignored))) continue;
    const std::string_view tail = std::string_view(name).substr(staged_prefix_.size());
    const std::optional<pid_t> process = process_of(tail);
    if (!process || (!alone && is_alive(*process)) || is_locked(path)) continue;
    if (parked && fs::symlink_status(target_, ignored).type() == fs::file_type::not_found) {
      fs::rename(path, target_, ignored);
      if (!ignored) continue;
    }
    leftovers.push_back(path);
  }
  for (const fs::path& path : leftovers) remove_tree(path);
}

FileDescriptor lock_folder(const fs::path& folder) {
  FileDescriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (file.is_open() && ::flock(file.number(), LOCK_EX | LOCK_NB) != 0) return {};
  return file;
}

}  // namespace leapp::bundle
