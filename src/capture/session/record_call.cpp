// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/record_call.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "capture/branches/paths.h"
#include "capture/branches/unguarded_variants.h"
#include "capture/hook/arguments.h"
#include "capture/session/checks.h"

namespace leapp::capture {
namespace {

constexpr std::size_t kMaxBeyond = 32;  // samples of calls that differ, beyond max_cached_io
constexpr int kMaxAsked = 2;            // looking for a name that is not there takes Python 50 ms

template <typename Ports>
auto port_named(Ports& ports, const std::string& name) {
  return std::find_if(ports.begin(), ports.end(), [&](const auto& port) { return port.name == name; });
}

template <typename Ports>
bool has(const Ports& ports, const std::string& name) {
  return port_named(ports, name) != ports.end();
}

void merge_sources(NodeRecord& record, const NodeCall& call) {
  for (const PortRecord& input : call.inputs()) {
    const auto port = port_named(record.inputs, input.name);
    // Whether they agree was checked when it was announced.
    if (port != record.inputs.end()) std::ignore = merge_source(record.name, *port, input.source);
  }
}

}  // namespace

OpenQuestions CallRecorder::close(const NodeCall& call, const CallOutputs& outputs, NodeRecord* record,
                                  const OutputOptions& options, LocationId where) {
  CallTrace trace = call.trace(outputs, pass_);
  if (!record) {
    record = &begin_record(call, outputs, trace);
    record->options = options;
    record->closed_at = where;
  } else {
    merge_sources(*record, call);
  }
  trace.call = record->calls;
  const TakenPath taken = take_path(*record, trace);
  TraceBuilder& builder = recorder_.builder();
  const UnguardedVariant way =
      analysis_.begin_way(taken, trace, builder, [&] { return recorder_.table().ends(trace.activation); });
  LaterCall later;
  LaterCall later_of_way;
  if (way.way && !way.is_new) later_of_way = StateAnalysis::look_at(*way.way, trace, builder);
  if (taken.first) {
    analysis_.first_call(*taken.path, trace, builder);
  } else if (taken.path) {
    later = StateAnalysis::look_at(*taken.path, trace, builder);
  }
  const bool sampled = taken.first || keeps_sample(*record);
  if (sampled && (!trace.guards.empty() || way.way)) StateAnalysis::look_at_memory(*record, taken.path, trace.call);
  Survivors survivors = recorder_.close(call.activation(), pass_);
  Compared compared{.keeps = taken.first};
  if (taken.path && !taken.first) {
    compared = analysis_.compare(*taken.path, later, survivors, sampled);
    analysis_.compare_way(*taken.path, way, {trace, later_of_way, survivors, compared});
  }
  const bool keeps = compared.keeps;
  if (taken.first) taken.path->survivors = std::move(survivors);
  OpenQuestions questions{.path = taken.path ? taken.path->first_call : 0, .call = record->calls};
  if (keeps) {
    keep_sample(*record, call, outputs.ports);
    questions.next = keep_next_values(*taken.path, call, record->calls);
  }
  ++record->calls;
  publish(*record, outputs);
  if (taken.path) questions.nameless = nameless(*taken.path);
  if (taken.first && !trace.guards.empty()) questions.ends = nameless_ends(*taken.path);
  return questions;
}

NodeRecord& CallRecorder::begin_record(const NodeCall& call, const CallOutputs& outputs, const CallTrace& trace) {
  recording_.nodes.push_back(std::make_unique<NodeRecord>());
  NodeRecord& record = *recording_.nodes.back();
  record.name = call.node();
  record.inputs = call.inputs();
  record.first_pass = pass_;
  for (const auto& [name, tensor, semantics] : outputs.ports) {
    record.outputs.push_back(
        {name, type_of(tensor), std::nullopt, semantics, has(call.updates(), name), tensor.device()});
  }
  record.output_values = trace.outputs;
  for (PortRecord& input : record.inputs) {
    if (input.state && has(call.updates(), input.name)) input.source = Source{record.name, input.name, true};
  }
  return record;
}

bool CallRecorder::keeps_sample(const NodeRecord& record) const {
  return record.calls <= static_cast<std::size_t>(std::max(0, recording_.options.max_cached_io));
}

void CallRecorder::keep_sample(NodeRecord& record, const NodeCall& call, const PortTensors& outputs) {
  Sample sample;
  sample.call = record.calls;
  // Of many calls that differ, the first ones and the last.
  const bool beyond =
      record.samples.size() >= static_cast<std::size_t>(std::max(0, recording_.options.max_cached_io)) + kMaxBeyond;
  if (!keeps_sample(record) && beyond) record.samples.pop_back();
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    const auto at = port_named(call.inputs(), record.inputs[i].name);
    // A call that does not announce an input does not need it: what it held before is as good as anything.
    sample.inputs.push_back(
        at == call.inputs().end()
            ? record.samples.back().inputs[i]
            : content_of(call.input_values()[static_cast<std::size_t>(at - call.inputs().begin())]));
  }
  for (const PortTensor& output : outputs) sample.outputs.push_back(copied_content(output.tensor));
  record.samples.push_back(std::move(sample));
}

