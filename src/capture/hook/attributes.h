// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Arguments of operators that are no tensors, as torch and as graphs hold them.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <exception>
#include <string>

#include "capture/trace/value_type.h"
#include "graph/attribute.h"

namespace leapp::capture {

/// An argument that names a dtype which no graph has.
class UnknownDtype : public std::exception {
 public:
  explicit UnknownDtype(at::ScalarType dtype) : text_(dtype_text(dtype)) {}
  /// The dtype.
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// An argument of a kind that no graph has: packed weights of a quantised layer, a generator.
class UnknownArgument : public std::exception {
 public:
  explicit UnknownArgument(const c10::IValue& value) : text_(value.tagKind()) {
    if (value.isObject()) text_ = value.type()->annotation_str();
  }
  /// The kind.
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// `type` is what the schema says. Throws UnknownDtype, UnknownArgument, and c10::Error for what no graph can hold.
[[nodiscard]] graph::Attribute to_attribute(const c10::IValue& value, c10::TypePtr type);

/// REQUIRES: it is no tensor and no list of tensors. Throws c10::Error for a device, layout or memory format that torch
/// does not know.
[[nodiscard]] c10::IValue to_ivalue(const graph::Attribute& attribute);

}  // namespace leapp::capture
