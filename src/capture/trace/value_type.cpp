// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/value_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "torch_types/tensors.h"

namespace leapp::capture {

std::string dtype_text(at::ScalarType dtype) {
  const auto known = to_dtype(dtype);
  return known ? std::string(dtype_name(*known)) : c10::toString(dtype);
}

std::string type_text(const ValueType& type) {
  return fmt::format("{}[{}]", dtype_text(type.dtype), fmt::join(type.sizes, ", "));
}

}  // namespace leapp::capture
