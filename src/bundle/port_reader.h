// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "bundle/yaml/yaml_cursor.h"
#include "leapp/bundle/spec.h"

namespace leapp::bundle {

/// The name of the axis along which a history runs.
inline constexpr std::string_view kTemporalAxis = "__temporal_axis__";

/// The list under `inputs` or `outputs` of a model. Null is an empty list.
Result<std::vector<Port>> read_ports(const YamlCursor& list);

}  // namespace leapp::bundle
