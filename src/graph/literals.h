// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of the text form below statements: strings, numbers, the bytes of constants.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/dtype.h"

namespace leapp::graph {

[[nodiscard]] bool is_bare_character(char c);

/// As it is where the text form allows that, else in quotes.
[[nodiscard]] std::string quote_if_needed(std::string_view name);

/// Always recognisable as a float: has a point, an exponent or is inf or nan. Shortest form that reads back the same
/// bits.
[[nodiscard]] std::string print_float(double number);
/// "1.5", "-inf", "nan", "nan(0xfff8000000000000)".
[[nodiscard]] std::optional<double> parse_float(std::string_view text);

/// The elements as numbers separated by ", ", or nothing when numbers would not be exact (payloads of NaN, complex,
/// ...).
[[nodiscard]] std::optional<std::string> print_elements(DType dtype, std::span<const std::byte> bytes);
/// Appends one element; false when `text` is no number that `dtype` holds.
[[nodiscard]] bool parse_element(DType dtype, std::string_view text, std::vector<std::byte>& bytes);

[[nodiscard]] std::string encode_base64(std::span<const std::byte> bytes);
[[nodiscard]] std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

}  // namespace leapp::graph
