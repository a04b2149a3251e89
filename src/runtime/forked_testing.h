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

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kMayFork = false;  // with threads, and then make more: thread sanitizer does not follow
#else
inline constexpr bool kMayFork = true;
#endif

}  // namespace leapp::runtime
