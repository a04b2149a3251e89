// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace leapp::python {

// What the only call of a node may have changed besides tensors: attributes of the object whose method opened it, and
// of the modules that ran in it (changed_attributes.py). All is guarded by Python's lock, and does nothing until
// watch_first_calls() is called. Python's exceptions are thrown.

/// Before a node opens with these inputs.
void begin_first_call(const std::string& node, nanobind::handle inputs);
/// After it has closed.
void end_first_call(const std::string& node);

/// Adds install_first_calls, watch_first_calls, begin_first_call, abandon_first_call, changed_attributes and
/// forget_first_calls.
void bind_first_calls(nanobind::module_& m);

}  // namespace leapp::python
