// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/engines.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "engine/plugin.h"
#include "leapp/bundle/format.h"
#include "runtime/onnx_engine.h"
#include "runtime/pipeline_access.h"

namespace leapp::runtime {
namespace {

constexpr const char* kTorchEngine = "libleapp_engine_torch.so";
constexpr const char* kTorchVariable = "LEAPP_ENGINE_TORCH";

std::string beside_this_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&open_engine), &info) == 0 || info.dli_fname == nullptr) return kTorchEngine;
  return (std::filesystem::path(info.dli_fname).parent_path() / kTorchEngine).string();
}

std::vector<std::string> places(const engine::Options& options) {
  if (!options.torch_engine_library.empty()) return {options.torch_engine_library};
  if (const char* named = std::getenv(kTorchVariable); named != nullptr && *named != '\0') return {named};
  return {beside_this_library(), kTorchEngine};
}

Result<std::unique_ptr<engine::Engine>> open_torch(const engine::Options& options) {
  std::string tried;
  for (const std::string& place : places(options)) {
    // Stays loaded: libtorch does not survive being unloaded.
    void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      tried += fmt::format("\n  {}", dlerror());
      continue;
    }
    auto open = reinterpret_cast<engine::OpenPlugin>(dlsym(handle, engine::kPluginFunction));
    if (open == nullptr) return failed_precondition(fmt::format("{} is not an engine of LEAPP", place));
    std::string error;
    std::unique_ptr<engine::Engine> engine(open(engine::kPluginVersion, &options, &error));
    if (!engine) return failed_precondition(fmt::format("{}: {}", place, error));
    return engine;
  }
  return not_found(
      fmt::format("'jit' models need torch and LEAPP's engine for it, {}, which was not found: put it beside LEAPP's "
                  "runtime library, name it in {} or in the option torch_engine_library, or export the nodes with "
                  "'onnx'. Tried:{}",
                  kTorchEngine, kTorchVariable, tried));
}

}  // namespace

Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& backend, const engine::Options& options) {
  const bundle::FormatInfo* known = bundle::find_format(backend);
  if (known == nullptr) {
    return invalid_argument(fmt::format("expected {}, found {}", bundle::format_names(), quote(backend)));
  }
  switch (known->format) {
    case bundle::ModelFormat::kTorchScript:
      return open_torch(options);
    case bundle::ModelFormat::kOnnx:
      return open_onnx_engine(options);
    case bundle::ModelFormat::kPt2:
      break;
  }
  return unimplemented(fmt::format(
      "'{}' models run from Python only (leapp.InferenceManager); for C++ export with 'onnx' or 'jit'", backend));
}

Result<std::unique_ptr<engine::Engine>> PipelineAccess::open_engine(const std::string& backend,
                                                                    const engine::Options& options) {
  return runtime::open_engine(backend, options);
}

}  // namespace leapp::runtime
