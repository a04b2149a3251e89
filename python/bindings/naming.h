// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// Adds install_namers, forget_modules and watch: how tensors get the names of the attributes that hold them.
void bind_naming(nanobind::module_& m);

}  // namespace leapp::python
