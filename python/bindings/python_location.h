// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "capture/source_location.h"

namespace leapp::python {

/// The innermost Python frame of the calling thread whose file lies in none of the skipped folders; 0 until these are
/// known.
capture::LocationId python_location();

void skip_folders(std::vector<std::string> skipped);

}  // namespace leapp::python
