// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays for Python: torch tensors when torch is loaded, else NumPy arrays. Nothing here is linked to either.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dlpack.h"
#include "leapp/base/dtype.h"

namespace leapp::python {

/// A port as Python sees it.
struct PortInfo {
  std::string name;      ///< "node/port"
  nanobind::object key;  ///< the same as a str
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  nanobind::object extents;  ///< the shape as a tuple
};

/// A new array and where its elements go: dense, row-major, of its own.
struct ArrayOut {
  nanobind::object array;
  void* data = nullptr;
};

/// The library that arrays are made with at this moment. All of it needs Python's lock.
class ArrayLibrary {
 public:
  /// torch when the process has loaded it.
  static ArrayLibrary current();

  /// Raises a ValueError that names the first port of a type that the library lacks.
  void check(const std::vector<PortInfo>& ports) const;

  /// REQUIRES: check() of that port did not raise.
  [[nodiscard]] ArrayOut make(const PortInfo& port) const;

 private:
  [[nodiscard]] ArrayOut make_torch(const PortInfo& port) const;

  const dlpack::ExchangeApi* exchange_ = nullptr;  ///< torch's
  nanobind::object from_capsule_;                  ///< of a torch that has no such thing
};

/// A torch tensor over memory of ours, which has to outlive it. REQUIRES: torch is loaded.
nanobind::object borrowed_tensor(DType dtype, std::span<const std::int64_t> shape, void* data);

}  // namespace leapp::python
