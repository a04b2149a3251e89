// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session.h"

#include <ATen/ops/alias.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <utility>

#include "capture/arguments.h"
#include "capture/checks.h"
#include "capture/hook.h"
#include "capture/lengths.h"
#include "capture/outside_counters.h"
#include "capture/paths.h"
#include "capture/slice.h"
#include "capture/sources.h"
#include "capture/tensor_content.h"
#include "torch_types/failure.h"

namespace leapp::capture {
namespace {

PortTensors ports(const NamedTensors& tensors) {
  PortTensors result;
  for (const auto& [name, tensor] : tensors) result.push_back({name, tensor});
  return result;
}

std::vector<at::Tensor> aliases_of(const PortTensors& tensors) {
  const Unrecorded quiet;
  std::vector<at::Tensor> aliases;
  for (const PortTensor& port : tensors) aliases.push_back(at::alias(port.tensor));
  return aliases;
}

/// The tensors that are still there, and what is known of each.
struct Kept {
  std::vector<at::Tensor> tensors;
  std::vector<KeptTensor> known;
};

Kept locked(const std::vector<std::pair<WeakTensor, KeptTensor>>& kept) {
  Kept found;
  for (const auto& [weak, known] : kept) {
    at::Tensor tensor = capture::locked(weak);
    if (!tensor.defined()) continue;
    found.known.push_back(known);
    found.known.back().type = type_of(tensor);
    found.tensors.push_back(std::move(tensor));
  }
  return found;
}

}  // namespace

Session::Session(Recording recording, std::shared_ptr<FrontEnd> front_end)
    : recording_(std::move(recording)), front_end_(std::move(front_end)), analysis_(evaluator_, *recording_.log) {
  recorder_ =
      std::make_shared<Recorder>(front_end_, [log = recording_.log](const std::string& text) { log->warning(text); });
  install_hook(recorder_);
}

Session::~Session() {
  if (recorder_) remove_hook();
}

NodeRecord* Session::find(const std::string& node) const {
  const auto& nodes = recording_.nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto& item) { return item->name == node; });
  return found == nodes.end() ? nullptr : found->get();
}

Status Session::check_open(const char* call, const std::string& node) const {
  LEAPP_RETURN_IF_ERROR(check_node_name(node));
  if (open_.contains(node)) return {};
  return failed_precondition(
      fmt::format("{}: node '{}' is not open; call input_tensors('{}', ...) first", call, node, node));
}

NodeCall& Session::open(const std::string& node) {
  const auto [position, added] = open_.try_emplace(node, node, *recorder_);
  if (added) {
    if (closed_in_pass_.contains(node)) {
      ++pass_;
      closed_in_pass_.clear();
    }
    position->second.open();
    recording_.call_passes[node].push_back(pass_);
  }
  return position->second;
}

// As if it had not been opened.
void Session::close(const std::string& node) {
  const auto call = open_.find(node);
  recorder_->close(call->second.activation(), pass_);
  open_.erase(call);
  recording_.call_passes[node].pop_back();
}

Result<std::vector<at::Tensor>> Session::input_tensors(const std::string& node, const PortTensors& tensors) {
  return add_inputs(node, tensors, false);
}

Status Session::reset_from(const std::string& node, const std::vector<std::string>& states, const std::string& from) {
  const auto guard = recorder_->lock();
  for (const std::string& state : states) {
    const auto [at, added] = recording_.resets.try_emplace({node, state}, from);
    if (added || at->second == from) continue;
    const auto text = [](const std::string& name) { return name.empty() ? "False" : "'" + name + "'"; };
    return invalid_argument(fmt::format("reset_from of state '{}' of node '{}': expected {} as before, found {}", state,
                                        node, text(at->second), text(from)));
  }
  return {};
}

Result<std::vector<at::Tensor>> Session::state_tensors(const std::string& node, const NamedTensors& tensors) {
  {
    const auto guard = recorder_->lock();
    LEAPP_RETURN_IF_ERROR(check_open("state_tensors", node));
  }
  return add_inputs(node, ports(tensors), true);
}

