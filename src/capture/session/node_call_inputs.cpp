// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What goes into a node: inputs and declared state, announced once or again.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/recorder/tensor_content.h"
#include "capture/session/checks.h"
#include "capture/session/node_call.h"

namespace leapp::capture {
namespace {

std::size_t position_of(const std::vector<PortRecord>& ports, const std::string& name) {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const PortRecord& port) { return port.name == name; });
  return static_cast<std::size_t>(found - ports.begin());
}

bool is_empty(const Semantics& semantics) { return semantics == Semantics(); }

}  // namespace

Status NodeCall::check_source(const std::string& port, const at::Tensor& tensor) const {
  const ValuePtr value = recorder_->table().find(tensor, activation_);
  const bool callers_own = value && value->kind == TracedKind::kInput && !recorder_->table().find_own(tensor);
  if (!value || value->owner == 0 || value->owner == activation_ || callers_own) return {};
  const std::string& owner = recorder_->calls().name_of(value->owner);
  return failed_precondition(fmt::format(
      "input '{}' of node '{}': the tensor is a value of the open node '{}'; publish it with output_tensors first",
      port, node_, owner));
}

Status NodeCall::check_inputs(const PortTensors& tensors, bool state, const NodeRecord* known) const {
  LEAPP_RETURN_IF_ERROR(check_ports(node_, "input", tensors));
  for (const auto& [name, tensor, semantics] : tensors) {
    LEAPP_RETURN_IF_ERROR(check_source(name, tensor));
    const std::size_t announced = position_of(inputs_, name);
    if (announced < inputs_.size() && inputs_[announced].state != state) {
      return invalid_argument(fmt::format(
          "node '{}': '{}' is announced with input_tensors and with state_tensors; names must be unique", node_, name));
    }
    const std::size_t port = known ? position_of(known->inputs, name) : 0;
    if (!known || port == known->inputs.size()) continue;  // whether a new one matters is seen when the call ends
    LEAPP_RETURN_IF_ERROR(check_same_type(node_, "input", name, known->inputs[port].type, tensor));
  }
  return {};
}

// The tensor that was announced before, or another one with the same bits.
bool NodeCall::is_same_input(std::size_t at, const PortRecord& port, const at::Tensor& tensor) const {
  return inputs_[at].type == port.type && content_hash(values_[at]) == content_hash(tensor);
}

void NodeCall::bind_input(PortRecord port, const at::Tensor& tensor, const at::Tensor& alias) {
  TensorTable& table = recorder_->table();
  const ValuePtr held = table.find(tensor, activation_);
  const std::size_t at = position_of(inputs_, port.name);
  const bool again = at < inputs_.size();
  if (again) std::erase_if(updates_, [&](const PortTensor& update) { return update.name == port.name; });
  if (again && is_same_input(at, port, tensor)) {
    if (!inputs_[at].source) inputs_[at].source = port.source;
    if (!is_empty(port.semantics)) inputs_[at].semantics = std::move(port.semantics);
    if (held == traced_[at]) return table.bind_view(alias, held);
    table.forget(tensor);
    return table.bind_content(alias, traced_[at]);
  }
  // The trace of a value of this node ends here: what it holds now is what the input holds.
  ValuePtr source = held && held->kind == TracedKind::kInput ? held->origin->source : held;
  if (source && source->owner != 0) source = nullptr;
  const ValuePtr value = make_value(TracedKind::kInput, port.type, {.port = port.name, .source = std::move(source)});
  value->owner = activation_;
  // Changed by someone who was not seen: whatever looks at this memory holds the new value.
  if (again && held == traced_[at]) table.write(alias, value);
  table.forget(tensor);
  table.bind_content(alias, value);
  if (!again) {
    values_.push_back(dense_copy(tensor));
    traced_.push_back(value);
    inputs_.push_back(std::move(port));
    return;
  }
  if (is_empty(port.semantics)) port.semantics = inputs_[at].semantics;
  values_[at] = dense_copy(tensor);
  replaced_.emplace_back(port.name, std::exchange(traced_[at], value));
  inputs_[at] = std::move(port);
}

ValuePtr source_value(const NodeCall& call, OpRecorder& recorder, const at::Tensor& tensor) {
  ValuePtr value = recorder.table().find(tensor, call.activation());
  // What the node itself has computed ends here; where it came from is no matter.
  const bool own = value && value->owner == call.activation() && value->kind != TracedKind::kInput;
  return own ? nullptr : value;
}

}  // namespace leapp::capture
