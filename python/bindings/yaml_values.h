// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "leapp/bundle/spec.h"

namespace leapp::python {

/// A dict of str, numbers, bools, None, enums, lists and dicts as it is written to YAML; None is an empty one. Raises a
/// TypeError that says `where` when something else is in it.
bundle::YamlMap to_yaml_map(const std::string& where, nanobind::handle dict);

}  // namespace leapp::python
