// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace leapp::bundle {

/// `text` as one YAML scalar on one line that every reader, YAML 1.1 or 1.2, in block or in flow context, reads as this
/// string: plain where that is safe, else in single quotes, else (control characters, exotic line breaks) in double
/// quotes with escapes. Bytes that are not UTF-8 become U+FFFD: YAML cannot hold them.
[[nodiscard]] std::string yaml_string(std::string_view text);

/// The shortest text that YAML 1.1 and 1.2 read as a float and that reads back as the same value: 50.0, 1.0e-05, .inf.
[[nodiscard]] std::string yaml_float(double value);

}  // namespace leapp::bundle
