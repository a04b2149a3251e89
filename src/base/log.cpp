// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRemembered = 4096;  // texts; a program that warns more often than that may repeat itself

struct Inode {
  dev_t device;
  ino_t number;

  bool operator==(const Inode&) const = default;
};

std::optional<Inode> inode_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return Inode{status.st_dev, status.st_ino};
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      break;
  }
  return "error";
}

/// The open file. Each line goes to the system at once, in one call.
class LogFile {
 public:
  LogFile() = default;
  explicit LogFile(int number) : number_(number) {}
  LogFile(LogFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  LogFile& operator=(LogFile&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~LogFile() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] bool is_open() const { return number_ >= 0; }

  [[nodiscard]] std::optional<Inode> inode() const {
    struct stat status {};
    if (::fstat(number_, &status) != 0) return std::nullopt;
    return Inode{status.st_dev, status.st_ino};
  }

  /// 0, or the errno with which it ended.
  [[nodiscard]] int append(LogLevel level, std::string_view text) const {
    const std::string line = fmt::format("[{}] {}\n", level_name(level), text);
    for (std::string_view rest = line; !rest.empty();) {
      const ::ssize_t count = ::write(number_, rest.data(), rest.size());
      if (count < 0 && errno != EINTR) return errno;
      if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
  }

 private:
  int number_ = -1;
};

std::string reason(int error) { return std::generic_category().message(error); }

/// A link, or one of several names of a file: what is written there would be written to somebody's file.
bool is_elsewhere_too(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  return S_ISLNK(status.st_mode) || (S_ISREG(status.st_mode) && status.st_nlink > 1);
}

Result<LogFile> open_file(const fs::path& path, bool truncate) {
  std::error_code error;
  if (is_elsewhere_too(path)) fs::remove(path, error);
  // A log in a folder that nobody made hides a mistake.
  if (!fs::is_directory(path.parent_path(), error)) {
    return io_error(fmt::format("cannot write {}: its folder does not exist", quote(path.string())));
  }
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (truncate ? O_TRUNC : 0);
  LogFile file(::open(path.c_str(), flags, 0666));
  if (!file.is_open()) return io_error(fmt::format("cannot write {}: {}", quote(path.string()), reason(errno)));
  return file;
}

/// Warnings about lines of the user's that some session of the process has shown.
struct Shown {
  std::mutex mutex;
  std::set<std::string, std::less<>> texts;
};

Shown& shown() {
  static auto* all = new Shown();  // a thread may warn while the process ends
  return *all;
}

/// False: it is one of them already.
bool note_shown(const ConsoleLine& line) {
  const std::lock_guard lock(shown().mutex);
  if (shown().texts.contains(line.text)) return false;
  if (shown().texts.size() < kMaxRemembered) shown().texts.insert(line.text);
  return true;
}

}  // namespace

struct Logger::Impl {
  mutable std::mutex mutex;  // guards all but the atomics
  fs::path path;
  std::optional<Inode> inode;
  LogFile file;  // not open after it could not be written: the log is not worth an error
  std::set<std::string, std::less<>> warnings;
  std::size_t known_warnings = 0;
  std::atomic<bool> verbose{false};

  void write(ConsoleLine line) {
    int error = 0;
    {
      const std::lock_guard lock(mutex);
      if (line.level == LogLevel::kWarning && !keep(line)) return;
      error = append(line);
    }
    to_console(std::move(line));
    if (error == 0) return;
    to_console(ConsoleLine::about(LogLevel::kWarning,
                                  fmt::format("{} cannot be written any more, the rest of the log is lost: {}",
                                              quote(path.string()), reason(error)),
                                  true));
  }

  int append(const ConsoleLine& line) {
    const int error = file.is_open() ? file.append(line.level, line.text) : 0;
    if (error != 0) file = LogFile();
    return error;
  }

  /// Whether the session has not warned of it yet.
  bool keep(ConsoleLine& line) {
    if (warnings.contains(line.text)) return false;
    if (warnings.size() < kMaxRemembered) warnings.insert(line.text);
    if (line.line == 0 || verbose || note_shown(line)) return true;
    line.shown = false;
    ++known_warnings;
    return true;
  }

  [[nodiscard]] ConsoleLine line(LogLevel level, std::string_view text) const {
    return ConsoleLine::about(level, std::string(text), verbose || level >= LogLevel::kWarning);
  }
};

Logger::Logger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Logger::~Logger() = default;

Result<std::unique_ptr<Logger>> Logger::open(const fs::path& folder, bool verbose) {
  auto impl = std::make_unique<Impl>();
  impl->path = folder / kFileName;
  LEAPP_ASSIGN_OR_RETURN(LogFile file, open_file(impl->path, /*truncate=*/true));
  impl->inode = file.inode();
  impl->file = std::move(file);
  impl->verbose = verbose;
  return std::unique_ptr<Logger>(new Logger(std::move(impl)));
}

void Logger::debug(std::string_view message) { impl_->write(impl_->line(LogLevel::kDebug, message)); }
void Logger::info(std::string_view message) { impl_->write(impl_->line(LogLevel::kInfo, message)); }
void Logger::warning(std::string_view message) { impl_->write(impl_->line(LogLevel::kWarning, message)); }
void Logger::error(std::string_view message) { impl_->write(impl_->line(LogLevel::kError, message)); }

void Logger::say(std::string_view message) {
  ConsoleLine line = impl_->line(LogLevel::kInfo, message);
  line.shown = true;
  line.bare = true;
  impl_->write(std::move(line));
}

void Logger::block(std::string_view plain, std::string_view coloured, bool wrong) {
  ConsoleLine line = impl_->line(wrong ? LogLevel::kError : LogLevel::kInfo, plain);
  line.coloured = coloured;
  impl_->write(std::move(line));
}

std::size_t Logger::known_warnings() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->known_warnings;
}

bool Logger::verbose() const { return impl_->verbose; }

void Logger::set_verbose(bool verbose) { impl_->verbose = verbose; }

fs::path Logger::path() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->path;
}

Status Logger::reopen(const fs::path& folder) {
  const std::lock_guard lock(impl_->mutex);
  const fs::path path = folder / kFileName;
  if (const auto inode = inode_of(path); !inode || inode != impl_->inode) {
    LEAPP_ASSIGN_OR_RETURN(LogFile file, open_file(path, /*truncate=*/false));
    impl_->inode = file.inode();
    impl_->file = std::move(file);
  }
  impl_->path = path;
  return {};
}

}  // namespace leapp
