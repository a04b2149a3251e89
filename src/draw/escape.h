// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leapp::draw {

/// `text` with nothing in it that cannot be drawn: control characters become their pictures (U+2400...), bytes that are
/// not UTF-8 become U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

/// For text and attributes of XML and HTML, made printable.
[[nodiscard]] std::string escape_xml(std::string_view text);

/// For the HTML-like labels of Graphviz: as escape_xml, and backslashes mean nothing, and every space is kept.
[[nodiscard]] std::string escape_label(std::string_view text);

/// Lines of at most `width` characters that together are `text`, broken after one of "_-./ " where there is one in the
/// second half of a line. At least one line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// JSON that may stand in a <script> element: nothing in it ends the element or a line of JavaScript, or makes it look
/// like other text to who reads it.
[[nodiscard]] std::string escape_script(std::string_view json);

}  // namespace leapp::draw
