// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/reader.h"

/// What tensors say that they have, which need not be what is in them. As floating-point numbers, which do not
/// overflow. Both throw protozero's exceptions for what is no message.
namespace leapp::onnx {

struct Declared {
  double elements = 1;
  double width = 4;       ///< bytes of an element; that of an unknown type is a guess
  bool external = false;  ///< the contents lie in another file

  [[nodiscard]] double bytes() const { return elements * width; }
};

/// Of a tensor; its contents are not looked at.
[[nodiscard]] Declared declared(Encoded tensor);

/// Of a sparse tensor, which engines make dense.
[[nodiscard]] double dense_bytes(Encoded sparse_tensor);

}  // namespace leapp::onnx
