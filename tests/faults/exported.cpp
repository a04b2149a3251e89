// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exported.h"

#include <fstream>
#include <iterator>

namespace leapp::faults {
namespace {

/// Without the line that says which system it is, which an export without memory does not find out.
std::string without_system(std::string text) {
  const std::size_t begin = text.find("\n  os: ");
  return begin == std::string::npos ? text : text.erase(begin, text.find('\n', begin + 1) - begin);
}

}  // namespace

Files files_of(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::filesystem::path name = entry.path().lexically_relative(folder);
    if (!entry.is_regular_file() || name == "g/log.txt" || name == "g/validation.json") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[name.string()] = without_system({std::istreambuf_iterator<char>(file), {}});
  }
  return files;
}

std::string differing(const Files& found, const Files& wanted, bool more) {
  std::string names;
  for (const auto& [name, bytes] : wanted) {
    const auto at = found.find(name);
    if (at == found.end() || at->second != bytes) names += " " + name;
  }
  for (const auto& [name, bytes] : found) {
    if (more && !wanted.contains(name)) names += " +" + name;
  }
  return names;
}

}  // namespace leapp::faults
