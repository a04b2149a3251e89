// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace leapp::python {

/// Lets the exporter reach PyTorch's own exporters, through leapp.foreign.
void install_foreign_tools();

}  // namespace leapp::python
