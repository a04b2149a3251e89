// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "console.h"

#include <Python.h>

#include <string>
#include <utility>
#include <vector>

#include "asked.h"
#include "base/console.h"
#include "common/interpreter.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

// Guarded by Python's lock. Never destroyed: it holds Python objects, which may not outlive Python.
struct Functions {
  nb::object show;
  nb::object is_only_checked;
};

Functions& functions() {
  static auto* held = new Functions();
  return *held;
}

/// The exception that is being raised on this thread, put aside: the thread may be inside an operator that failed.
class Aside {
 public:
  Aside() { PyErr_Fetch(&type_, &value_, &trace_); }
  ~Aside() { PyErr_Restore(type_, value_, trace_); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* trace_ = nullptr;
};

nb::object text(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
}

void show(const ConsoleLine& line) {
  try {
    const int level = 10 * (1 + static_cast<int>(line.level));  // logging.DEBUG and so on
    functions().show(level, text(line.text), text(line.coloured), line.shown, line.bare, text(line.file), line.line);
  } catch (nb::python_error& failure) {
    // Ctrl-C belongs to the program, which gets it as soon as it runs again.
    if (failure.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    print_to_stderr(line);
  }
}

void show_lines(const std::vector<ConsoleLine>& lines) {
  if (!python_runs()) {
    for (const ConsoleLine& line : lines) print_to_stderr(line);
    return;
  }
  const nb::gil_scoped_acquire python;
  const Aside other_failure;
  for (const ConsoleLine& line : lines) show(line);
}

void install_console(nb::object show) {
  if (show.is_none()) {
    flush_console();
    return set_console_host(nullptr);
  }
  functions().show = std::move(show);
  set_console_host(show_lines);
}

void install_check_finder(nb::object find) { functions().is_only_checked = std::move(find); }

}  // namespace

bool is_only_checked() {
  if (!python_runs()) return false;
  const nb::gil_scoped_acquire python;
  if (!functions().is_only_checked.is_valid()) return false;
  const Aside other_failure;
  return asked("looking for what becomes of a number", false,
               [] { return nb::cast<bool>(functions().is_only_checked()); });
}

bool python_runs() { return interpreter_lives(); }

void bind_console(nb::module_& m) {
  m.def("install_console", &install_console, nb::arg("show").none());
  m.def("install_check_finder", &install_check_finder);
}

}  // namespace leapp::python
