// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console/load_flags.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cli/console/number_validators.h"
#include "cli/console/timeout.h"

namespace leapp::cli {

void add_engine_option(CLI::App& to, engine::Prefer& prefer) {
  static const std::map<std::string, engine::Prefer> kEngines{{"auto", engine::Prefer::kAuto},
                                                              {"native", engine::Prefer::kNative},
                                                              {"onnxruntime", engine::Prefer::kOnnxRuntime}};
  to.add_option("--engine", prefer, "Engine for ONNX models: auto, native or onnxruntime")
      ->transform(CLI::CheckedTransformer(kEngines).description(""));
}

void add_memory_limit(CLI::App& to, std::uint64_t& limit) {
  to.add_option("--memory-limit", limit, "Memory limit in bytes (a quarter of the memory)")
      ->transform(CLI::AsSizeValue(true).description(""))
      ->check(CLI::PositiveNumber.description(""))
      ->transform(plain_size())  // before the one above
      ->type_name("SIZE");
}

void add_load_options(CLI::App& command, runtime::LoadOptions& load) {
  static const std::map<std::string, engine::Provider> kProviders{
      {"auto", engine::Provider::kAuto}, {"cpu", engine::Provider::kCpu}, {"cuda", engine::Provider::kCuda}};
  static const std::map<std::string, engine::Optimisation> kLevels{{"off", engine::Optimisation::kOff},
                                                                   {"basic", engine::Optimisation::kBasic},
                                                                   {"extended", engine::Optimisation::kExtended},
                                                                   {"all", engine::Optimisation::kAll}};
  const auto names = [](const auto& table) {
    std::string text;
    for (const auto& row : table) text += (text.empty() ? "" : ", ") + row.first;
    return text;
  };
  CLI::Option_group* group = command.add_option_group("Engine", "Engine options");
  add_engine_option(*group, load.engine.prefer);
  group->add_option("--intra-op-threads", load.engine.intra_op_threads, "Threads per operator (1)")
      ->check(CLI::Range(1, 1024));
  group->add_option("--inter-op-threads", load.engine.inter_op_threads, "Operators that run in parallel (1)")
      ->check(CLI::Range(1, 1024));
  group->add_option("--provider", load.engine.provider, "Where ONNX Runtime computes: " + names(kProviders))
      ->transform(CLI::CheckedTransformer(kProviders).description(""));
  group->add_option("--optimisation", load.engine.optimisation, "Graph optimisation level: " + names(kLevels))
      ->transform(CLI::CheckedTransformer(kLevels).description(""));
  group->add_flag_callback(
      "--no-fuse", [&load] { load.fuse = false; }, "Run ONNX nodes one by one, not fused");
  group->add_option("--onnxruntime", load.engine.onnxruntime_library, "Path of libonnxruntime.so, or of its folder");
  group->add_option("--torch-engine", load.engine.torch_engine_library,
                    "Path of libleapp_engine_torchX_Y.so, for jit nodes");
  add_memory_limit(*group, load.memory_limit);
  group
      ->add_option_function<double>(
          "--timeout",
          [&load](double seconds) {
            load.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
            load.engine.stop = std::make_shared<engine::Stop>();
            end_after_silence_of(load.timeout);
          },
          "Time limit for loading and for each step (none)")
      ->check(CLI::Range(0.001, 1e6).description(""))
      ->type_name("SECONDS");
  group->add_flag_callback(
      "--no-torchscript", [&load] { load.allow_torchscript = false; }, "Refuse jit models, which can run any code");
  group->add_flag("--allow-outside", load.allow_outside, "Allow models outside the bundle's folder");
  group->add_flag_callback(
      "--no-checksums", [&load] { load.verify_checksums = false; }, "Skip checksum verification");
}

void add_trust_options(CLI::App& command, runtime::LoadOptions& load) {
  command.add_option("--trusted-key", load.trusted_keys, "Load only bundles signed with this public key (PEM)")
      ->allow_extra_args(false);
}

}  // namespace leapp::cli
