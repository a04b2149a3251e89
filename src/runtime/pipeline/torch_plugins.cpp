// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/torch_plugins.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace leapp::runtime {
namespace {

namespace fs = std::filesystem;

using Minor = std::pair<int, int>;

/// 2_13 of libleapp_engine_torch2_13.so.
std::optional<Minor> torch_of(std::string_view name) {
  constexpr std::string_view kBefore = "libleapp_engine_torch";
  constexpr std::string_view kAfter = ".so";
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) return std::nullopt;
  name.remove_prefix(kBefore.size());
  name.remove_suffix(std::min(kAfter.size(), name.size()));
  const char* const end = name.data() + name.size();
  Minor found;
  const auto major = std::from_chars(name.data(), end, found.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '_') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, found.second);
  if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
  return found;
}

/// Memory for what dlinfo writes, which says itself how long it is.
std::unique_ptr<std::byte[]> search_path_of(void* library) {
  Dl_serinfo size{};
  if (dlinfo(library, RTLD_DI_SERINFOSIZE, &size) != 0) return nullptr;
  auto memory = std::make_unique<std::byte[]>(size.dls_size);
  auto* path = reinterpret_cast<Dl_serinfo*>(memory.get());
  path->dls_size = size.dls_size;
  path->dls_cnt = size.dls_cnt;
  return dlinfo(library, RTLD_DI_SERINFO, path) == 0 ? std::move(memory) : nullptr;
}

}  // namespace

std::vector<std::string> torch_plugins_in(const std::vector<fs::path>& folders) {
  std::vector<std::string> plugins;
  for (const fs::path& folder : folders) {
    std::vector<std::pair<Minor, std::string>> here;
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
      if (const auto torch = torch_of(entry->path().filename().native())) here.emplace_back(*torch, entry->path());
    }
    std::sort(here.rbegin(), here.rend());
    for (auto& [torch, path] : here) {
      if (std::find(plugins.begin(), plugins.end(), path) == plugins.end()) plugins.push_back(std::move(path));
    }
  }
  return plugins;
}

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  Dl_info self{};
  struct link_map* map = nullptr;
  const void* address = reinterpret_cast<const void*>(&plugin_folders);
  if (dladdr1(address, &self, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return folders;
  if (self.dli_fname != nullptr) folders.push_back(fs::path(self.dli_fname).parent_path());
  // The program's own name is empty.
  void* library = dlopen(*map->l_name == '\0' ? nullptr : map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return folders;
  if (const auto memory = search_path_of(library)) {
    const auto* path = reinterpret_cast<const Dl_serinfo*>(memory.get());
    for (unsigned i = 0; i < path->dls_cnt; ++i) folders.emplace_back(path->dls_serpath[i].dls_name);
  }
  dlclose(library);
  return folders;
}

}  // namespace leapp::runtime
