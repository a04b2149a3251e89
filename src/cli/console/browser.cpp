// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console/browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace leapp::cli {
namespace {

constexpr const char* kOpener = "xdg-open";

/// What a browser says must not end up in our output.
class SilentActions {
 public:
  SilentActions() {
    posix_spawn_file_actions_init(&actions_);
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, descriptor, "/dev/null", O_RDWR, 0);
    }
  }
  ~SilentActions() { posix_spawn_file_actions_destroy(&actions_); }
  SilentActions(const SilentActions&) = delete;
  SilentActions& operator=(const SilentActions&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Status open_in_browser(const std::filesystem::path& file) {
  const SilentActions actions;
  std::string program = kOpener;
  std::string path = std::filesystem::absolute(file).string();
  char* const arguments[] = {program.data(), path.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, kOpener, actions.get(), nullptr, arguments, environ);
  if (failed != 0) {
    return not_found(fmt::format("{} cannot be started ({}): open {} yourself", kOpener, std::strerror(failed), path));
  }
  return {};
}

}  // namespace leapp::cli
