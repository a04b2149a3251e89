// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "leapp/bundle/spec.h"

namespace leapp::python {

/// Ports, and a whole bundle, as the lists and dicts that their YAML is.
nanobind::list describe(const std::vector<bundle::Port>& ports);
nanobind::dict describe(const bundle::BundleSpec& spec);

/// Whatever a user attached to the pipeline.
nanobind::object to_python(const bundle::YamlValue& value);

}  // namespace leapp::python
