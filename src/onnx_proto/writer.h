// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/messages.h"

namespace leapp::onnx {

/// A long row of bytes in pieces, some of which are shared with whoever made them. Movable, not thread-safe.
class Pieces {
 public:
  void append(std::string bytes);
  void append(Bytes bytes);
  void append(Pieces pieces);
  void append_zeros(std::size_t count);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::vector<Bytes>& pieces() const { return pieces_; }

  /// One block. Copies every byte once.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Bytes> pieces_;
  std::size_t size_ = 0;
};

/// The bytes of a ModelProto. Contents of tensors are not copied: they are pieces of the result. The same model gives
/// the same bytes.
[[nodiscard]] Pieces write_model(const Model& model);

/// Bytes that, put behind those of any model, give its graph these outputs besides its own: protobuf joins the parts of
/// a message that occurs twice. REQUIRES: the graph has values of these names, and no such outputs.
[[nodiscard]] std::string write_added_outputs(const std::vector<ValueInfo>& outputs);

}  // namespace leapp::onnx
