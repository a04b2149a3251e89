// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/io/arrays.h"
#include "leapp/base/status.h"

namespace leapp::cli {

/// A first line with names ("policy/obs[0]": an element by its place in row-major order; "policy/obs" for a port of
/// one element), then one line of numbers a step. kDataLoss names line and column, expected and found: a wrong number
/// of columns, what is no number of the port's dtype, an element that is missing or there twice.
Result<std::vector<Series>> parse_csv(std::string_view text, const FindType& find);

/// REQUIRES: all have the same first extent, the number of lines.
[[nodiscard]] std::string csv_text(std::span<const Array> arrays);

}  // namespace leapp::cli
