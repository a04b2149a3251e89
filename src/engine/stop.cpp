// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/engine/stop.h"

#include <chrono>
#include <thread>

namespace leapp::engine {

void Stop::request() noexcept {
  requested_.store(true);
  ++ending_;
  if (const Run::End end = end_.load()) end(what_.load());
  --ending_;
}

Stop::Run::Run(Stop* stop, End end, void* what) noexcept : stop_(stop) {
  if (stop_ == nullptr) return;
  stop_->what_.store(what);
  stop_->end_.store(end);
  if (stop_->requested()) end(what);  // somebody asked before there was anything to end
}

Stop::Run::~Run() {
  if (stop_ == nullptr) return;
  stop_->end_.store(nullptr);
  // Somebody may be calling it. A signal handler of this thread is not: it would have returned.
  // Whoever it is may have lost its core to this very thread, which lets go of it then.
  for (int looks = 0; stop_->ending_.load() != 0; ++looks) {
    constexpr int kSoon = 1000;
    if (looks > kSoon) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace leapp::engine
