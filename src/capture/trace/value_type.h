// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/util/DimVector.h>

#include <cstdint>
#include <memory>
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

/// What a tensor held at some moment. The analysis compares contents and hands them on; only the recorder and the
/// exporter, which know that a tensor is behind it (tensor_content.h), look inside.
class Content {
 public:
  Content() = default;
  virtual ~Content() = default;
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  [[nodiscard]] virtual ValueType type() const = 0;
  /// Over the elements in row-major order.
  [[nodiscard]] virtual std::uint64_t hash() const = 0;
  /// "[0.5, 1, 2, 3, ...]", for messages.
  [[nodiscard]] virtual std::string text() const = 0;
};

/// Null: not known.
using ContentPtr = std::shared_ptr<const Content>;

inline bool same_content(const Content& a, const Content& b) { return a.type() == b.type() && a.hash() == b.hash(); }

}  // namespace leapp::capture
