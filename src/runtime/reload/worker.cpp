// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/reload/worker.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <utility>

namespace leapp::runtime {
namespace {

std::atomic<std::uint64_t> g_forks{0};

/// No signals for as long as it lives; a thread that is made meanwhile has none for good.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);  // SIGXFSZ too: a file that may not grow is an error like others
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&all, own);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::uint64_t fork_number() noexcept {
  [[maybe_unused]] static const int told =
      pthread_atfork(nullptr, nullptr, [] { g_forks.fetch_add(1, std::memory_order_relaxed); });
  return g_forks.load(std::memory_order_relaxed);
}

Status Worker::start(const char* name, const char* what, std::function<void()> work) {
  forks_ = fork_number();
  const WithoutSignals from_the_start;
  try {
    thread_ = std::thread([name, work = std::move(work)] {
      pthread_setname_np(pthread_self(), name);
      work();
    });
  } catch (const std::system_error& problem) {
    return internal_error(fmt::format("no thread for {}: {}", what, problem.what()));
  }
  return {};
}

void Worker::leave_or_join() noexcept {
  if (!thread_.joinable()) return;
  if (is_here()) return thread_.join();
  // To detach would free the stack of a thread that nobody knows the end of: the object is forgotten as it is.
  new (&thread_) std::thread;
}

void leave_the_loop_alone(Priority priority) noexcept {
  sched_param parameters{};
  const int policy = ::sched_getscheduler(0);
  const bool real_time = policy == SCHED_FIFO || policy == SCHED_RR;
  cpu_set_t cores;
  cpu_set_t others;
  CPU_ZERO(&others);
  const bool known = ::sched_getaffinity(0, sizeof cores, &cores) == 0;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (!real_time || !known || CPU_ISSET(i, &cores) == 0) CPU_SET(i, &others);
  }
  bool elsewhere = ::sched_setaffinity(0, sizeof others, &others) == 0 && real_time;
  if (!elsewhere && real_time) {  // it may run on all that there are
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &others);
    (void)::sched_setaffinity(0, sizeof others, &others);
    elsewhere = known && CPU_COUNT(&cores) > 1;
  }
  if (real_time && !elsewhere && priority == Priority::kAboveWhereItMust) {
    if (::sched_getparam(0, &parameters) != 0) return;
    parameters.sched_priority = std::min(parameters.sched_priority + 1, ::sched_get_priority_max(policy));
    (void)::sched_setscheduler(0, policy, &parameters);
    return;
  }
  (void)::sched_setscheduler(0, SCHED_OTHER, &parameters);
}

}  // namespace leapp::runtime
