// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of the analysis: a trace as text in, what became of its nodes as text out.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "capture/branches/paths.h"
#include "capture/branches/unguarded_variants.h"
#include "capture/state/state_analysis.h"
#include "capture/trace/slice.h"
#include "capture/trace/to_graph.h"
#include "capture/trace/trace_text.h"
#include "capture/trace/value_key.h"
#include "graph/text.h"

namespace leapp::capture::testing {

inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A tensor of the program that a call writes to: self.h += obs
inline constexpr const char* kKeptInPlace = R"(
call policy in pass 0
graph policy(%obs: float32[2]) {
  %h = constant float32[2] [0, 0]
  %0: float32[2] = aten::add.Tensor(self=%h, other=%obs, alpha=1)
  %1: float32[2] = aten::mul.Tensor(self=%0, other=2.0)
  return (action=%1)
}
memory @h = float32[2] [0, 0]
wrote @h float32[2]
holds @h float32[2] = %0
constant %h named "h" at "policy.py":7 copied overwritten in @h float32[2]
)";

/// A log that can be read.
class TestLog {
 public:
  TestLog() {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() / fmt::format("leapp_trace_test_{}_{}", ::getpid(), count++);
    std::filesystem::create_directories(folder_);
    log_ = Logger::open(folder_).value();
  }
  ~TestLog() {
    log_.reset();
    std::filesystem::remove_all(folder_);
  }
  TestLog(const TestLog&) = delete;
  TestLog& operator=(const TestLog&) = delete;

  Logger& log() { return *log_; }
  [[nodiscard]] const std::shared_ptr<Logger>& shared() const { return log_; }
  [[nodiscard]] std::string text() const {
    std::ifstream file(folder_ / Logger::kFileName);
    return (std::stringstream() << file.rdbuf()).str();
  }

 private:
  std::filesystem::path folder_;
  std::shared_ptr<Logger> log_;
};

/// The records of the calls of a trace, before stop().
class RecordedCalls {
 public:
  explicit RecordedCalls(const std::string& text) {
    auto trace = parse_trace(text);
    EXPECT_TRUE(trace.ok()) << trace.status().message();
    if (!trace.ok()) return;
    trace_ = std::move(trace).value();
    for (const TracedCall& call : trace_.calls) add(call);
  }

  [[nodiscard]] NodeRecord& node(const std::string& name) {
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& item) { return item->name == name; });
    EXPECT_NE(found, nodes_.end()) << name;
    return **found;
  }

 protected:
  Trace trace_;  // who has the memory of its calls
  TestLog log_;
  LiteralEvaluator evaluator_;
  StateAnalysis analysis_{evaluator_, log_.log()};
  TraceBuilder builder_{[](auto&&...) {}, TraceBuilder::kProgram * 2};
  std::vector<std::unique_ptr<NodeRecord>> nodes_;
  std::vector<KeptTensor> kept_;
  std::vector<Holder> holders_;

 private:
  void add(const TracedCall& call) {
    for (const auto& [memory, state] : call.memories) memory->set(state);
    Survivors survivors;
    for (const TracedCall::Kept& kept : call.kept) {
      const std::uint64_t key = ValueKeys().of(kept.value);
      survivors.try_emplace(key, kept.value);
      if (kept.holder.kind == Holder::Kind::kUnknown) continue;
      kept_.push_back({call.trace.node, "", call.trace.pass, key, nullptr, kept.value->type});
      holders_.push_back(kept.holder);
    }
    const auto known =
        std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& item) { return item->name == call.trace.node; });
    NodeRecord& record = known == nodes_.end() ? *nodes_.emplace_back(std::make_unique<NodeRecord>()) : **known;
    if (record.calls == 0) {
      record.name = call.trace.node;
      record.inputs = call.inputs;
      record.outputs = call.outputs;
      record.output_values = call.trace.outputs;
      record.first_pass = call.trace.pass;
      record.options.export_with = "jit";
    }
    CallTrace trace = call.trace;
    trace.call = record.calls;
    trace.signature = signature_of_call(call);
    if (!trace.guards.empty()) trace.ends = ends_of(trace, call);
    const TakenPath taken = take_path(record, trace);
    const UnguardedVariant way = analysis_.begin_way(taken, trace, builder_, [&] { return ends_of(trace, call); });
    LaterCall later_of_way;
    if (way.way && !way.is_new) later_of_way = StateAnalysis::look_at(*way.way, trace, builder_);
    if (!trace.guards.empty() || way.way) StateAnalysis::look_at_memory(record, taken.path, trace.call);
    if (taken.first) {
      analysis_.first_call(*taken.path, trace, builder_);
      taken.path->survivors = std::move(survivors);
    } else if (taken.path) {
      const LaterCall later = StateAnalysis::look_at(*taken.path, trace, builder_);
      const Compared compared = analysis_.compare(*taken.path, later, survivors, true);
      analysis_.compare_way(*taken.path, way, {trace, later_of_way, survivors, compared});
    }
    record.samples.push_back(
        {record.calls, std::vector<ContentPtr>(call.inputs.size()), std::vector<ContentPtr>(call.outputs.size())});
    ++record.calls;
  }

  static std::uint64_t signature_of_call(const TracedCall& call) {
    std::vector<ValuePtr> values = call.trace.outputs;
    for (const BranchCondition& guard : call.trace.guards) values.push_back(guard.value);
    for (const TracedCall::Kept& kept : call.kept) values.push_back(kept.value);
    for (const auto& [memory, state] : call.memories) {
      for (const Memory::Layer& layer : state.layers) values.push_back(layer.value);
    }
    return signature_of(values);
  }

  std::vector<MemoryEnd> ends_of(const CallTrace& trace, const TracedCall& call) {
    std::vector<MemoryEnd> ends;
    for (const auto& [memory, state] : call.memories) {
      if (state.writes.empty() || !state.alive) continue;
      const Geometry whole = memory->whole(state.writes[0].dtype);
      if (ValuePtr value = end_value(*memory, whole, trace.activation, builder_))
        ends.push_back({memory, whole, std::move(value)});
    }
    return ends;
  }
};

