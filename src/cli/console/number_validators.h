// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace leapp::cli {

/// Makes every option of `app`, and of its subcommands, that takes a number refuse what is none, is not finite, or does
/// not fit: the library that reads them takes the nearest number it has, so that -1 is 18446744073709551615.
/// REQUIRES: all options were added.
void expect_plain_numbers(CLI::App& app);

/// The same of the digits of a size ("4GB").
[[nodiscard]] CLI::Validator plain_size();

}  // namespace leapp::cli