Result<std::vector<at::Tensor>> Session::add_inputs(const std::string& node, const PortTensors& tensors, bool state) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  LEAPP_RETURN_IF_ERROR(check_node_name(node));
  for (const PortTensor& port : tensors)
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "input", port.name, port.tensor));
  std::vector<at::Tensor> aliases = aliases_of(tensors);
  const Watched watched = buffers_of_called_modules(node);
  const auto guard = recorder_->lock();
  const bool was_open = open_.contains(node);
  const NodeCall unopened(node, *recorder_);
  LEAPP_RETURN_IF_ERROR((was_open ? open_.at(node) : unopened).check_inputs(tensors, state, find(node)));
  NodeCall& call = open(node);
  if (const Status bound = bind_inputs(call, tensors, aliases, state); !bound.ok()) {
    if (!was_open) close(node);
    return bound;
  }
  for (const auto& [buffer, tensor] : watched) call.add_buffer(buffer, tensor, false);
  return aliases;
}

Status Session::bind_inputs(NodeCall& call, const PortTensors& tensors, const std::vector<at::Tensor>& aliases,
                            bool state) {
  const NodeRecord* known = find(call.node());
  SourceFinder sources(pass_, recording_);
  std::vector<PortRecord> added;
  for (const PortTensor& input : tensors) {
    PortRecord port{input.name, type_of(input.tensor), std::nullopt, input.semantics, state, input.tensor.device()};
    port.source = sources.find(call.node(), input.name, source_value(call, *recorder_, input.tensor),
                               [&] { return content_hash(input.tensor); });
    if (known) {
      const auto first = std::find_if(known->inputs.begin(), known->inputs.end(),
                                      [&](const PortRecord& item) { return item.name == input.name; });
      // Only looked at: this call may not be finished, or announce it again.
      std::optional<PortRecord> merged;
      if (first != known->inputs.end()) merged = *first;
      if (merged) LEAPP_RETURN_IF_ERROR(merge_source(call.node(), *merged, port.source));
    }
    added.push_back(std::move(port));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) call.bind_input(std::move(added[i]), tensors[i].tensor, aliases[i]);
  return {};
}

Result<std::vector<at::Tensor>> Session::update_state(const std::string& node, const NamedTensors& tensors) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(check_open("update_state", node));
  LEAPP_RETURN_IF_ERROR(open_.at(node).update_state(tensors));
  std::vector<at::Tensor> values;
  for (const auto& [name, tensor] : tensors) values.push_back(tensor);
  return values;
}

Result<std::vector<at::Tensor>> Session::register_buffer(const std::string& node, const NamedTensors& tensors) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  for (const auto& [name, tensor] : tensors) LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "buffer", name, tensor));
  std::vector<at::Tensor> aliases = aliases_of(ports(tensors));
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(check_open("register_buffer", node));
  NodeCall& call = open_.at(node);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    LEAPP_RETURN_IF_ERROR(call.check_buffer(tensors[i].first, tensors[i].second));
    LEAPP_RETURN_IF_ERROR(call.check_source(tensors[i].first, tensors[i].second));
    for (std::size_t j = 0; j < i; ++j) {
      if (tensors[j].first == tensors[i].first) {
        return invalid_argument(
            fmt::format("register_buffer: '{}' is given twice for node '{}'", tensors[i].first, node));
      }
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) call.add_buffer({tensors[i].first, nullptr}, aliases[i], true);
  return aliases;
}

Status Session::module(const std::string& node, const std::vector<annotate::Buffer>& buffers) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  std::vector<at::Tensor> tensors;
  for (const annotate::Buffer& buffer : buffers) tensors.push_back(buffer.get());
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(check_open("module", node));
  NodeCall& call = open_.at(node);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    names.push_back(buffers[i].name);
    std::replace(names.back().begin(), names.back().end(), '.', '_');
    if (!tensors[i].defined()) continue;
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "buffer", names[i], tensors[i]));
    LEAPP_RETURN_IF_ERROR(call.check_buffer(names[i], tensors[i]));
    if (call.is_declared(names[i], tensors[i])) continue;
    const ValuePtr value = recorder_->table().find_own(tensors[i]);
    const bool used = value && (value->kind == TracedKind::kConstant || value->owner != 0);
    if (!used) continue;
    return failed_precondition(
        fmt::format("module: buffer '{}' was used in node '{}' before; call annotate.module right after input_tensors, "
                    "before the module runs",
                    buffers[i].name, node));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!tensors[i].defined() || call.is_declared(names[i], tensors[i])) continue;
    // Made while the node is open: what it holds is its first content, not something to compute in every call.
    recorder_->table().overwrite_unknown(tensors[i]);
    call.add_buffer({names[i], buffers[i].get}, tensors[i], true);
  }
  return {};
}

