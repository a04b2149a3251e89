// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Pieces of C++ text. Names, places and numbers come from files of strangers: nothing here lets them end a comment, a
// line or a literal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/base/dtype.h"

namespace leapp::codegen {

/// One line of printable ASCII for a `//` comment: other characters become "\u{3c0}", and what compilers look for in
/// comments (trigraphs, ends of comments, a backslash at the end of the line) is taken apart. At most `longest` bytes.
[[nodiscard]] std::string comment_text(std::string_view text, std::size_t longest = 200);

/// What the source form computes with: float16 and bfloat16 are only stored.
[[nodiscard]] inline bool is_floating(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

/// "float", "int64_t", "Float16"; empty for types that the source form has none for.
[[nodiscard]] std::string_view c_type(DType dtype);

/// "float32", as part of a name.
[[nodiscard]] std::string type_word(DType dtype);

/// Literals that are read back as the same number; NaN stays NaN.
[[nodiscard]] std::string literal(float number);
[[nodiscard]] std::string literal(double number);
/// The first element of `bytes`. `inside`: between the braces of an array.
[[nodiscard]] std::string literal(DType dtype, std::span<const std::byte> bytes, bool inside);

/// Items separated by commas in lines of at most 118 columns, each begun with `indent`. No line end at the end.
class Lines {
 public:
  explicit Lines(std::string_view indent) : indent_(indent) {}
  void add(std::string_view item);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string indent_;
  std::string text_;
  std::size_t column_ = 0;
};
[[nodiscard]] std::string wrapped(const std::vector<std::string>& items, std::string_view indent);

}  // namespace leapp::codegen
