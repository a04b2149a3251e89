// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// A Status as the Python exception it stands for.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "leapp/base/status.h"

namespace leapp::python {

/// Raises the exception of leapp.errors that belongs to the status' code, or the one named `type` there.
[[noreturn]] void raise(const Status& status, const char* type = nullptr);

/// The name of a value's type, for messages.
std::string kind_of(nanobind::handle value);

/// The Python exception that is being raised, as "Type: first line", and no longer raised.
std::string take_exception();

}  // namespace leapp::python
