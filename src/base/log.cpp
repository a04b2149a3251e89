// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <sys/stat.h>

#include <atomic>
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

struct LogFile {
  spdlog::sink_ptr sink;
  std::optional<Inode> inode;
};

Result<LogFile> open_file(const fs::path& path, bool truncate) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error))) fs::remove(path, error);
  // spdlog would create missing folders; a log in a folder that nobody made hides a mistake.
  if (!fs::is_directory(path.parent_path(), error)) {
    return io_error(fmt::format("cannot write {}: its folder does not exist", quote(path.string())));
  }
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string(), truncate);
    sink->set_level(spdlog::level::debug);
    sink->set_pattern("[%l] %v");
    return LogFile{std::move(sink), inode_of(path)};
  } catch (const std::exception& exception) {
    return io_error(fmt::format("cannot write {}: {}", quote(path.string()), exception.what()));
  }
}

spdlog::level::level_enum file_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

void append(spdlog::sinks::sink& file, LogLevel level, std::string_view text) {
  file.log({"leapp", file_level(level), spdlog::string_view_t(text.data(), text.size())});
  file.flush();
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
  spdlog::sink_ptr file;
  std::set<std::string, std::less<>> warnings;
  std::size_t known_warnings = 0;
  std::atomic<bool> verbose{false};

  void write(ConsoleLine line) {
    {
      const std::lock_guard lock(mutex);
      if (line.level == LogLevel::kWarning && !keep(line)) return;
      append(*file, line.level, line.text);
    }
    to_console(std::move(line));
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
  impl->inode = file.inode;
  impl->file = file.sink;
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
    impl_->inode = file.inode;
    impl_->file = file.sink;
  }
  impl_->path = path;
  return {};
}

}  // namespace leapp