void Session::watch(const std::vector<annotate::Buffer>& buffers) {
  std::vector<at::Tensor> tensors;
  for (const annotate::Buffer& buffer : buffers) tensors.push_back(buffer.get());
  const auto guard = recorder_->lock();
  watched_.insert(watched_.end(), buffers.begin(), buffers.end());
  for (auto& [node, call] : open_) {
    if (find(node)) continue;  // what changes from call to call shows by itself
    for (std::size_t i = 0; i < buffers.size(); ++i) call.add_buffer(buffers[i], tensors[i], false);
  }
}

Session::Watched Session::buffers_of_called_modules(const std::string& node) {
  std::vector<annotate::Buffer> buffers;
  {
    const auto guard = recorder_->lock();
    if (open_.contains(node) || find(node)) return {};
    buffers = watched_;
  }
  Watched watched;
  for (const annotate::Buffer& buffer : buffers) {
    at::Tensor tensor = buffer.get();
    watched.emplace_back(buffer, std::move(tensor));
  }
  return watched;
}

void Session::note_default(const std::string& node, const at::Tensor& tensor) {
  const LocationId where = front_end_->location();
  const auto guard = recorder_->lock();
  const auto call = open_.find(node);
  if (call == open_.end()) return;
  recorder_->builder().set_current(nullptr, where);
  const ValuePtr value = recorder_->table().operand(tensor, call->second.activation());
  if (value->kind == TracedKind::kConstant) value->cell->given = true;
}

bool Session::is_open(const std::string& node) {
  const auto guard = recorder_->lock();
  return open_.contains(node);
}

bool Session::abandon(const std::string& node) {
  const auto guard = recorder_->lock();
  if (!open_.contains(node)) return false;
  close(node);
  return true;
}

void Session::look_at_buffers(const std::string& node) {
  std::vector<std::function<at::Tensor()>> getters;
  {
    const auto guard = recorder_->lock();
    const auto call = open_.find(node);
    if (call == open_.end()) return;
    getters = call->second.getters();
  }
  std::vector<at::Tensor> now;
  now.reserve(getters.size());
  for (const auto& get : getters) now.push_back(get ? get() : at::Tensor());
  const auto guard = recorder_->lock();
  const auto call = open_.find(node);
  if (call != open_.end()) call->second.look_at_buffers(now, *recording_.log);
}

Result<std::vector<at::Tensor>> Session::output_tensors(const std::string& node, const PortTensors& tensors,
                                                        const PortTensors& static_outputs,
                                                        const OutputOptions& options) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  look_at_buffers(node);
  const LocationId where = front_end_->location();
  OpenQuestions questions;
  {
    const auto guard = recorder_->lock();
    LEAPP_RETURN_IF_ERROR(check_open("output_tensors", node));
    NodeRecord* known = find(node);
    NodeCall& open = open_.at(node);
    LEAPP_RETURN_IF_ERROR(open.check_outputs(tensors, static_outputs, known));
    LEAPP_RETURN_IF_ERROR(
        open.check_mixed_inputs(open.all_outputs(tensors, static_outputs), known, mixed_, *recording_.log));
    recorder_->builder().set_current(nullptr, where);
    NodeCall call = std::move(open);
    open_.erase(node);
    closed_in_pass_.insert(node);
    const CallOutputs outputs = call.outputs(tensors, static_outputs, known);
    questions = CallRecorder(recording_, *recorder_, analysis_, pass_).close(call, outputs, known, options, where);
  }
  answer(node, questions);
  std::vector<at::Tensor> values;
  for (const PortTensor& output : tensors) values.push_back(output.tensor);
  return values;
}

void Session::answer(const std::string& node, const OpenQuestions& questions) {
  for (const auto& [index, holder] : questions.next) {
    const at::Tensor tensor = capture::locked(holder);
    if (!tensor.defined()) continue;
    const ContentPtr copy = copied_content(tensor);
    const auto guard = recorder_->lock();
    if (NodeRecord* path = find_path(*find(node), questions.path)) path->leaks[index].next[questions.call] = copy;
  }
  if (questions.nameless.empty() && questions.ends.empty()) return;
  const auto ask = [&](const OpenQuestions::Holders& holders) {
    std::vector<std::string> names;
    for (const auto& [index, holder] : holders) names.push_back(front_end_->holder_name(capture::locked(holder)));
    return names;
  };
  const std::vector<std::string> names = ask(questions.nameless);
  const std::vector<std::string> ends = ask(questions.ends);
  const auto guard = recorder_->lock();
  NodeRecord* path = find_path(*find(node), questions.path);
  for (std::size_t i = 0; path && i < names.size(); ++i) {
    Leak& leak = path->leaks[questions.nameless[i].first];
    leak.name = names[i];
    ++leak.asked;
  }
  for (std::size_t i = 0; path && i < ends.size(); ++i) path->ends[questions.ends[i].first].name = ends[i];
}