OpenQuestions::Holders CallRecorder::keep_next_values(NodeRecord& record, const NodeCall& call, std::size_t number) {
  OpenQuestions::Holders holders;
  for (std::size_t i = 0; i < record.leaks.size(); ++i) {
    Leak& leak = record.leaks[i];
    if (leak.source.node != record.name || !leak.source.port.empty() || leak.source.delay != 1) continue;
    if (const at::Tensor* now = call.buffers().at_end(leak)) {
      if (now->defined()) leak.next[number] = copied_content(*now);
    } else if (leak.in_place) {
      leak.next[number] = leak.memory->content_before(leak.place);
    } else if (auto holder = recorder_.table().tensors().holder_of(leak.source, pass_)) {
      holders.emplace_back(i, std::move(*holder));
    }
  }
  return holders;
}

void CallRecorder::publish(const NodeRecord& node, const CallOutputs& outputs) {
  TensorTable& table = recorder_.table();
  for (std::size_t i = 0; i < outputs.ports.size(); ++i) {
    const auto& [name, tensor, semantics] = outputs.ports[i];
    const ValuePtr before = table.find_own(tensor);
    const bool twice = before && before->kind == TracedKind::kPublished && before->origin->node == node.name &&
                       before->origin->pass == pass_;
    if (twice) continue;
    Origin origin{.node = node.name, .port = name, .pass = pass_, .constant = outputs.constant[i]};
    origin.content_hash = content_hash(tensor);
    table.bind_content(tensor, make_value(TracedKind::kPublished, type_of(tensor), std::move(origin)));
  }
}

OpenQuestions::Holders CallRecorder::nameless_ends(const NodeRecord& record) {
  OpenQuestions::Holders holders;
  for (std::size_t i = 0; i < record.ends.size(); ++i) {
    auto holder = recorder_.table().tensors().holder_of(*record.ends[i].memory, record.ends[i].place);
    if (holder) holders.emplace_back(i, std::move(*holder));
  }
  return holders;
}

OpenQuestions::Holders CallRecorder::nameless(const NodeRecord& record) {
  OpenQuestions::Holders holders;
  for (std::size_t i = 0; i < record.leaks.size(); ++i) {
    const Leak& leak = record.leaks[i];
    if (!leak.name.empty() || leak.asked >= kMaxAsked) continue;
    const TensorEntries& tensors = recorder_.table().tensors();
    auto holder = leak.in_place ? tensors.holder_of(*leak.memory, leak.place) : std::nullopt;
    if (!holder) holder = tensors.holder_of(leak.source, pass_);
    if (!holder) holder = tensors.holder_of(leak.source, pass_ - leak.source.delay);  // it is still there
    if (holder) holders.emplace_back(i, std::move(*holder));
  }
  return holders;
}

void answer(const OpenQuestions& questions, NodeRecord& node, OpRecorder& recorder, FrontEnd& front_end) {
  for (const auto& [index, holder] : questions.next) {
    const at::Tensor tensor = capture::locked(holder);
    if (!tensor.defined()) continue;
    const ContentPtr copy = copied_content(tensor);
    const auto guard = recorder.lock();
    if (NodeRecord* path = find_path(node, questions.path)) path->leaks[index].next[questions.call] = copy;
  }
  if (questions.nameless.empty() && questions.ends.empty()) return;
  const auto ask = [&](const OpenQuestions::Holders& holders) {
    std::vector<std::string> names;
    for (const auto& [index, holder] : holders) names.push_back(front_end.holder_name(capture::locked(holder)));
    return names;
  };
  const std::vector<std::string> names = ask(questions.nameless);
  const std::vector<std::string> ends = ask(questions.ends);
  const auto guard = recorder.lock();
  NodeRecord* path = find_path(node, questions.path);
  for (std::size_t i = 0; path && i < names.size(); ++i) {
    Leak& leak = path->leaks[questions.nameless[i].first];
    leak.name = names[i];
    ++leak.asked;
  }
  for (std::size_t i = 0; path && i < ends.size(); ++i) path->ends[questions.ends[i].first].name = ends[i];
}

}  // namespace leapp::capture
