// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <nanobind/nanobind.h>

#include <atomic>
#include <csignal>

#include "common/released.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

std::atomic<engine::Stop*> g_stop{nullptr};
std::atomic<bool> g_interrupted{false};
struct sigaction g_before {};

void on_interrupt(int signal, siginfo_t* info, void* context) {
  g_interrupted = true;
  if (engine::Stop* stop = g_stop.load()) stop->request();
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else {
    g_before.sa_handler(signal);
  }
}

}  // namespace

Interruptible::Interruptible(engine::Stop& stop) : stop_(stop) {
  // A step inside another's Python code (a model that is a Python program) leaves the handler as it is.
  if (!is_main_thread() || g_stop.load() != nullptr) return;
  struct sigaction now {};
  if (::sigaction(SIGINT, nullptr, &g_before) != 0) return;
  if ((g_before.sa_flags & SA_SIGINFO) == 0 && (g_before.sa_handler == SIG_IGN || g_before.sa_handler == SIG_DFL))
    return;
  now.sa_sigaction = &on_interrupt;
  now.sa_flags = g_before.sa_flags | SA_SIGINFO;
  now.sa_mask = g_before.sa_mask;
  g_interrupted = false;
  g_stop = &stop;
  if (::sigaction(SIGINT, &now, nullptr) != 0) {
    g_stop = nullptr;
    return;
  }
  installed_ = true;
  if (PyErr_CheckSignals() != 0) {
    ::sigaction(SIGINT, &g_before, nullptr);
    g_stop = nullptr;
    stop_.clear();
    throw nb::python_error();
  }
}

Interruptible::~Interruptible() {
  if (!installed_) return;
  ::sigaction(SIGINT, &g_before, nullptr);
  g_stop = nullptr;
  if (g_interrupted) stop_.clear();
}

bool Interruptible::was_interrupted() {
  if (!installed_ || !g_interrupted.exchange(false)) return false;
  stop_.clear();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return true;
}

}  // namespace leapp::python
