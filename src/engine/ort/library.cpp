// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/folder_names.h"
#include "engine/ort/api.h"
#include "engine/ort/divisions.h"
#include "engine/ort/memory.h"
#include "engine/ort/ort_engine.h"
#include "engine/ort/session_log.h"
#include "engine/ort/shared_object.h"

namespace leapp::engine::ort {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "LEAPP_ONNXRUNTIME";
constexpr std::string_view kLibraryName = "libonnxruntime.so";

bool is_library_name(std::string_view name) {
  return name == kLibraryName || (name.starts_with(kLibraryName) && name[kLibraryName.size()] == '.');
}

// The library in `place`: that file, or the one in that folder or where a Python package or an unpacked release in that
// folder has it.
std::optional<fs::path> library_in(const fs::path& place) {
  std::error_code error;
  if (fs::is_regular_file(place, error)) return place;
  std::vector<fs::path> found;
  for (const fs::path& folder : {place, place / "capi", place / "lib", place / "onnxruntime" / "capi"}) {
    for (const std::string& name : folder_names(folder, error)) {
      if (is_library_name(name)) found.push_back(folder / name);
    }
    if (!found.empty()) break;
  }
  if (found.empty()) return std::nullopt;
  return *std::min_element(found.begin(), found.end());
}

// The path of a library of that name that the process has loaded, by whomever; empty: none.
std::string loaded_library() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        const std::string_view name(info->dlpi_name == nullptr ? "" : info->dlpi_name);
        if (!is_library_name(name.substr(name.rfind('/') + 1))) return 0;
        *static_cast<std::string*>(result) = name;
        return 1;
      },
      &path);
  return path;
}

std::string path_of(void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "?";
}

Result<Library> start(void* handle, const std::string& file) {
  void* symbol = dlsym(handle, "OrtGetApiBase");
  if (symbol == nullptr) return not_found(fmt::format("{} is not ONNX Runtime: it has no OrtGetApiBase", file));
  const OrtApiBase* base = reinterpret_cast<const OrtApiBase* (*)()>(symbol)();
  Library library;
  library.description = fmt::format("ONNX Runtime {} ({})", base->GetVersionString(), path_of(symbol));
  library.api = base->GetApi(kApiVersion);
  if (library.api == nullptr) {
    return not_found(fmt::format("{}: expected API version {} (ONNX Runtime {} or newer), found none",
                                 library.description, kApiVersion, kOldestOnnxRuntime));
  }
  watch_divisions(symbol);
  // Never freed, like the environment that writes to it.
  static auto* const log = new SessionLog;
  const Status started = take_status(
      *library.api,
      library.api->CreateEnvWithCustomLogger(&SessionLog::add, log, ORT_LOGGING_LEVEL_WARNING, "leapp", &library.env));
  if (started.ok()) {
    library.counts_memory = register_memory(*library.api, library.env).ok();
    return library;
  }
  const bool memory = started.code() == StatusCode::kOutOfMemory;
  return Status(memory ? started.code() : StatusCode::kInternal,
                fmt::format("{} does not start: {}", library.description, started.message()));
}

// The loader has no code for it, and for a file that is there it says "no such file" when it has no memory for its
// name.
bool is_out_of_memory(const std::string& file, std::string_view said) {
  std::error_code error;
  const auto says = [&](std::string_view words) { return said.find(words) != std::string_view::npos; };
  return says("Cannot allocate memory") || says("out of memory") || says("cannot create shared object descriptor") ||
         (said == file + ": cannot open shared object file: No such file or directory" && fs::exists(file, error));
}

// Opens `file` once for the process, whatever path leads to it.
Result<const Library*> open(const std::string& file) {
  if (file.find('/') != std::string::npos) LEAPP_RETURN_IF_ERROR(check_whole(file));
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* said = dlerror();
    const std::string_view reason = said == nullptr ? "out of memory" : said;
    const StatusCode code = is_out_of_memory(file, reason) ? StatusCode::kOutOfMemory : StatusCode::kNotFound;
    return Status(code, fmt::format("{}: {}", file, reason));
  }
  static auto* const mutex = new std::mutex;
  static auto* const libraries = new std::map<void*, Library>;
  const std::lock_guard lock(*mutex);
  if (const auto known = libraries->find(handle); known != libraries->end()) return &known->second;
  LEAPP_ASSIGN_OR_RETURN(Library library, start(handle, file));
  return &libraries->emplace(handle, std::move(library)).first->second;
}

Result<const Library*> open_in(const fs::path& place, const std::string& named_by) {
  const std::optional<fs::path> file = library_in(place);
  if (!file) {
    return not_found(fmt::format("{}: expected {} or a folder with one, found neither at {}", named_by, kLibraryName,
                                 place.string()));
  }
  auto library = open(file->string());
  if (library.ok()) return library;
  const bool memory = library.status().code() == StatusCode::kOutOfMemory;
  return Status(memory ? StatusCode::kOutOfMemory : StatusCode::kNotFound,
                fmt::format("{}: {}", named_by, library.status().message()));
}

Status nowhere(const std::vector<std::string>& tried) {
  std::string text = fmt::format(
      "ONNX Runtime {} or newer is needed to run ONNX models and was not found. One of these helps: (1) pip install "
      "onnxruntime (1.20 or newer) and run from that Python; (2) set {}=/path/to/{}; (3) name the file in the option "
      "onnxruntime_library, or install it where the system's loader looks. Tried:",
      kOldestOnnxRuntime, kVariable, kLibraryName);
  for (const std::string& attempt : tried) text += "\n  " + attempt;
  return not_found(std::move(text));
}

}  // namespace

Result<const Library*> find_library(const Options& options) {
  if (!options.onnxruntime_library.empty()) return open_in(options.onnxruntime_library, "option onnxruntime_library");
  if (const char* place = std::getenv(kVariable); place != nullptr && *place != '\0') return open_in(place, kVariable);

  std::vector<std::string> tried{fmt::format("{}: not set", kVariable)};
  // Whether there is no need to look further: it is found, or there is no memory to look.
  const auto is_answer = [&](const Result<const Library*>& library) {
    if (library.ok() || library.status().code() == StatusCode::kOutOfMemory) return true;
    tried.push_back(library.status().message());
    return false;
  };
  if (const std::string loaded = loaded_library(); !loaded.empty()) {
    auto library = open(loaded);
    if (is_answer(library)) return library;
  }
  if (!options.onnxruntime_package.empty()) {
    auto library = open_in(options.onnxruntime_package, "Python package");
    if (is_answer(library)) return library;
  }
  for (const char* name : {"libonnxruntime.so.1", "libonnxruntime.so"}) {
    auto library = open(name);
    if (is_answer(library)) return library;
  }
  return nowhere(tried);
}

}  // namespace leapp::engine::ort
