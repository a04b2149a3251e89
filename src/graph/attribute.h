// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "leapp/base/dtype.h"

namespace leapp::graph {

class Graph;
class Value;

/// A device as ATen writes it: "cpu", "cuda:0".
struct Device {
  std::string name;
  bool operator==(const Device&) const = default;
};

/// "strided", "sparse_coo", ...
struct Layout {
  std::string name;
  bool operator==(const Layout&) const = default;
};

/// "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"
struct MemoryFormat {
  std::string name;
  bool operator==(const MemoryFormat&) const = default;
};

using Complex = std::complex<double>;

/// A Python number in a list whose schema type is Scalar[].
using Scalar = std::variant<bool, std::int64_t, double, Complex>;

/// A graph inside a node: a side of a conditional (conditional.h). Shared, so never changed in place.
using GraphPtr = std::shared_ptr<const Graph>;

/// Everything an argument of an operator schema can hold, and the graphs inside nodes. `Value*` is a tensor;
/// `std::vector<Value*>` a list of tensors, in which nullptr is None (Tensor?[]). std::monostate is None.
using Attribute =
    std::variant<std::monostate, bool, std::int64_t, double, Complex, std::string, DType, Device, Layout, MemoryFormat,
                 std::vector<bool>, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>,
                 std::vector<DType>, std::vector<Scalar>, Value*, std::vector<Value*>, GraphPtr>;

/// An argument by the name the schema gives it.
struct Argument {
  std::string name;
  Attribute value;
};

}  // namespace leapp::graph
