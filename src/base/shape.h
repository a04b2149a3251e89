// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace leapp {

/// The extent of each dimension.
using Shape = std::vector<std::int64_t>;

}  // namespace leapp
