// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// `notice` is called before each call of a module that is none of torch.nn's; null: nobody is. REQUIRES: Python's
/// lock.
void watch_module_calls(void (*notice)(nanobind::handle module));

/// The outermost module that is being called on this thread, as far as module_call() has seen; null: none.
/// REQUIRES: Python's lock.
nanobind::object outermost_called();

/// Lets go of everything. REQUIRES: Python's lock.
void forget_module_calls();

/// Adds module_call(original), which stands in the place of torch.nn.Module.__call__ and calls `original`. In C, as a
/// function in Python costs every call of every module more than what it would tell.
void bind_module_calls(nanobind::module_& m);

}  // namespace leapp::python
