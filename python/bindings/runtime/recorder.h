// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// What leapp.Recorder stands on. REQUIRES: Manager and Tick are bound.
void bind_recorder(nanobind::module_& module);

}  // namespace leapp::python
