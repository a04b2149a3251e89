// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace leapp::fleet {

/// `text` as the name of a file or folder: without what leads elsewhere (slashes, colons, a dot in front), what a
/// terminal would not show, and what makes it longer than names of files may be. Most names are as they were.
[[nodiscard]] std::string file_name(std::string_view text);

/// Names of files in one folder for names of strangers: two that differ get two files, where upper and lower case are
/// the same too.
class FileNames {
 public:
  std::string operator()(std::string_view wish);

 private:
  std::set<std::string> taken_;  ///< in lower case
};

}  // namespace leapp::fleet
