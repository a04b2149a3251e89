// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console/timeout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace leapp::cli {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::seconds kGrace{1};
constexpr std::chrono::milliseconds kPause{50};

std::atomic<std::int64_t> g_last{0};
std::atomic<ExitCode> g_code{ExitCode::kUnusable};
std::atomic<bool> g_watched{false};

std::int64_t steady_now() {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void end(nanoseconds limit) {
  const ExitCode code = g_code;
  const std::string line =
      fmt::format("leapp: {} takes longer than --timeout {} s, and cannot be asked to stop\n",
                  code == ExitCode::kFindings ? "a step" : "loading", std::chrono::duration<double>(limit).count());
  // What was printed so far would be half of something: it is not written.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) ::_exit(static_cast<int>(code));
  ::_exit(static_cast<int>(code));
}

}  // namespace

void end_after_silence_of(nanoseconds limit) {
  heartbeat(ExitCode::kUnusable);
  if (g_watched.exchange(true)) return;
  g_last = steady_now();
  std::thread([limit] {
    while (steady_now() - g_last < (limit + kGrace).count()) std::this_thread::sleep_for(kPause);
    end(limit);
  }).detach();
}

void heartbeat(ExitCode code) {
  if (!g_watched) return;
  g_code = code;
  g_last = steady_now();
}

}  // namespace leapp::cli
