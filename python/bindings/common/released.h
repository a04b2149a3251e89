// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

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

/// The thread that Python's signal handlers run in.
bool is_main_thread();

/// To be called once by each module, when it is imported: lets threads of Released in, and keeps nanobind from listing
/// what is still alive at the end.
void watch_for_the_end();

}  // namespace leapp::python
