// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// What leapp.fleet stands on: episodes at once, series compared, files of episodes. REQUIRES: Manager is bound.
void bind_fleet(nanobind::module_& module);

}  // namespace leapp::python
