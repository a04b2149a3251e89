// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "manager.h"

namespace leapp::python {

/// What stands between a bundle and a robot's motors: ports, order by name, guards, loop, action chunks.
void bind_robot(nanobind::module_& module, nanobind::class_<Manager>& manager);

}  // namespace leapp::python
