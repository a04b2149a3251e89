// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps a bundle of ONNX models and prints JSON; times in microseconds, [p50, p99, p99.9].
//
//   bench_runtime step FOLDER STEPS    our pipeline and bare ONNX Runtime, on FOLDER/merged.onnx and on the models
//   bench_runtime engines FOLDER STEPS LEAPP's own engine and bare ONNX Runtime, and what "auto" takes
//   bench_runtime load FOLDER TIMES    milliseconds: the first in the process, and the best of the others
//   bench_runtime memory FOLDER        what the process holds after 100 steps, in MB
//
// With "native" behind them, the last two are of LEAPP's own engine; such a process never loads ONNX Runtime.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "leapp/runtime/pipeline.h"
#include "raw.h"
#include "runtime/pipeline/fuse.h"

namespace leapp::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

/// Something to time, and what it took.
struct Row {
  std::string name;
  std::function<void()> step;
  std::vector<double> times;
};

// In turns, so that whatever else the machine does hits all of them.
void measure(std::vector<Row>& rows, int steps) {
  constexpr int kBlocks = 50;
  const int warm = std::clamp(steps / kBlocks / 4, 1, 20);
  for (int block = 0; block < kBlocks; ++block) {
    for (Row& row : rows) {
      for (int i = 0; i < warm; ++i) row.step();
      for (int i = 0; i < steps / kBlocks; ++i) {
        const auto start = Clock::now();
        row.step();
        row.times.push_back(microseconds(Clock::now() - start));
      }
    }
  }
}

std::string percentiles(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[std::min(times.size() - 1, static_cast<std::size_t>(static_cast<double>(times.size()) * part))];
  };
  return fmt::format("[{:.3f}, {:.3f}, {:.3f}]", at(0.5), at(0.99), at(0.999));
}

fs::path yaml_of(const fs::path& folder) { return folder / (folder.filename().string() + ".yaml"); }

/// On ONNX Runtime.
runtime::Pipeline load(const fs::path& folder, bool fuse) {
  runtime::LoadOptions options;
  options.fuse = fuse;
  options.engine.prefer = engine::Prefer::kOnnxRuntime;
  auto pipeline = runtime::Pipeline::load(yaml_of(folder), options);
  if (!pipeline.ok() || pipeline.value().fusion().ok() != fuse) {
    std::fprintf(stderr, "%s\n", pipeline.ok() ? "not fused" : pipeline.status().message().c_str());
    std::exit(1);
  }
  return std::move(pipeline).value();
}

/// On LEAPP's own engine, if that covers the models.
std::optional<runtime::Pipeline> load_native(const fs::path& folder) {
  runtime::LoadOptions options;
  options.engine.prefer = engine::Prefer::kNative;
  auto pipeline = runtime::Pipeline::load(yaml_of(folder), options);
  if (!pipeline.ok()) std::fprintf(stderr, "%s\n", pipeline.status().message().c_str());
  return pipeline.ok() ? std::optional(std::move(pipeline).value()) : std::nullopt;
}

std::vector<fs::path> files_of(const fs::path& folder, const bundle::BundleSpec& spec) {
  std::vector<fs::path> files;
  for (const bundle::Model& model : spec.models) files.push_back(folder / *model.parameters.model_path);
  return files;
}

// The least that a step can take: every weight is read once. In wide words and four sums, so that it is the memory that
// takes the time.
using Word = std::uint64_t __attribute__((vector_size(32)));

