// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/pacer.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace leapp::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t monotonic_now() {
  ::timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

void sleep_until(std::int64_t due) {
  const ::timespec time{due / kSecond, due % kSecond};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

}  // namespace

Pacer::Pacer(double rate, std::size_t steps)
    : period_(std::max(static_cast<std::int64_t>(static_cast<double>(kSecond) / rate), std::int64_t{1})),
      due_(monotonic_now()),
      lateness_(steps) {}

void Pacer::wait() {
  due_ += period_;
  const std::int64_t behind = monotonic_now() - due_;
  if (behind > 0) due_ += behind / period_ * period_;
  sleep_until(due_);
  lateness_.add(static_cast<std::uint64_t>(std::max(monotonic_now() - due_, std::int64_t{0})));
}

void Pacer::done(std::size_t step) {
  if (monotonic_now() <= due_ + period_) return;
  ++overruns_;
  if (!first_overrun_) first_overrun_ = step;
}

Status apply(const ThreadOptions& options) {
  if (options.cpu) {
    ::cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(*options.cpu), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) {
      return io_error(fmt::format("--cpu {}: {}", *options.cpu, std::strerror(errno)));
    }
  }
  if (options.priority) {
    const ::sched_param parameter{*options.priority};
    if (::sched_setscheduler(0, SCHED_FIFO, &parameter) != 0) {
      return io_error(
          fmt::format("--priority {}: {}: it takes root, or CAP_SYS_NICE", *options.priority, std::strerror(errno)));
    }
  }
  return {};
}

}  // namespace leapp::cli
