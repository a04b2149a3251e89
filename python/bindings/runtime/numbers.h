// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/dtype.h"

namespace leapp::python {

/// The elements of an array as numbers, in its order. Raises, naming `where`, when it is no array of a port's dtype.
std::vector<double> numbers_of(nanobind::handle array, std::string_view where);

/// A new array of numbers.
nanobind::object array_of(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                          std::span<const double> numbers);

/// A new array of these bytes.
nanobind::object array_of(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                          const std::vector<std::byte>& bytes);

}  // namespace leapp::python
