// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/details/os.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace leapp {
namespace {

namespace fs = std::filesystem;

constexpr auto kTerse = spdlog::level::warn;

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

void write(spdlog::logger& logger, spdlog::level::level_enum level, std::string_view message) {
  logger.log(level, spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace

struct Logger::Impl {
  mutable std::mutex mutex;  // guards path, inode and file; the sinks lock themselves
  fs::path path;
  std::optional<Inode> inode;
  spdlog::sink_ptr file;
  spdlog::sink_ptr console;
  // A dist_sink, because unlike a logger's own list its sinks can be exchanged while other threads log.
  std::shared_ptr<spdlog::sinks::dist_sink_mt> both;
  std::unique_ptr<spdlog::logger> logger;
};

Logger::Logger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Logger::~Logger() = default;

Result<std::unique_ptr<Logger>> Logger::open(const fs::path& folder, bool verbose) {
  auto impl = std::make_unique<Impl>();
  impl->path = folder / kFileName;
  LEAPP_ASSIGN_OR_RETURN(LogFile file, open_file(impl->path, /*truncate=*/true));
  impl->inode = file.inode;
  impl->file = file.sink;
  impl->console = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(spdlog::color_mode::automatic);
  impl->console->set_pattern("leapp: %^%l%$: %v");
  impl->both = std::make_shared<spdlog::sinks::dist_sink_mt>(std::vector<spdlog::sink_ptr>{file.sink, impl->console});
  impl->logger = std::make_unique<spdlog::logger>("leapp", impl->both);
  impl->logger->set_level(spdlog::level::debug);
  impl->logger->flush_on(spdlog::level::debug);
  auto logger = std::unique_ptr<Logger>(new Logger(std::move(impl)));
  logger->set_verbose(verbose);
  return logger;
}

void Logger::debug(std::string_view message) { write(*impl_->logger, spdlog::level::debug, message); }
void Logger::info(std::string_view message) { write(*impl_->logger, spdlog::level::info, message); }
void Logger::warning(std::string_view message) { write(*impl_->logger, spdlog::level::warn, message); }
void Logger::error(std::string_view message) { write(*impl_->logger, spdlog::level::err, message); }

void Logger::block(std::string_view plain, std::string_view coloured, bool wrong) {
  const auto level = wrong ? spdlog::level::err : spdlog::level::info;
  const bool paints = spdlog::details::os::in_terminal(stderr) && spdlog::details::os::is_color_terminal() &&
                      std::getenv("NO_COLOR") == nullptr;
  const std::lock_guard lock(impl_->mutex);
  for (const auto& [sink, text] : {std::pair{impl_->file, plain}, {impl_->console, paints ? coloured : plain}}) {
    if (!sink->should_log(level)) continue;
    sink->log({"leapp", level, spdlog::string_view_t(text.data(), text.size())});
    sink->flush();
  }
}

bool Logger::verbose() const { return impl_->console->level() < kTerse; }

void Logger::set_verbose(bool verbose) { impl_->console->set_level(verbose ? spdlog::level::debug : kTerse); }

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
    impl_->both->set_sinks({file.sink, impl_->console});
  }
  impl_->path = path;
  return {};
}

}  // namespace leapp
