// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/annotations.h"

#include <ATen/ops/alias.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/hook/hook.h"
#include "capture/recorder/tensor_content.h"
#include "capture/session/checks.h"
#include "capture/session/record_call.h"
#include "capture/session/sources.h"

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

}  // namespace

NodeRecord* Annotations::record_of(const std::string& node) const {
  const auto& nodes = recording_.nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto& item) { return item->name == node; });
  return found == nodes.end() ? nullptr : found->get();
}

Result<std::vector<at::Tensor>> Annotations::input_tensors(const std::string& node, const PortTensors& tensors) {
  return add_inputs(node, tensors, false);
}

Status Annotations::reset_from(const std::string& node, const std::vector<std::string>& states,
                               const std::string& from) {
  const auto guard = recorder_.lock();
  for (const std::string& state : states) {
    const auto [at, added] = recording_.resets.try_emplace({node, state}, from);
    if (added || at->second == from) continue;
    const auto text = [](const std::string& name) { return name.empty() ? "False" : "'" + name + "'"; };
    return invalid_argument(fmt::format("reset_from of state '{}' of node '{}': expected {} as before, found {}", state,
                                        node, text(at->second), text(from)));
  }
  return {};
}

Result<std::vector<at::Tensor>> Annotations::state_tensors(const std::string& node, const NamedTensors& tensors) {
  {
    const auto guard = recorder_.lock();
    LEAPP_RETURN_IF_ERROR(incomplete(recorder_.lost()));
    LEAPP_RETURN_IF_ERROR(passes_.check_open("state_tensors", node));
  }
  return add_inputs(node, ports(tensors), true);
}

Result<std::vector<at::Tensor>> Annotations::add_inputs(const std::string& node, const PortTensors& tensors,
                                                        bool state) {
  LEAPP_RETURN_IF_ERROR(recorder_.take_error());
  LEAPP_RETURN_IF_ERROR(check_node_name(node));
  for (const PortTensor& port : tensors)
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "input", port.name, port.tensor));
  std::vector<at::Tensor> aliases = aliases_of(tensors);
  const Watched watched = buffers_of_called_modules(node);
  const auto guard = recorder_.lock();
  LEAPP_RETURN_IF_ERROR(incomplete(recorder_.lost()));
  const NodeCall* before = passes_.find(node);
  const NodeCall unopened(node, recorder_);
  LEAPP_RETURN_IF_ERROR((before ? *before : unopened).check_inputs(tensors, state, record_of(node)));
  NodeCall& call = passes_.open(node);
  if (const Status bound = bind_inputs(call, tensors, aliases, state); !bound.ok()) {
    if (!before) passes_.drop(node);
    return bound;
  }
  for (const auto& [buffer, tensor] : watched) call.buffers().add(buffer, tensor, false);
  return aliases;
}

Status Annotations::bind_inputs(NodeCall& call, const PortTensors& tensors, const std::vector<at::Tensor>& aliases,
                                bool state) {
  const NodeRecord* known = record_of(call.node());
  SourceFinder sources(passes_.current(), recording_);
  std::vector<PortRecord> added;
  for (const PortTensor& input : tensors) {
    PortRecord port{input.name, type_of(input.tensor), std::nullopt, input.semantics, state, input.tensor.device()};
    port.source = sources.find(call.node(), input.name, source_value(call, recorder_, input.tensor),
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

Result<std::vector<at::Tensor>> Annotations::update_state(const std::string& node, const NamedTensors& tensors) {
  LEAPP_RETURN_IF_ERROR(recorder_.take_error());
  const auto guard = recorder_.lock();
  LEAPP_RETURN_IF_ERROR(incomplete(recorder_.lost()));
  LEAPP_RETURN_IF_ERROR(passes_.check_open("update_state", node));
  LEAPP_RETURN_IF_ERROR(passes_.find(node)->update_state(tensors));
  std::vector<at::Tensor> values;
  for (const auto& [name, tensor] : tensors) values.push_back(tensor);
  return values;
}

Result<std::vector<at::Tensor>> Annotations::register_buffer(const std::string& node, const NamedTensors& tensors) {
  LEAPP_RETURN_IF_ERROR(recorder_.take_error());
  for (const auto& [name, tensor] : tensors) LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "buffer", name, tensor));
  std::vector<at::Tensor> aliases = aliases_of(ports(tensors));
  const auto guard = recorder_.lock();
  LEAPP_RETURN_IF_ERROR(incomplete(recorder_.lost()));
  LEAPP_RETURN_IF_ERROR(passes_.check_open("register_buffer", node));
  NodeCall& call = *passes_.find(node);
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
  for (std::size_t i = 0; i < tensors.size(); ++i) call.buffers().add({tensors[i].first, nullptr}, aliases[i], true);
  return aliases;
}

Status Annotations::module(const std::string& node, const std::vector<annotate::Buffer>& buffers) {
  LEAPP_RETURN_IF_ERROR(recorder_.take_error());
  std::vector<at::Tensor> tensors;
  for (const annotate::Buffer& buffer : buffers) tensors.push_back(buffer.get());
  const auto guard = recorder_.lock();
  LEAPP_RETURN_IF_ERROR(incomplete(recorder_.lost()));
  LEAPP_RETURN_IF_ERROR(passes_.check_open("module", node));
  NodeCall& call = *passes_.find(node);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    names.push_back(buffers[i].name);
    std::replace(names.back().begin(), names.back().end(), '.', '_');
    if (!tensors[i].defined()) continue;
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "buffer", names[i], tensors[i]));
    LEAPP_RETURN_IF_ERROR(call.check_buffer(names[i], tensors[i]));
    if (call.buffers().is_declared(names[i], tensors[i])) continue;
    const ValuePtr value = recorder_.table().find_own(tensors[i]);
    const bool used = value && (value->kind == TracedKind::kConstant || value->owner != 0);
    if (!used) continue;
    return failed_precondition(
        fmt::format("module: buffer '{}' was used in node '{}' before; call annotate.module right after input_tensors, "
                    "before the module runs",
                    buffers[i].name, node));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!tensors[i].defined() || call.buffers().is_declared(names[i], tensors[i])) continue;
    // Made while the node is open: what it holds is its first content, not something to compute in every call.
    recorder_.table().overwrite_unknown(tensors[i]);
    call.buffers().add({names[i], buffers[i].get}, tensors[i], true);
  }
  return {};
}

