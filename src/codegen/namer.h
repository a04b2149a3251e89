// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace leapp::codegen {

/// `text` as letters, digits and underscores, beginning with a letter, without two underscores in a row and with none
/// at the end: never empty, never reserved by the language's rules on underscores. A character that is no ASCII letter
/// or digit is an underscore; one that is not ASCII is "u" and its number, so that different names stay different.
[[nodiscard]] std::string spelled(std::string_view text);

/// Makes all names of one scope of the generated files: legal C++ (and C) identifiers, each only once.
class Namer {
 public:
  /// Names that the scope has already.
  void reserve(std::string_view name) { taken_.emplace(name); }

  /// A name that is made of `wish`: with an underscore behind it if it is a keyword, a type or function of the C
  /// library, or a macro; with a number if it is taken.
  [[nodiscard]] std::string operator()(std::string_view wish);

 private:
  std::set<std::string, std::less<>> taken_;
};

/// Keywords of C and C++, macros and global names of the C library: no name of ours.
[[nodiscard]] bool is_reserved(std::string_view name);

/// Whether `name`.h is a header of the C library or the system, in upper or lower case: where a compiler looks for
/// headers in the folder of the generated files, that would be found in its place.
[[nodiscard]] bool is_header(std::string_view name);

}  // namespace leapp::codegen
