// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Questions that capture asks functions of leapp in Python.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <new>
#include <utility>

namespace leapp::python {

/// What `ask` gives, or `otherwise` when it raises, which is told as something that nobody can catch. What it gives
/// decides what is recorded: so memory that runs out is std::bad_alloc, and after Ctrl-C, which belongs to the program
/// and is given to it, `ask` is called once more. REQUIRES: Python's lock is held.
template <typename Answer, typename Ask>
Answer asked(const char* what, Answer otherwise, const Ask& ask) {
  for (bool interrupted = false;;) {
    try {
      Answer answer = ask();
      if (interrupted) PyErr_SetInterrupt();
      return answer;
    } catch (nanobind::python_error& failure) {
      if (failure.matches(PyExc_MemoryError)) throw std::bad_alloc();
      if (!std::exchange(interrupted, failure.matches(PyExc_KeyboardInterrupt)) && interrupted) continue;
      if (interrupted) PyErr_SetInterrupt();
      failure.discard_as_unraisable(what);
      return otherwise;
    }
  }
}

}  // namespace leapp::python