void Session::drop_open_calls() {
  std::vector<std::string> open;
  {
    const auto guard = recorder_->lock();
    for (const auto& [node, call] : open_) open.push_back(node);
  }
  for (const std::string& node : open) {
    abandon(node);
    if (const NodeRecord* known = find(node)) {
      recording_.log->info(
          fmt::format("stop: call {} of node '{}' is not finished and is dropped", known->calls, node));
    } else {
      recording_.log->warning(fmt::format(
          "stop: node '{}' was opened and never closed with output_tensors: it is not part of the graph", node));
    }
  }
}

namespace {

void report_devices(const NodeRecord& node, Logger& log) {
  std::set<std::string> devices;
  for (const auto* ports : {&node.inputs, &node.outputs}) {
    for (const PortRecord& port : *ports) {
      if (port.device && !port.device->is_cpu()) devices.insert(port.device->str());
    }
  }
  if (devices.empty()) return;
  log.info(fmt::format("node '{}' was captured on {}; its model is written for the CPU and runs wherever it is loaded",
                       node.name, fmt::join(devices, " and ")));
}

}  // namespace

void Session::report(NodeRecord& node) {
  for (const PortRecord& input : node.inputs) {
    if (!input.state || (input.source && input.source->node == node.name)) continue;
    recording_.log->warning(fmt::format(
        "state '{}' of node '{}' was never updated with update_state: it is a plain input", input.name, node.name));
  }
  report_devices(node, *recording_.log);
  const Slice slice = slice_of(node.output_values);
  report_constants(node.name, slice, *recording_.log);
  seal_constants(slice);
  for (const Divergence& divergence : node.divergences) recording_.log->warning(divergence.text);
}

Status Session::stop() {
  const auto recorder = recorder_;
  std::vector<std::pair<WeakTensor, KeptTensor>> left;
  Status failed;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const std::exception& failure) {
      if (failed.ok()) failed = failure_status(failure, [&] { return fmt::format("stop: {}", failure.what()); });
    }
  };
  attempt([&] {
    drop_open_calls();
    const auto guard = recorder->lock();
    if (recording_.options.leaks != Leaks::kConstant) left = recorder->table().kept_tensors();
  });
  remove_hook();
  {
    const auto guard = recorder->lock();
    for (Note& note : recorder->escapes().take_notes()) recording_.notes.push_back(std::move(note));
  }
  recorder_.reset();
  heap_.reset();
  attempt([&] { finish(left); });
  attempt([&] { report_lengths(recorder->escapes(), recording_); });
  const Status pending = recorder->take_error();
  return pending.ok() ? failed : pending;
}

void Session::finish(const std::vector<std::pair<WeakTensor, KeptTensor>>& left) {
  {
    const Kept kept = locked(left);
    const auto find_holders = [&](const std::vector<std::size_t>& positions) {
      std::vector<at::Tensor> asked;
      for (const std::size_t position : positions) asked.push_back(kept.tensors[position]);
      return front_end_->holders(asked);
    };
    analysis_.finish(recording_.nodes, recording_.options, {kept.known, find_holders, changed_values_});
  }
  name_divergences();
  promote_counters(recording_, evaluator_, [&](const at::Tensor& tensor) { return front_end_->holder_name(tensor); });
  for (const auto& node : recording_.nodes) report(*node);
}

// While the program's variables are still there to be looked at.
void Session::name_divergences() {
  for (const auto& node : recording_.nodes) {
    for (Divergence& divergence : node->divergences) {
      if (!divergence.name.empty() || !divergence.now || divergence.now->kind != TracedKind::kConstant) continue;
      const ConstantCell& cell = *divergence.now->cell;
      divergence.name = cell.name.empty() && cell.by_reference ? front_end_->holder_name(tensor_of(cell)) : cell.name;
    }
  }
}

namespace {

std::atomic<std::shared_ptr<Session>>& session_slot() {
  // Never destroyed: a constant may need Python to let go of it, which is gone by then.
  static auto* slot = new std::atomic<std::shared_ptr<Session>>();
  return *slot;
}

}  // namespace

std::shared_ptr<Session> current_session() { return session_slot().load(); }
void set_current_session(std::shared_ptr<Session> session) { session_slot().store(std::move(session)); }

}  // namespace leapp::capture
