// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "fleet/file_names.h"

#include <fmt/format.h>

#include "base/text.h"

namespace leapp::fleet {
namespace {

// Of the 255 that file systems have: there is room for what goes before and behind it.
constexpr std::size_t kLongest = 120;

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

}  // namespace

std::string file_name(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    const std::string_view before = text;
    const auto code = take_code_point(text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    if (name.size() + bytes.size() > kLongest) break;
    const bool leads_away = bytes == "/" || bytes == "\\" || bytes == ":" || (name.empty() && bytes == ".");
    name += !code || leads_away || printable(bytes) != bytes ? "_" : bytes;
  }
  return name.empty() ? "_" : name;
}

std::string FileNames::operator()(std::string_view wish) {
  const std::string base = file_name(wish);
  std::string name = base;
  for (int i = 2; !taken_.insert(lower_case(name)).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

}  // namespace leapp::fleet
