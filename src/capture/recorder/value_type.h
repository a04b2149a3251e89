// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/DimVector.h>

#include <string>

namespace leapp::capture {

struct ValueType {
  at::ScalarType dtype = at::ScalarType::Float;
  c10::DimVector sizes;
  bool operator==(const ValueType&) const = default;
};

/// "float32": the bundle's spelling, or torch's where a bundle has none.
std::string dtype_text(at::ScalarType dtype);

/// "float32[1, 48]"
std::string type_text(const ValueType& type);

}  // namespace leapp::capture
