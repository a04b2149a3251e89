// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// Adds module_call(original), which stands in the place of torch.nn.Module.__call__ and calls `original`, and
/// watch_module_calls(notice): notice(module) before each call of a module that is none of torch.nn's; None: nobody.
/// forget_module_calls() lets go of everything. In C, as a function in Python costs every call of every module more
/// than what it would tell.
void bind_module_calls(nanobind::module_& m);

}  // namespace leapp::python
