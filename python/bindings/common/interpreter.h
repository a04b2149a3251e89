// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What C++ sees of the differences between CPython 3.10 and newer; the rest is in python/leapp/capture/interpreter.py.
// Frames are asked through functions, and nothing is read at an offset.
#pragma once

#include <Python.h>

namespace leapp::python {

/// Whether Python objects may be used: there is an interpreter, and it is not on its way out.
inline bool interpreter_lives() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() != 0 && Py_IsFinalizing() == 0;
#else
  return Py_IsInitialized() != 0 && _Py_IsFinalizing() == 0;
#endif
}

}  // namespace leapp::python
