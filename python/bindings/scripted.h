// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// `call_scripted(function, args, kwargs)`: what a scripted function or method gives, recorded with its branches and
/// loops (capture/scripted/scripted_run.h). None: it has none that data may decide, or is not for us; call it as usual.
/// Else a tuple of one.
void bind_scripted(nanobind::module_& m);

}  // namespace leapp::python
