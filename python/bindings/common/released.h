// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

namespace leapp::python {

/// Never comes back.
[[noreturn]] void stay() noexcept;

/// Python's lock is free for as long as this object lives: what nanobind's does, and one thing more. When Python ends
/// while a thread is in here, the thread stays here for good: to ask for the lock then would end the thread in the
/// middle of our functions, and with it the process by std::terminate.
class Released {
 public:
  Released() noexcept : state_(PyEval_SaveThread()) {}
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// Holds Python's lock, on a thread of Python's that is inside Released.
/// REQUIRES: Python code that runs meanwhile is called through stay_at_the_end: a thread that Python ends must not
/// reach the destructor, which would release a lock that it has lost.
class Acquired {
 public:
  Acquired();
  ~Acquired();
  Acquired(const Acquired&) = delete;
  Acquired& operator=(const Acquired&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Calls `call`, which runs Python code. Where Python ends while it runs on another thread than the main one, Python
/// ends that thread in the middle of it; what is between here and there needs Python's lock to be cleaned up, which
/// nobody has then. The thread stays here for good.
template <typename Call>
auto stay_at_the_end(Call call) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    stay();
  }
}

/// The thread that Python's signal handlers run in.
bool is_main_thread();

/// Whether Python has begun to end: a thread in Released does not come back from there.
bool is_ending();

/// To be called once by each module, when it is imported: lets threads of Released in, and keeps nanobind from listing
/// what is still alive at the end.
void watch_for_the_end();

}  // namespace leapp::python
