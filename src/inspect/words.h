// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Text for people. Names come from files of strangers: what is printed holds no control characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leapp::inspect {

/// printable (base/text.h), and each line break with the spaces around it becomes one space.
[[nodiscard]] std::string one_line(std::string_view text);

/// A message of the library with its options called what they are on the command line.
[[nodiscard]] std::string in_option_words(std::string text);

/// Columns that `text` takes on a terminal. REQUIRES: it is printable.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Lines of at most `width` columns; broken behind a space, a comma or a slash where there is one. At least one line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// "512 B", "1.2 kB", "34.0 MB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// "1,234,567".
[[nodiscard]] std::string count_text(std::uint64_t count);

/// "1 node", "3 nodes".
[[nodiscard]] std::string plural(std::uint64_t count, std::string_view what);

/// The candidate that a user who typed `word` most likely meant; empty when none is within `most` typing mistakes
/// (0: a third of the word).
[[nodiscard]] std::string closest(std::string_view word, const std::vector<std::string>& candidates,
                                  std::size_t most = 0);

}  // namespace leapp::inspect
