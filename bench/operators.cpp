// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Models on LEAPP's own engine and on ONNX Runtime, one thread, in turns. A line of JSON for each file: median
// microseconds of both, the kernels that run it, and what the choice between the engines thinks of it.
//
//   bench_operators FILE.onnx...
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "engine/native/native_engine.h"
#include "engine/native/program.h"
#include "engine/ort/ort_engine.h"

namespace leapp::bench {
namespace {

/// A model on memory of its own.
class Loaded {
 public:
  explicit Loaded(std::unique_ptr<engine::EngineModel> model) : model_(std::move(model)) {
    engine::Binding binding;
    for (const bool input : {true, false}) {
      for (const engine::TensorInfo& info : input ? model_->inputs() : model_->outputs()) {
        const std::size_t size = engine::buffer_size(*info.dtype, *info.shape).value_or(0);
        memory_.emplace_back(size);
        if (input) fill(memory_.back().data(), size, *info.dtype);
        (input ? binding.inputs : binding.outputs)
            .push_back({info.name, *info.dtype, *info.shape, memory_.back().data()});
      }
    }
    const auto number = model_->prepare(binding);
    if (!number.ok()) why_ = number.status().message();
    number_ = number.ok() ? number.value() : 0;
  }

  [[nodiscard]] const std::string& why() const { return why_; }
  /// Microseconds of one run, of `count` in a row: of this thread's work, so that others on the machine do not count.
  double run(int count) {
    const double start = worked();
    for (int i = 0; i < count; ++i) static_cast<void>(model_->run(number_));
    return (worked() - start) / count;
  }

 private:
  static double worked() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
  }

  static void fill(std::byte* data, std::size_t size, DType dtype) {
    if (dtype == DType::kFloat32) {
      for (std::size_t i = 0; i < size / 4; ++i) {
        const float number = 0.01F * static_cast<float>(i * 7919 % 193) - 0.9F;
        std::memcpy(data + i * 4, &number, 4);
      }
    }
  }

  std::vector<native::AlignedMemory> memory_;
  std::unique_ptr<engine::EngineModel> model_;
  std::size_t number_ = 0;
  std::string why_;
};

double median(std::vector<double>& times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

std::string compare(Loaded& own, Loaded& other) {
  std::vector<double> times[2];
  const int many = std::clamp(static_cast<int>(300 / std::max(own.run(3) + other.run(3), 0.5)), 1, 300);
  for (int block = 0; block < 15; ++block) {
    for (int side = 0; side < 2; ++side) {
      Loaded& one = side == 0 ? own : other;
      one.run(many / 3 + 1);
      times[side].push_back(one.run(many));
    }
  }
  return fmt::format("\"native\": {:.3f}, \"onnxruntime\": {:.3f}", median(times[0]), median(times[1]));
}

/// The names of the calls, as the plan's text has them.
std::vector<std::string> kernels_of(const engine::ModelSource& source) {
  std::vector<std::string> names;
  const auto plan = native::plan_text(source);
  const std::string text = plan.ok() ? plan.value() : "";
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::size_t end = std::min(line.find(" read "), line.find(" write "));
    if (line.find("  # ") != std::string::npos && end != std::string::npos) names.push_back(line.substr(0, end));
    if (text.find('\n', at) == std::string::npos) break;
  }
  return names;
}

int run(const std::string& file) {
  const engine::ModelSource source{.name = file, .path = file, .bytes = {}};
  auto attempted = native::attempt(source);
  auto engine = engine::open_onnxruntime({});
  if (!attempted.ok() || !attempted.value().model || !engine.ok()) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(),
                 !attempted.ok() ? attempted.status().message().c_str()
                 : !engine.ok()  ? engine.status().message().c_str()
                                 : native::describe(attempted.value().uncovered).c_str());
    return 1;
  }
  auto other_model = engine.value()->load(source);
  if (!other_model.ok()) {
    std::fprintf(stderr, "%s\n", other_model.status().message().c_str());
    return 1;
  }
  const native::Speed speed = attempted.value().speed;
  Loaded own(std::move(attempted.value().model));
  Loaded other(std::move(other_model).value());
  if (!own.why().empty() || !other.why().empty()) {
    std::fprintf(stderr, "%s%s\n", own.why().c_str(), other.why().c_str());
    return 1;
  }
  std::vector<std::string> names;
  for (const std::string& name : kernels_of(source)) names.push_back('"' + name + '"');
  std::printf("{\"file\": \"%s\", %s, \"wins\": %s, \"saved\": %.3f, \"lost\": %.3f, \"kernels\": [%s]}\n",
              file.c_str(), compare(own, other).c_str(), speed.wins() ? "true" : "false", speed.saved / 1000,
              speed.lost / 1000, fmt::format("{}", fmt::join(names, ", ")).c_str());
  std::fflush(stdout);
  return 0;
}

}  // namespace
}  // namespace leapp::bench

int main(int count, char** arguments) {
  int failed = 0;
  for (int i = 1; i < count; ++i) failed += leapp::bench::run(arguments[i]);
  return failed == 0 ? 0 : 1;
}
