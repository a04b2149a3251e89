// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "leapp/base/status.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/reader.h"

/// Tensors whose elements are text, which no port can have. What an element takes beside its place in the tensor is
/// counted by nobody: one of a megabyte, expanded to a million elements, would be the end. So texts are short, which
/// take nothing beside it, and no operator makes longer ones of them.
namespace leapp::onnx {

/// Bytes of an element that is text: what a std::string has room for in itself.
inline constexpr std::size_t kLongestText = 15;

/// kInvalidArgument for a tensor with a longer text. Throws protozero's exceptions for what is no message.
Status check_texts(Encoded tensor);

/// The same for what a node has, and for one that makes texts of others or of numbers.
Status check_texts(const NodeView& node);

}  // namespace leapp::onnx
