// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/native_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "engine/native/kernels/kernels.h"
#include "engine/native/memory.h"
#include "engine/native/native_model.h"
#include "engine/native/passes.h"

namespace leapp::native {
namespace {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return io_error(fmt::format("{}: cannot be read", path.string()));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string engine_text() { return fmt::format("native ({})", kernels::instruction_set()); }

std::string line(const Uncovered& one) {
  return fmt::format("{} {} (makes {}): {}", one.op, quote(one.node), quote(one.port), one.why);
}

std::vector<engine::OperatorReport> report_of(const LoweringResult& lowered) {
  std::vector<engine::OperatorReport> rows;
  std::unordered_map<std::string, std::size_t> places;
  const auto add = [&](const std::string& name, std::size_t count) {
    places.emplace(name, rows.size());
    rows.push_back({name, count, true, ""});
  };
  for (const auto& [name, count] : lowered.operators) add(name, count);
  for (const Uncovered& one : lowered.uncovered) {
    // What is missing may be no operator: an input of no fixed shape, weights in another file.
    if (!places.contains(one.op)) add(one.op, 1);
    engine::OperatorReport& row = rows[places.at(one.op)];
    if (!row.native) continue;
    row.native = false;
    row.why = fmt::format("{} (makes {}): {}", quote(one.node), quote(one.port), one.why);
  }
  return rows;
}

Result<LoweringResult> planned(const engine::ModelSource& source, onnx::Encoded bytes) {
  LEAPP_ASSIGN_OR_RETURN(LoweringResult lowered, lower({bytes, source.inputs, source.memory_limit}));
  if (!lowered.uncovered.empty()) return lowered;
  optimise(lowered.plan);
  if (const Status memory = plan_memory(lowered.plan); !memory.ok()) {
    lowered.uncovered.push_back({"model", source.name, "", memory.message()});
    return lowered;
  }
  const std::uint64_t need = std::uint64_t{lowered.plan.arena_bytes} + lowered.plan.constant_bytes;
  if (source.memory_limit > 0 && need > engine::memory_left(source)) {
    return invalid_argument(fmt::format("the model needs {} of memory to run, the option memory_limit is {}",
                                        bytes_text(need + source.memory_taken), bytes_text(source.memory_limit)));
  }
  return lowered;
}

Result<Attempt> attempt_bytes(const engine::ModelSource& source, onnx::Encoded bytes) {
  LEAPP_ASSIGN_OR_RETURN(LoweringResult lowered, planned(source, bytes));
  Attempt result;
  result.report.model = source.name;
  result.report.engine = engine_text();
  result.report.native = true;
  result.report.operators = report_of(lowered);
  result.uncovered = std::move(lowered.uncovered);
  if (!result.uncovered.empty()) return result;
  std::size_t nodes = 0;
  for (const auto& [name, count] : lowered.operators) nodes += count;
  result.speed = compare_speed(lowered.plan, nodes);
  result.model =
      std::make_unique<NativeModel>(NativeModel::Parts{source.name, std::move(lowered.plan), std::move(lowered.inputs),
                                                       std::move(lowered.outputs), source.stop, source.memory_limit});
  return result;
}

class NativeEngine final : public engine::Engine {
 public:
  [[nodiscard]] const std::string& description() const override { return description_; }

  Result<std::unique_ptr<engine::EngineModel>> load(const engine::ModelSource& source) override {
    auto attempted = attempt(source);
    if (!attempted.ok()) {
      return Status(attempted.status().code(),
                    fmt::format("cannot load {}: {}", source.name, attempted.status().message()));
    }
    if (!attempted.value().model) {
      return unimplemented(fmt::format("cannot load {}: LEAPP's own engine does not cover\n{}", source.name,
                                       describe(attempted.value().uncovered)));
    }
    attempted.value().report.why = "it was asked for";
    attempted.value().model->set_report(std::move(attempted.value().report));
    return std::move(attempted.value().model);
  }

 private:
  std::string description_ = engine_text();
};

}  // namespace

Result<Attempt> attempt(const engine::ModelSource& source) {
  if (!source.bytes.empty()) return attempt_bytes(source, source.bytes);
  LEAPP_ASSIGN_OR_RETURN(const std::string text, read_file(source.path));
  return attempt_bytes(source, std::as_bytes(std::span(text)));
}

std::string describe(const std::vector<Uncovered>& uncovered) {
  constexpr std::size_t kMostListed = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(uncovered.size(), kMostListed); ++i) {
    text += fmt::format("{}  {}", text.empty() ? "" : "\n", line(uncovered[i]));
  }
  if (uncovered.size() > kMostListed) text += fmt::format("\n  and {} more", uncovered.size() - kMostListed);
  return text;
}

std::unique_ptr<engine::Engine> open_native() { return std::make_unique<NativeEngine>(); }

Result<std::string> plan_text(const engine::ModelSource& source) {
  std::string text;
  onnx::Encoded bytes = source.bytes;
  if (bytes.empty()) {
    LEAPP_ASSIGN_OR_RETURN(text, read_file(source.path));
    bytes = std::as_bytes(std::span(text));
  }
  LEAPP_ASSIGN_OR_RETURN(const LoweringResult lowered, planned(source, bytes));
  if (!lowered.uncovered.empty()) return unimplemented(describe(lowered.uncovered));
  return print_plan(lowered.plan);
}

}  // namespace leapp::native
