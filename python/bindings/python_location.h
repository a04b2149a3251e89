// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace leapp::python {

/// From now on, source locations are the innermost Python frame of the calling thread whose file lies in none of
/// `skipped` folders.
void install_location_provider(std::vector<std::string> skipped);

}  // namespace leapp::python
