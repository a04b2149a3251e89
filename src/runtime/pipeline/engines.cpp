// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/engines.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/plugin.h"
#include "leapp/bundle/format.h"
#include "runtime/pipeline/onnx_engine.h"
#include "runtime/pipeline/pipeline_access.h"
#include "runtime/pipeline/torch_plugins.h"

namespace leapp::runtime {
namespace {

constexpr const char* kTorchVariable = "LEAPP_ENGINE_TORCH";

std::vector<std::string> places(const engine::Options& options) {
  if (!options.torch_engine_library.empty()) return {options.torch_engine_library};
  if (const char* named = std::getenv(kTorchVariable); named != nullptr && *named != '\0') return {named};
  return torch_plugins_in(plugin_folders());
}

/// Null, and `why` says why: not to be loaded, of another version of LEAPP, for another torch.
std::unique_ptr<engine::Engine> open_plugin(const std::string& place, const engine::Options& options,
                                            std::string& why) {
  // Stays loaded: libtorch does not survive being unloaded.
  void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = dlerror();
    return nullptr;
  }
  auto open = reinterpret_cast<engine::OpenPlugin>(dlsym(handle, engine::kPluginFunction));
  if (open == nullptr) {
    why = fmt::format("{} is not an engine of LEAPP", place);
    return nullptr;
  }
  std::string error;
  std::unique_ptr<engine::Engine> engine(open(engine::kPluginVersion, &options, &error));
  if (engine == nullptr) {
    // A plugin that is not of this version does not know how our strings are made.
    if (error.empty()) error = "built from other sources of LEAPP, or with another C++ ABI: build it again";
    why = fmt::format("{}: {}", place, error);
  }
  return engine;
}

Result<std::unique_ptr<engine::Engine>> open_torch(const engine::Options& options) {
  std::string tried;
  for (const std::string& place : places(options)) {
    std::string why;
    if (auto engine = open_plugin(place, options, why)) return engine;
    tried += fmt::format("\n  {}", why);
  }
  return not_found(
      fmt::format("'jit' models need torch and LEAPP's engine for it, {}, {}: put one beside LEAPP's runtime library, "
                  "name it in {} or in the option torch_engine_library, or export the nodes with 'onnx'{}{}",
                  kTorchPlugin, tried.empty() ? "which was not found" : "and none that was found fits", kTorchVariable,
                  tried.empty() ? "" : ". Tried:", tried));
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
