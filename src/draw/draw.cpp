// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "draw/draw.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace leapp::draw {
namespace {

constexpr const char* kVariable = "LEAPP_DRAW_LIBRARY";

std::vector<std::string> places() {
  if (const char* named = std::getenv(kVariable); named != nullptr && *named != '\0') return {named};
  std::vector<std::string> places;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&draw), &info) != 0 && info.dli_fname != nullptr) {
    std::error_code error;
    const auto self = std::filesystem::canonical(info.dli_fname, error);
    const auto folder = error ? std::filesystem::path(info.dli_fname).parent_path() : self.parent_path();
    // The command's folder is below the Python package's, or beside lib/.
    for (const auto& place : {folder, folder.parent_path(), folder.parent_path() / "lib"}) {
      places.push_back((place / kPluginLibrary).string());
    }
  }
  places.emplace_back(kPluginLibrary);
  return places;
}

Result<DrawFunction> load() {
  std::string tried;
  for (const std::string& place : places()) {
    // Stays loaded: Graphviz and what it brings do not survive being unloaded.
    void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      tried += fmt::format("\n  {}", dlerror());
      continue;
    }
    const auto function = reinterpret_cast<DrawFunction>(dlsym(handle, kPluginFunction));
    if (function == nullptr) return failed_precondition(fmt::format("{} does not draw pictures of LEAPP", place));
    return function;
  }
  return not_found(
      fmt::format("pictures need {} and Graphviz (Debian: libgvc6), and loading them failed: install Graphviz, or put "
                  "the library beside LEAPP or name it in {}. Tried:{}",
                  kPluginLibrary, kVariable, tried));
}

}  // namespace

Result<Drawing> draw(const PipelinePicture& picture, const Wanted& wanted) {
  LEAPP_ASSIGN_OR_RETURN(const DrawFunction function, load());
  Drawing drawing;
  std::string error;
  if (!function(kPluginVersion, &picture, &wanted, &drawing, &error)) return failed_precondition(error);
  return drawing;
}

}  // namespace leapp::draw
