// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines for a person, and questions about the running code, that Python answers.
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// False while Python shuts down: a thread that asks for its lock then may never come back.
bool python_runs();

/// See capture::FrontEnd::is_only_checked.
bool is_only_checked();

/// install_console(show): lines of the log go to show(level, text, coloured, shown, bare, file, line); None: to stderr.
/// install_check_finder(find): answers is_only_checked().
void bind_console(nanobind::module_& m);

}  // namespace leapp::python
