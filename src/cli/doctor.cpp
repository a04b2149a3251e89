// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands.h"
#include "cli/console/load_flags.h"
#include "cli/console/table.h"
#include "draw/draw.h"
#include "inspect/words.h"
#include "runtime/pipeline/engines.h"
#include "runtime/pipeline/torch_plugins.h"

namespace leapp::cli {
namespace {

/// One thing that LEAPP looked for.
struct Diagnosis {
  std::string topic;   ///< "engine", "machine", "real time", "pictures", "Python"
  std::string what;    ///< "ONNX Runtime"
  bool found = false;  ///< or good enough
  std::string detail;  ///< version and place, or the setting
  std::string remedy;  ///< how to get it; empty: nothing to do
};

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return one_line(line);
}

std::string processor() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos && line.starts_with("model name")) return one_line(line.substr(colon + 2));
  }
  return "unknown processor";
}

Diagnosis engine_of(const std::string& what, const std::string& backend, const engine::Options& options,
                    std::string remedy) {
  const auto engine = runtime::open_engine(backend, options);
  if (engine.ok()) return {"engine", what, true, engine.value()->description(), ""};
  const bool missing = engine.status().code() == StatusCode::kNotFound;
  return {"engine", what, false, missing ? "not found" : one_line(engine.status().message()), std::move(remedy)};
}

void add_engines(std::vector<Diagnosis>& all, const engine::Options& asked) {
  engine::Options options = asked;
  options.prefer = engine::Prefer::kNative;
  all.push_back(engine_of("LEAPP's own engine", "onnx", options, "reinstall LEAPP"));
  options.prefer = engine::Prefer::kOnnxRuntime;
  all.push_back(engine_of("ONNX Runtime", "onnx", options,
                          "only needed for models that LEAPP's own engine does not cover: pip install onnxruntime, or "
                          "--onnxruntime with the path of libonnxruntime.so"));
  const std::vector<std::string> plugins = runtime::torch_plugins_in(runtime::plugin_folders());
  std::string names;
  for (const std::string& plugin : plugins) names += (names.empty() ? "" : ", ") + plugin;
  all.push_back({"engine", "TorchScript", !plugins.empty(), plugins.empty() ? "no torch engine installed" : names,
                 plugins.empty() ? "only needed for bundles with jit nodes: install the package with torch, or export "
                                   "with export_with=\"onnx\""
                                 : ""});
}

void add_machine(std::vector<Diagnosis>& all) {
  all.push_back({"machine", "processor", true,
                 fmt::format("{}, {}", processor(), plural(std::thread::hardware_concurrency(), "core")), ""});
#if defined(__x86_64__)
  std::string features;
  const auto add = [&](bool there, const char* name) {
    if (there) features += std::string(features.empty() ? "" : ", ") + name;
  };
  add(__builtin_cpu_supports("sse4.2") != 0, "SSE4.2");
  add(__builtin_cpu_supports("avx2") != 0, "AVX2");
  add(__builtin_cpu_supports("fma") != 0, "FMA");
  add(__builtin_cpu_supports("avx512f") != 0, "AVX-512");
  all.push_back({"machine", "instruction sets", true, features.empty() ? "SSE2" : features, ""});
#elif defined(__aarch64__)
  all.push_back({"machine", "instruction sets", true, "NEON", ""});
#endif
}

void add_realtime(std::vector<Diagnosis>& all) {
  const bool patched = first_line("/sys/kernel/realtime") == "1";
  all.push_back({"real time", "kernel", patched, patched ? "PREEMPT_RT" : "not PREEMPT_RT",
                 patched ? "" : "for loops above 200 Hz: install a PREEMPT_RT kernel (Debian: linux-image-rt-amd64)"});
  rlimit priority{};
  ::getrlimit(RLIMIT_RTPRIO, &priority);
  const bool allowed = ::geteuid() == 0 || priority.rlim_cur > 0;
  all.push_back({"real time", "real-time priority", allowed, allowed ? "allowed" : "not allowed for this user",
                 allowed ? "" : "add \"@realtime - rtprio 98\" to /etc/security/limits.d and join the group"});
  rlimit locked{};
  ::getrlimit(RLIMIT_MEMLOCK, &locked);
  const bool lockable = ::geteuid() == 0 || locked.rlim_cur == RLIM_INFINITY;
  all.push_back({"real time", "memory locking", lockable,
                 lockable ? "unlimited" : fmt::format("at most {}", size_text(locked.rlim_cur)),
                 lockable ? "" : "add \"@realtime - memlock unlimited\" to /etc/security/limits.d and join the group"});
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty()) {
    const bool steady = governor == "performance";
    all.push_back({"real time", "frequency governor", steady, governor,
                   steady ? "" : "for steady step times: cpupower frequency-set -g performance"});
  }
}

void add_pictures(std::vector<Diagnosis>& all) {
  const auto drawing = draw::draw({}, {.png = false, .page = true});
  const bool found = drawing.ok() || drawing.status().code() != StatusCode::kNotFound;
  all.push_back({"pictures", "leapp view", found, found ? "draws with Graphviz" : one_line(drawing.status().message()),
                 found ? "" : "Debian: apt-get install libgraphviz-dev, then build LEAPP again"});
}

Result<ExitCode> doctor(const engine::Options& options, Context& context) {
  std::vector<Diagnosis> all;
  add_engines(all, options);
  add_machine(all);
  add_realtime(all);
  add_pictures(all);
  if (context.json) {
    Json list = Json::array();
    for (const Diagnosis& one : all) {
      list.push_back({{"topic", one.topic},
                      {"what", one.what},
                      {"found", one.found},
                      {"detail", one.detail},
                      {"remedy", one.remedy}});
    }
    context.print_json({{"version", LEAPP_VERSION}, {"diagnoses", list}});
    return ExitCode::kFine;
  }
  Table table({{.title = ""}, {.title = "component"}, {.title = "found"}});
  for (const Diagnosis& one : all) {
    table.add({one.found ? "ok" : "--", one.what, one.detail}, one.found ? Style::kPlain : Style::kYellow);
    if (!one.remedy.empty()) table.add({"", "", "-> " + one.remedy}, Style::kDim);
  }
  context.print(fmt::format("LEAPP {}\n\n{}", LEAPP_VERSION, table.text(context)));
  const bool usable = all.front().found || all[1].found;
  return usable ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  const auto options = std::make_shared<engine::Options>();
  CLI::App& command = add_command(app, context,
                                  {.name = "doctor",
                                   .summary = "Show what is installed, what is missing and how to get it",
                                   .examples = "  leapp doctor\n  leapp doctor --json"},
                                  [options, &context] { return doctor(*options, context); });
  command.add_option("--onnxruntime", options->onnxruntime_library, "Path of libonnxruntime.so, or of its folder");
}

}  // namespace leapp::cli