/// What stop() would make of them.
class Analysed : public RecordedCalls {
 public:
  explicit Analysed(const std::string& text, Leaks leaks = Leaks::kPromote) : RecordedCalls(text) {
    StartOptions options;
    options.leaks = leaks;
    const auto find = [&](const std::vector<std::size_t>& positions) {
      std::vector<Holder> found;
      for (const std::size_t position : positions) found.push_back(holders_[position]);
      return found;
    };
    analysis_.finish(nodes_, options, {kept_, find, {}});
  }

  /// "policy(obs, ema = policy/ema of the pass before) -> (action, ema)", a line a node.
  [[nodiscard]] std::string ports() const {
    std::string text;
    for (const auto& node : nodes_) {
      std::vector<std::string> inputs;
      for (const PortRecord& input : node->inputs) inputs.push_back(input.name + source_text(input));
      std::vector<std::string> outputs;
      for (const PortRecord& output : node->outputs) outputs.push_back(output.name);
      text += fmt::format("{}({}) -> ({})\n", node->name, join(inputs, ", "), join(outputs, ", "));
    }
    return text;
  }

  /// What is going to be exported.
  [[nodiscard]] std::string graph(const std::string& name) {
    NodeRecord& record = node(name);
    seal_constants(slice_of(record.output_values));
    const auto made = to_graph(record);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? graph::print(made.value()) : "";
  }

  /// What the samples hold for a port, call by call: "[0, 0] [1, 2]". "?": not known.
  [[nodiscard]] std::string samples_of_input(const std::string& name, const std::string& port) {
    std::string text;
    NodeRecord& record = node(name);
    for (std::size_t i = 0; i < record.inputs.size(); ++i) {
      if (record.inputs[i].name != port) continue;
      for (const Sample& sample : record.samples) {
        text += text.empty() ? "" : " ";
        text += sample.inputs.at(i) ? sample.inputs[i]->text() : "?";
      }
    }
    return text;
  }

  [[nodiscard]] std::string log() const { return log_.text(); }
  [[nodiscard]] std::string divergences(const std::string& name) {
    std::string text;
    for (const Divergence& divergence : node(name).divergences) text += divergence.text + "\n";
    return text;
  }

 private:
  static std::string source_text(const PortRecord& input) {
    if (!input.source) return "";
    return fmt::format(" = {}/{}{}", input.source->node, input.source->port,
                       input.source->feedback ? " of the pass before" : "");
  }
};

}  // namespace leapp::capture::testing
