// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// Another bundle for a manager that is running.
void bind_reloader(nanobind::module_& module);

}  // namespace leapp::python
