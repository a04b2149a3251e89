// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/console.h"
#include "leapp/base/status.h"

namespace leapp {

/// The log of one session: everything goes to `log.txt` in a folder, warnings and errors also to the console
/// (console.h; everything when verbose). Lines carry no time, so that two equal runs leave equal logs. Each line is
/// written to the file at once; when that fails (a full disk), the console says so once and the log ends there. All
/// methods may be called from any thread, whatever locks it holds.
///
/// A message about a line of the user's program begins with "file:line: ". Of equal warnings a session keeps the first;
/// one about a line that an earlier session of the process has shown is in the file, and on the console when verbose.
class Logger {
 public:
  static constexpr std::string_view kFileName = "log.txt";

  /// Overrides the console's verbosity for as long as it lives. The Logger must outlive it.
  class ConsoleScope {
   public:
    ConsoleScope(Logger& logger, bool verbose) : logger_(logger), before_(logger.verbose()) {
      logger_.set_verbose(verbose);
    }
    ~ConsoleScope() { logger_.set_verbose(before_); }
    ConsoleScope(const ConsoleScope&) = delete;
    ConsoleScope& operator=(const ConsoleScope&) = delete;

   private:
    Logger& logger_;
    bool before_;
  };

  /// Truncates or makes `folder`/log.txt. The folder must exist. A symlink in the file's place is replaced, not
  /// followed.
  static Result<std::unique_ptr<Logger>> open(const std::filesystem::path& folder, bool verbose = false);

  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  void debug(std::string_view message);
  void info(std::string_view message);
  void warning(std::string_view message);
  void error(std::string_view message);
  /// Information for everybody: on the console whether verbose or not.
  void say(std::string_view message);

  /// A block of text. The console gets `coloured` when it is a terminal that shows colours (and NO_COLOR is not set),
  /// the file always `plain`. It appears where an error would when `wrong`, else where info would.
  void block(std::string_view plain, std::string_view coloured, bool wrong);

  /// Warnings of this session that the console was spared because an earlier session had shown them.
  [[nodiscard]] std::size_t known_warnings() const;

  [[nodiscard]] bool verbose() const;
  void set_verbose(bool verbose);

  /// Where the file is now.
  [[nodiscard]] std::filesystem::path path() const;

  /// Goes on in `folder`/log.txt without truncating it. Costs nothing when that is the file already open, which is what
  /// a swapped bundle folder normally holds (a hard link); called after a swap for the file systems that have no hard
  /// links, and for folders that were removed meanwhile. On failure the old file stays in use.
  Status reopen(const std::filesystem::path& folder);

 private:
  struct Impl;
  explicit Logger(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace leapp
