// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace leapp::runtime {

/// Calls `child` in a process that fork() has made, and gives its exit code: what `child` returns, or -14 when that
/// took longer than ten seconds.
template <typename Call>
int forked(Call child) {
  const pid_t process = ::fork();
  if (process == 0) {
    ::alarm(10);
    ::_exit(child());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(process, &status, 0), process);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Tests that fork while other threads run skip themselves with this reason where that does not work; nullptr elsewhere.
#if defined(__SANITIZE_THREAD__)
inline constexpr const char* kCannotFork = "ThreadSanitizer does not follow a forked child that starts threads";
#elif defined(LEAPP_TEST_EMULATED)
inline constexpr const char* kCannotFork = "QEMU's user emulation aborts when a process with threads forks";
#else
inline constexpr const char* kCannotFork = nullptr;
#endif

}  // namespace leapp::runtime
