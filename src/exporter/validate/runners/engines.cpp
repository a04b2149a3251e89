// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/runners/engines.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include <filesystem>

#include "engine/plugin.h"
#include "runtime/pipeline/engines.h"

extern "C" leapp::engine::Engine* leapp_open_engine(int version, const leapp::engine::Options* options,
                                                    std::string* error);

namespace leapp::exporter {
namespace {

// The package `onnxruntime` of the environment that torch is in: <site-packages>/torch/lib/libtorch_cpu.so is beside
// it.
std::string package_beside_torch() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) == 0 || info.dli_fname == nullptr) return "";
  const auto site_packages = std::filesystem::path(info.dli_fname).parent_path().parent_path().parent_path();
  const auto package = site_packages / "onnxruntime";
  std::error_code error;
  return std::filesystem::is_directory(package, error) ? package.string() : "";
}

}  // namespace

Result<std::unique_ptr<engine::Engine>> open_onnx_engine_of(engine::Prefer prefer) {
  engine::Options options;
  options.prefer = prefer;
  options.onnxruntime_package = package_beside_torch();
  options.provider = engine::Provider::kCpu;
  return runtime::open_engine("onnx", options);
}

Result<std::unique_ptr<engine::Engine>> open_deployment_engine(const std::string& backend) {
  if (backend == "onnx") return open_onnx_engine_of(engine::Prefer::kAuto);
  const engine::Options options;
  if (backend != "jit") return runtime::open_engine(backend, options);
  std::string error;
  std::unique_ptr<engine::Engine> engine(leapp_open_engine(engine::kPluginVersion, &options, &error));
  if (!engine) return internal_error(error);
  return engine;
}

}  // namespace leapp::exporter
