// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "inspect/words.h"

namespace leapp::cli {
namespace {

constexpr std::chrono::milliseconds kFirst{1000};
constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

Progress::Progress(const Context& context, std::string what, std::size_t total)
    : watched_(context.watched()), what_(std::move(what)), total_(total), next_(Clock::now() + kFirst) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void Progress::at(std::size_t done) {
  if (!watched_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  show(done);
}

void Progress::show(std::size_t done) {
  shown_ = true;
  const double share = total_ == 0 ? 0 : 100 * static_cast<double>(done) / static_cast<double>(total_);
  std::fputs(fmt::format("\r\x1b[K{}: {} of {} ({:.0f} %)", what_, count_text(done), count_text(total_), share).c_str(),
             stderr);
}

}  // namespace leapp::cli
