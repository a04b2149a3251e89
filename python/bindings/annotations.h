// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace leapp::python {

/// Adds the functions behind leapp.annotate.
void bind_annotations(nanobind::module_& m);

}  // namespace leapp::python
