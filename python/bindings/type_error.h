// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace leapp::python {

/// Raises a LeappTypeError, with the user's line.
[[noreturn]] void raise_type_error(const std::string& message);

}  // namespace leapp::python
