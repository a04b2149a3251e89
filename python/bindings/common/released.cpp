// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "common/released.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace nb = nanobind;

namespace leapp::python {
namespace {

std::atomic<bool> g_ending{false};
std::atomic<int> g_coming_back{0};

/// While a thread asks for Python's lock. One that comes too late stays.
class ComingBack {
 public:
  ComingBack() : counts_(!is_main_thread()) {
    if (!counts_) return;
    ++g_coming_back;
    if (!g_ending) return;
    --g_coming_back;
    stay();
  }
  ~ComingBack() {
    if (counts_) --g_coming_back;
  }
  ComingBack(const ComingBack&) = delete;
  ComingBack& operator=(const ComingBack&) = delete;

 private:
  bool counts_;
};

// Python runs this before it begins to end. Threads that ask for the lock already get it; later ones see that it ends.
void let_threads_in() {
  constexpr auto kLongest = std::chrono::seconds(1);
  g_ending = true;
  const Released others_may_run;
  const auto until = std::chrono::steady_clock::now() + kLongest;
  while (g_coming_back > 0 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

}  // namespace

bool is_main_thread() {
  thread_local const bool main = ::syscall(SYS_gettid) == ::getpid();
  return main;
}

void stay() noexcept {
  while (true) ::pause();
}

bool is_ending() { return g_ending; }

Released::~Released() {
  const ComingBack unless_it_ends;
  PyEval_RestoreThread(state_);
}

Acquired::Acquired() {
  const ComingBack unless_it_ends;
  state_ = PyGILState_Ensure();
}

Acquired::~Acquired() { PyGILState_Release(state_); }

void watch_for_the_end() {
  // What is alive when Python ends is nothing to tell a user about. Modules have the setting in common, or each its
  // own.
  nb::set_leak_warnings(false);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&let_threads_in));
}

}  // namespace leapp::python
