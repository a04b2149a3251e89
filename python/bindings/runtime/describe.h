// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "leapp/bundle/spec.h"

namespace leapp::python {

/// A port as the dict that its YAML is.
nanobind::dict describe(const bundle::Port& port);

/// Whatever a user attached to the pipeline.
nanobind::object to_python(const bundle::YamlValue& value);

}  // namespace leapp::python
