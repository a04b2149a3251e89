// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What goes into a node: inputs and declared state, announced once or again.
#include <ATen/ops/alias.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/arguments.h"
#include "capture/checks.h"
#include "capture/hook.h"
#include "capture/session.h"

namespace leapp::capture {
namespace {

std::size_t position_of(const std::vector<PortRecord>& ports, const std::string& name) {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const PortRecord& port) { return port.name == name; });
  return static_cast<std::size_t>(found - ports.begin());
}

bool is_empty(const Semantics& semantics) {
  return !semantics.kind && !semantics.element_names && !semantics.temporal_axis && semantics.extra.empty();
}

}  // namespace

// A value of another open node would cut that node in two without a word.
Status Session::check_source(const std::string& node, const std::string& port, const at::Tensor& tensor) {
  const auto open = open_.find(node);
  const ActivationId own = open == open_.end() ? 0 : open->second.activation;
  const ValuePtr value = recorder_->table().find(tensor, own);
  const bool callers_own = value && value->kind == TracedKind::kInput && !recorder_->table().find_own(tensor);
  if (!value || value->owner == 0 || value->owner == own || callers_own) return {};
  const std::string& owner = recorder_->name_of(value->owner);
  return failed_precondition(fmt::format(
      "input '{}' of node '{}': the tensor is a value of the open node '{}'; publish it with output_tensors first",
      port, node, owner));
}

Status Session::check_inputs(const std::string& node, const PortTensors& tensors, bool state) {
  LEAPP_RETURN_IF_ERROR(check_ports(node, "input", tensors));
  const NodeRecord* known = find(node);
  const auto open = open_.find(node);
  for (const auto& [name, tensor, semantics] : tensors) {
    LEAPP_RETURN_IF_ERROR(check_source(node, name, tensor));
    const std::size_t announced = open == open_.end() ? 0 : position_of(open->second.inputs, name);
    if (open != open_.end() && announced < open->second.inputs.size() &&
        open->second.inputs[announced].state != state) {
      return invalid_argument(fmt::format(
          "node '{}': '{}' is announced with input_tensors and with state_tensors; names must be unique", node, name));
    }
    const std::size_t port = known ? position_of(known->inputs, name) : 0;
    if (!known || port == known->inputs.size()) continue;  // whether a new one matters is seen when the call ends
    LEAPP_RETURN_IF_ERROR(check_same_type(node, "input", name, known->inputs[port].type, tensor));
  }
  return {};
}

Result<std::vector<at::Tensor>> Session::input_tensors(const std::string& node, const PortTensors& tensors) {
  return add_inputs(node, tensors, false);
}

Result<std::vector<at::Tensor>> Session::add_inputs(const std::string& node, const PortTensors& tensors, bool state) {
  LEAPP_RETURN_IF_ERROR(recorder_->take_error());
  LEAPP_RETURN_IF_ERROR(check_node_name(node));
  for (const PortTensor& port : tensors)
    LEAPP_RETURN_IF_ERROR(check_port_tensor(node, "input", port.name, port.tensor));
  std::vector<at::Tensor> aliases;
  {
    const Unrecorded quiet;
    for (const PortTensor& port : tensors) aliases.push_back(at::alias(port.tensor));
  }
  const Watched watched = buffers_of_called_modules(node);
  std::vector<at::Tensor> released;
  const auto guard = recorder_->lock();
  LEAPP_RETURN_IF_ERROR(check_inputs(node, tensors, state));
  LEAPP_RETURN_IF_ERROR(bind_inputs(node, tensors, aliases, state));
  OpenCall& call = open_.at(node);
  for (const auto& [buffer, tensor] : watched) add_place(call, buffer, tensor, false);
  released = recorder_->table().take_released();
  return aliases;
}

Status Session::bind_inputs(const std::string& node, const PortTensors& tensors, const std::vector<at::Tensor>& aliases,
                            bool state) {
  const bool was_open = open_.contains(node);
  OpenCall& call = open(node);
  const NodeRecord* known = find(node);
  std::vector<PortRecord> added;
  for (const auto& [name, tensor, semantics] : tensors) {
    PortRecord port{name, type_of(tensor), source_of(node, name, tensor), semantics, state};
    const std::size_t first = known ? position_of(known->inputs, name) : 0;
    if (known && first < known->inputs.size()) {
      PortRecord merged = known->inputs[first];  // only looked at: this call may not be finished, or announce it again
      const Status same = merge_source(node, merged, port.source);
      if (!same.ok()) {
        if (!was_open) {
          recorder_->close(call.activation, pass_);
          open_.erase(node);
          recording_.call_passes[node].pop_back();
        }
        return same;
      }
    }
    added.push_back(std::move(port));
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) bind_input(node, std::move(added[i]), tensors[i].tensor, aliases[i]);
  return {};
}

// The tensor that was announced before, or another one with the same bits.
bool Session::is_same_input(const OpenCall& call, std::size_t at, const PortRecord& port, const at::Tensor& tensor) {
  const ValueType& before = call.inputs[at].type;
  return before.dtype == port.type.dtype && before.sizes == port.type.sizes &&
         content_hash(call.values[at]) == content_hash(tensor);
}

void Session::bind_input(const std::string& node, PortRecord port, const at::Tensor& tensor, const at::Tensor& alias) {
  OpenCall& call = open_.at(node);
  TensorTable& table = recorder_->table();
  const ValuePtr held = table.find(tensor, call.activation);
  const std::size_t at = position_of(call.inputs, port.name);
  const bool again = at < call.inputs.size();
  if (again) std::erase_if(call.updates, [&](const PortTensor& update) { return update.name == port.name; });
  if (again && is_same_input(call, at, port, tensor)) {
    if (!call.inputs[at].source) call.inputs[at].source = port.source;
    if (!is_empty(port.semantics)) call.inputs[at].semantics = std::move(port.semantics);
    if (held == call.traced[at]) return table.bind_view(alias, held);
    table.forget(tensor);
    return table.bind_content(alias, call.traced[at]);
  }
  // The trace of a value of this node ends here: what it holds now is what the input holds.
  ValuePtr source = held && held->kind == TracedKind::kInput ? held->origin->source : held;
  if (source && source->owner != 0) source = nullptr;
  const ValuePtr value = make_value(TracedKind::kInput, port.type, {.port = port.name, .source = std::move(source)});
  value->owner = call.activation;
  // Changed by someone who was not seen: whatever looks at this memory holds the new value.
  if (again && held == call.traced[at]) table.write(alias, value);
  table.forget(tensor);
  table.bind_content(alias, value);
  if (!again) {
    call.values.push_back(dense_copy(tensor));
    call.traced.push_back(value);
    call.inputs.push_back(std::move(port));
    return;
  }
  if (is_empty(port.semantics)) port.semantics = call.inputs[at].semantics;
  call.values[at] = dense_copy(tensor);
  call.replaced.emplace_back(port.name, std::exchange(call.traced[at], value));
  call.inputs[at] = std::move(port);
}

}  // namespace leapp::capture
