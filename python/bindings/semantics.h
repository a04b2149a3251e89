// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "leapp/capture.h"

namespace leapp::python {

/// Whether `value` is a leapp.TensorSemantics.
bool is_semantics(nanobind::handle value);

/// Reads a leapp.TensorSemantics, whose constructor has brought its fields into one form.
Semantics to_semantics(const char* call, const std::string& name, nanobind::handle semantics);

}  // namespace leapp::python
