// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace leapp::faults {

Ended in_child(const std::function<int(long& number)>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    long number = 0;
    const int code = work(number);
    if (::write(ends[1], &number, sizeof number) != sizeof number) ::abort();
    std::fflush(nullptr);
    ::_exit(code);
  }
  ::close(ends[1]);
  Ended ended;
  const bool told = ::read(ends[0], &ended.number, sizeof ended.number) == sizeof ended.number;
  ::close(ends[0]);
  int status = 0;
  const bool exited = child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  // What ends by explain_deaths tells nothing, but its code.
  if (exited) ended.code = WEXITSTATUS(status);
  if (!told) ended.number = 0;
  return ended;
}

}  // namespace leapp::faults