void Annotations::watch(const std::vector<annotate::Buffer>& buffers) {
  std::vector<at::Tensor> tensors;
  for (const annotate::Buffer& buffer : buffers) tensors.push_back(buffer.get());
  const auto guard = recorder_.lock();
  if (!recorder_.is_complete()) return;
  watched_.insert(watched_.end(), buffers.begin(), buffers.end());
  for (auto& [node, call] : passes_.open_calls()) {
    if (record_of(node)) continue;  // what changes from call to call shows by itself
    for (std::size_t i = 0; i < buffers.size(); ++i) call.buffers().add(buffers[i], tensors[i], false);
  }
}

Annotations::Watched Annotations::buffers_of_called_modules(const std::string& node) {
  std::vector<annotate::Buffer> buffers;
  {
    const auto guard = recorder_.lock();
    if (passes_.is_open(node) || record_of(node)) return {};
    buffers = watched_;
  }
  Watched watched;
  for (const annotate::Buffer& buffer : buffers) {
    at::Tensor tensor = buffer.get();
    watched.emplace_back(buffer, std::move(tensor));
  }
  return watched;
}

void Annotations::note_default(const std::string& node, const at::Tensor& tensor) {
  const LocationId where = front_end_.location();
  const auto guard = recorder_.lock();
  if (!recorder_.is_complete()) return;
  const NodeCall* call = passes_.find(node);
  if (!call) return;
  recorder_.builder().set_current(nullptr, where);
  const ValuePtr value = recorder_.table().operand(tensor, call->activation());
  if (value->kind == TracedKind::kConstant) value->cell->given = true;
}

bool Annotations::is_open(const std::string& node) {
  const auto guard = recorder_.lock();
  return passes_.is_open(node);
}

bool Annotations::abandon(const std::string& node) {
  const auto guard = recorder_.lock();
  if (!passes_.is_open(node)) return false;
  if (recorder_.is_complete()) passes_.drop(node);
  return true;
}

void Annotations::look_at_buffers(const std::string& node) {
  std::vector<std::function<at::Tensor()>> getters;
  {
    const auto guard = recorder_.lock();
    const NodeCall* call = passes_.find(node);
    if (!call) return;
    getters = call->buffers().getters();
  }
  std::vector<at::Tensor> now;
  now.reserve(getters.size());
  for (const auto& get : getters) now.push_back(get ? get() : at::Tensor());
  const auto guard = recorder_.lock();
  if (!recorder_.is_complete()) return;
  if (NodeCall* call = passes_.find(node)) call->buffers().look(now, call->activation(), *recording_.log);
}

Result<std::vector<at::Tensor>> Annotations::output_tensors(const std::string& node, const PortTensors& tensors,
                                                            const PortTensors& static_outputs,
                                                            const OutputOptions& options) {
  LEAPP_RETURN_IF_ERROR(recorder_.take_error());
  look_at_buffers(node);
  const LocationId where = front_end_.location();
  OpenQuestions questions;
  NodeRecord* record = nullptr;
  {
    const auto guard = recorder_.lock();
    LEAPP_RETURN_IF_ERROR(incomplete(recorder_.lost()));
    LEAPP_RETURN_IF_ERROR(passes_.check_open("output_tensors", node));
    NodeRecord* known = record_of(node);
    const NodeCall& open = *passes_.find(node);
    LEAPP_RETURN_IF_ERROR(open.check_outputs(tensors, static_outputs, known));
    LEAPP_RETURN_IF_ERROR(
        open.check_mixed_inputs(open.all_outputs(tensors, static_outputs), known, mixed_, *recording_.log));
    recorder_.builder().set_current(nullptr, where);
    NodeCall call = passes_.close(node);
    const CallOutputs outputs = call.outputs(tensors, static_outputs, known);
    questions =
        CallRecorder(recording_, recorder_, analysis_, passes_.current()).close(call, outputs, known, options, where);
    record = record_of(node);
  }
  try {
    answer(questions, *record, recorder_, front_end_);
  } catch (...) {
    recorder_.lose_to_exception("output_tensors");  // the call is closed: nobody asks again
    throw;
  }
  std::vector<at::Tensor> values;
  for (const PortTensor& output : tensors) values.push_back(output.tensor);
  return values;
}

void Annotations::abandon_all() {
  std::vector<std::string> open;
  {
    const auto guard = recorder_.lock();
    for (const auto& [node, call] : passes_.open_calls()) open.push_back(node);
  }
  for (const std::string& node : open) {
    abandon(node);
    if (const NodeRecord* known = record_of(node)) {
      recording_.log->info(
          fmt::format("stop: call {} of node '{}' is not finished and is dropped", known->calls, node));
    } else {
      recording_.log->warning(fmt::format(
          "stop: node '{}' was opened and never closed with output_tensors: it is not part of the graph", node));
    }
  }
}

}  // namespace leapp::capture
