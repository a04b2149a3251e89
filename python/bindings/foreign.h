// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exporter/foreign.h"

namespace leapp::python {

/// PyTorch's own exporters, through leapp.foreign.
const exporter::ForeignTools& python_exporters();

}  // namespace leapp::python
