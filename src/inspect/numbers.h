// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Single elements of tensors, whatever their dtype, as numbers and as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "leapp/base/dtype.h"

namespace leapp::inspect {

/// Whether elements of that dtype are numbers that the functions below know: all but complex and 8-bit floats.
[[nodiscard]] bool is_number(DType dtype);
[[nodiscard]] bool is_floating(DType dtype);

/// REQUIRES: is_number(dtype), here and below.
[[nodiscard]] double to_double(DType dtype, const std::byte* element);

/// Short, and parse_element gives the same element back.
[[nodiscard]] std::string element_text(DType dtype, const std::byte* element);

/// False when `text` is no number, or none that the dtype can hold (floats are rounded).
[[nodiscard]] bool parse_element(std::string_view text, DType dtype, std::byte* element);

struct ElementRef {
  DType dtype = DType::kFloat32;
  const std::byte* data = nullptr;
};

/// Floats are rounded; false when an integer or bool cannot hold the value.
[[nodiscard]] bool convert_element(ElementRef from, DType dtype, std::byte* to);

}  // namespace leapp::inspect
