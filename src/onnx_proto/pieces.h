// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

/// Puts a message together, field by field. Short stretches are copied, so that there are few pieces; long ones not.
class PieceBuilder {
 public:
  /// Bytes as they are; the caller's must outlive the result.
  void add_shared(std::span<const std::byte> bytes);
  /// A field that is a string, or a message.
  void add_field(std::uint32_t field, std::string_view content);
  void add_field(std::uint32_t field, Pieces&& content);
  void add_field(std::uint32_t field, std::int64_t value);

  [[nodiscard]] Pieces take() &&;

 private:
  void add(Bytes bytes);
  void flush();

  std::string text_;  ///< what comes behind `done_`
  Pieces done_;
};

/// The tag and length that stand before a nested message or a block of bytes.
[[nodiscard]] std::string field_header(std::uint32_t field, std::size_t length);

}  // namespace leapp::onnx
