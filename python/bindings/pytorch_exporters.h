// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exporter/pytorch_exporters.h"

namespace leapp::python {

/// PyTorch's own exporters, through leapp.pytorch_exporters.
const exporter::PytorchExporters& python_exporters();

}  // namespace leapp::python
