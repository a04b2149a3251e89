// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "base/folder_names.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <string_view>

namespace leapp {

std::vector<std::string> folder_names(const std::filesystem::path& folder, std::error_code& error) {
  const auto failed = [&](int number) -> std::vector<std::string> {
    if (number == ENOMEM) throw std::bad_alloc();
    error = std::error_code(number, std::generic_category());
    return {};
  };
  error.clear();
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> open(::opendir(folder.c_str()));
  if (!open) return failed(errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr && errno != 0) return failed(errno);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace leapp