#if defined(__x86_64__)
__attribute__((target_clones("avx2", "default")))
#endif
std::uint64_t
read_all(const Word* words, std::size_t count) {
  Word sums[4] = {};
  for (std::size_t i = 0; i + 4 <= count; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += words[i + k];
  }
  const Word sum = sums[0] + sums[1] + sums[2] + sums[3];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

void step(const fs::path& folder, int steps) {
  runtime::Pipeline fused = load(folder, true);
  runtime::Pipeline separate = load(folder, false);
  const bundle::BundleSpec& spec = fused.spec();
  const bundle::Wiring wiring = bundle::check_wiring(spec).value();
  const auto library = engine::ort::find_library({}).value();
  RawPipeline bare_each(*library, spec, wiring, files_of(folder, spec));
  runtime::FusedPipeline one = runtime::fuse_wiring(spec, wiring, runtime::whole_name);
  bundle::BundleSpec merged;
  merged.models = {one.model};
  RawPipeline bare(*library, merged, one.wiring, {folder / "merged.onnx"});

  std::size_t bytes = 0;
  for (const fs::path& file : files_of(folder, spec)) bytes += fs::file_size(file);
  const std::vector<Word> weights(bytes / sizeof(Word), Word{1, 1, 1, 1});
  volatile std::uint64_t sink = 0;
  const std::span<float> fused_input = fused.input<float>(fused.inputs().front()).value();
  const std::span<float> separate_input = separate.input<float>(separate.inputs().front()).value();
  float value = 0;
  const auto ours = [&](runtime::Pipeline& pipeline, std::span<float> input) {
    input[0] = value += 0.001F;
    if (pipeline.step() != runtime::StepResult::kOk) std::exit(1);
  };
  const auto theirs = [&](RawPipeline& pipeline) {
    pipeline.input()[0] = value += 0.001F;
    pipeline.step();
  };
  std::vector<Row> rows;
  std::optional<runtime::Pipeline> native = load_native(folder);
  if (native) {
    const std::span<float> input = native->input<float>(native->inputs().front()).value();
    rows.push_back({"native", [&native, &ours, input] { ours(*native, input); }, {}});
  }
  rows.push_back({"fused", [&] { ours(fused, fused_input); }, {}});
  rows.push_back({"bare_merged", [&] { theirs(bare); }, {}});
  rows.push_back({"separate", [&] { ours(separate, separate_input); }, {}});
  rows.push_back({"bare_separate", [&] { theirs(bare_each); }, {}});
  rows.push_back({"floor", [&] { sink = sink + read_all(weights.data(), weights.size()); }, {}});
  measure(rows, steps);
  std::string text;
  for (Row& row : rows) text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", row.name, percentiles(row.times));
  std::printf("{%s}\n", text.c_str());
}

// What a robot would choose between, and nothing else: rows that share a process share its caches.
void compare_engines(const fs::path& folder, int steps) {
  std::optional<runtime::Pipeline> native = load_native(folder);
  auto chosen = runtime::Pipeline::load(yaml_of(folder));
  if (!native || !chosen.ok()) std::exit(1);
  const bundle::BundleSpec& spec = native->spec();
  const bundle::Wiring wiring = bundle::check_wiring(spec).value();
  runtime::FusedPipeline one = runtime::fuse_wiring(spec, wiring, runtime::whole_name);
  bundle::BundleSpec merged;
  merged.models = {one.model};
  const auto library = engine::ort::find_library({}).value();
  RawPipeline bare(*library, merged, one.wiring, {folder / "merged.onnx"});
  std::size_t bytes = 0;
  for (const fs::path& file : files_of(folder, spec)) bytes += fs::file_size(file);
  const std::vector<Word> weights(bytes / sizeof(Word), Word{1, 1, 1, 1});
  volatile std::uint64_t sink = 0;
  const std::span<float> input = native->input<float>(native->inputs().front()).value();
  float value = 0;
  std::vector<Row> rows;
  rows.push_back({"native",
                  [&] {
                    input[0] = value += 0.001F;
                    if (native->step() != runtime::StepResult::kOk) std::exit(1);
                  },
                  {}});
  rows.push_back({"bare_merged",
                  [&] {
                    bare.input()[0] = value += 0.001F;
                    bare.step();
                  },
                  {}});
  rows.push_back({"floor", [&] { sink = sink + read_all(weights.data(), weights.size()); }, {}});
  measure(rows, steps);
  std::string text = fmt::format("\"auto\": \"{}\"", chosen.value().engine().front().native ? "native" : "onnxruntime");
  for (Row& row : rows) text += fmt::format(", \"{}\": {}", row.name, percentiles(row.times));
  std::printf("{%s}\n", text.c_str());
}

void time_native_load(const fs::path& folder, int times) {
  std::vector<double> found;
  for (int i = 0; i < times; ++i) {
    const auto start = Clock::now();
    if (!load_native(folder)) std::exit(1);
    found.push_back(microseconds(Clock::now() - start) / 1e3);
  }
  std::printf("{\"first_ms\": %.3f, \"then_ms\": %.3f}\n", found.front(),
              *std::min_element(found.begin() + 1, found.end()));
}

void time_load(const fs::path& folder, int times) {
  std::string text;
  for (const bool fuse : {true, false}) {
    std::vector<double> found;
    for (int i = 0; i < times; ++i) {
      const auto start = Clock::now();
      load(folder, fuse);
      found.push_back(microseconds(Clock::now() - start) / 1e3);
    }
    const double first = found.front();
    text += fmt::format("{}\"{}\": {{\"first_ms\": {:.3f}, \"then_ms\": {:.3f}}}", text.empty() ? "" : ", ",
                        fuse ? "fused" : "separate", first, *std::min_element(found.begin() + 1, found.end()));
  }
  std::printf("{%s}\n", text.c_str());
}

void memory(const fs::path& folder, bool native) {
  runtime::Pipeline pipeline = native ? load_native(folder).value() : load(folder, true);
  for (int i = 0; i < 100; ++i) {
    if (pipeline.step() != runtime::StepResult::kOk) std::exit(1);
  }
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) std::printf("{\"resident_mb\": %.1f}\n", std::atof(line.c_str() + 6) / 1024);
  }
}

}  // namespace
}  // namespace leapp::bench

int main(int count, char** arguments) {
  const std::string command = count > 2 ? arguments[1] : "";
  const std::filesystem::path folder = count > 2 ? arguments[2] : "";
  const int number = count > 3 ? std::atoi(arguments[3]) : 0;
  const bool native = std::string(arguments[count - 1]) == "native";
  if (command == "step" && number > 0) {
    leapp::bench::step(folder, number);
  } else if (command == "engines" && number > 0) {
    leapp::bench::compare_engines(folder, number);
  } else if (command == "load" && number > 1 && native) {
    leapp::bench::time_native_load(folder, number);
  } else if (command == "load" && number > 1) {
    leapp::bench::time_load(folder, number);
  } else if (command == "memory") {
    leapp::bench::memory(folder, native);
  } else {
    std::fprintf(stderr,
                 "usage: bench_runtime step|engines FOLDER STEPS | load FOLDER TIMES [native] | "
                 "memory FOLDER [native]\n");
    return 2;
  }
  return 0;
}
