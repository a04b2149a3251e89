// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "leapp/base/dtype.h"

namespace leapp {

/// The parts one after the other with `separator` in between. `parts` is any range of things a string_view can see.
template <typename Range>
[[nodiscard]] std::string join(const Range& parts, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const std::string_view part : parts) {
    if (!first) text += separator;
    first = false;
    text += part;
  }
  return text;
}

/// "[1,48]"; "[]" for a scalar.
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

/// "float32[1,48]".
[[nodiscard]] std::string type_text(DType dtype, std::span<const std::int64_t> shape);

/// `text` in double quotes, with quotes, backslashes and control characters escaped: one line, whatever was in it.
/// UTF-8 passes unchanged.
[[nodiscard]] std::string quote(std::string_view text);

/// quote() of a text from a stranger: no more than its first 200 bytes, and "..." for the rest.
[[nodiscard]] std::string quote_brief(std::string_view text);

/// Whether a character is one that nobody sees, or that turns round what others look like: control characters,
/// Unicode's bidirectional ones, separators of lines, spaces of no width, tags. Those that join letters are letters'
/// own.
[[nodiscard]] bool is_unseen(char32_t code);

/// `text` with unseen characters and bytes that are not UTF-8 written as \x1b: a terminal shows it and does nothing
/// else. Line breaks stay where `keep_lines`.
[[nodiscard]] std::string printable(std::string_view text, bool keep_lines = false);

/// "512 B", "1.2 kB", "34.0 MB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// Takes the first character off `text` and returns its code point, or nothing (and takes one byte) when the bytes
/// there are not UTF-8: truncated, overlong, a surrogate, above U+10FFFF. REQUIRES: `text` is not empty.
[[nodiscard]] std::optional<char32_t> take_code_point(std::string_view& text);

/// Whether `text` is UTF-8, which every name in a bundle has to be.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace leapp
