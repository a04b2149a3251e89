// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What comes out of a node, and how a later call is matched with the first one: by the names of its ports.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "capture/hook/arguments.h"
#include "capture/recorder/tensor_content.h"
#include "capture/session/checks.h"
#include "capture/session/node_call.h"
#include "capture/state/constant_outputs.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

template <typename Ports>
auto named(Ports& ports, const std::string& name) {
  return std::find_if(ports.begin(), ports.end(), [&](const auto& port) { return port.name == name; });
}

/// "'a', 'b'" of those in `ports` that `others` has not.
template <typename Ports, typename Others>
std::string names_without(const Ports& ports, const Others& others) {
  std::vector<std::string> names;
  for (const auto& port : ports) {
    if (named(others, port.name) == others.end()) names.push_back("'" + port.name + "'");
  }
  return join(names, ", ");
}

/// Names of the inputs that the outputs of the first call depend on.
std::set<std::string> inputs_that_matter(const NodeRecord& record) {
  std::set<std::string> names;
  const auto note = [&](const ValuePtr& value) {
    if (value->kind == TracedKind::kInput) names.insert(value->origin->port);
  };
  for (const TraceOp* op : slice_of(record.output_values).ops) for_each_operand(*op, note);
  for (const ValuePtr& value : record.output_values) note(value);
  return names;
}

/// An operator in `slice` that reads `value`.
const TraceOp* reader_of(const Slice& slice, const ValuePtr& value) {
  for (const TraceOp* op : slice.ops) {
    bool reads = false;
    for_each_operand(*op, [&](const ValuePtr& operand) { reads = reads || operand == value; });
    if (reads) return op;
  }
  return nullptr;
}

// A copy: what the user does to the tensor later is no business of the model.
ValuePtr static_value(const at::Tensor& tensor) { return constant_of(dense_copy(tensor), 0); }

Status check_depends(const NodeCall& call, OpRecorder& recorder, const PortTensor& output) {
  const ValuePtr value = recorder.table().find(output.tensor, call.activation());
  // What depends on no input may be state: later calls tell (constant_outputs.h).
  if (!value || value->owner == 0 || value->owner == call.activation()) return {};
  return failed_precondition(fmt::format("output '{}' of node '{}': the tensor is a value of node '{}'", output.name,
                                         call.node(), recorder.calls().name_of(value->owner)));
}

Status check_static(const NodeCall& call, OpRecorder& recorder, const PortTensors& static_outputs) {
  for (const PortTensor& output : static_outputs) {
    const ValuePtr value = recorder.table().find(output.tensor);
    const bool callers_own = value && value->kind == TracedKind::kInput && !recorder.table().find_own(output.tensor);
    if (!value || value->owner == 0 || callers_own) continue;
    return invalid_argument(
        fmt::format("static output '{}' of node '{}': the tensor is computed in node '{}'; a static output is a tensor "
                    "that depends on no input. Announce it among the other outputs",
                    output.name, call.node(), recorder.calls().name_of(value->owner)));
  }
  return {};
}

Status check_reentry(const NodeCall& call, const PortTensors& outputs, const NodeRecord& known) {
  const auto lacks = [&](const PortRecord& port) { return named(call.inputs(), port.name) == call.inputs().end(); };
  if (std::any_of(known.inputs.begin(), known.inputs.end(), lacks)) {
    const std::set<std::string> needed = inputs_that_matter(known);
    for (const PortRecord& port : known.inputs) {
      if (!lacks(port) || !needed.contains(port.name)) continue;
      return invalid_argument(
          fmt::format("node '{}': call {} announces {}, and the outputs of the first call depend on '{}' too; announce "
                      "it in every call",
                      call.node(), known.calls, names_without(call.inputs(), PortTensors()), port.name));
    }
  }
  const std::string missing = names_without(known.outputs, outputs);
  const std::string added = names_without(outputs, known.outputs);
  if (!missing.empty() || !added.empty()) {
    return invalid_argument(fmt::format("node '{}': call {} has other outputs than the first call{}{}{}{}", call.node(),
                                        known.calls, missing.empty() ? "" : "; missing: ", missing,
                                        added.empty() ? "" : "; new: ", added));
  }
  for (const PortTensor& output : outputs) {
    LEAPP_RETURN_IF_ERROR(
        check_same_type(call.node(), "output", output.name, named(known.outputs, output.name)->type, output.tensor));
  }
  return {};
}

}  // namespace

PortTensors NodeCall::all_outputs(const PortTensors& tensors, const PortTensors& static_outputs) const {
  PortTensors all = tensors;
  all.insert(all.end(), updates_.begin(), updates_.end());
  all.insert(all.end(), static_outputs.begin(), static_outputs.end());
  return all;
}

Status NodeCall::check_outputs(const PortTensors& tensors, const PortTensors& static_outputs,
                               const NodeRecord* known) const {
  if (tensors.empty() && static_outputs.empty())
    return invalid_argument(fmt::format("node '{}': output_tensors needs at least one output", node_));
  const PortTensors all = all_outputs(tensors, static_outputs);
  LEAPP_RETURN_IF_ERROR(check_ports(node_, "output", all));
  for (const PortTensor& output : tensors) LEAPP_RETURN_IF_ERROR(check_depends(*this, *recorder_, output));
  LEAPP_RETURN_IF_ERROR(check_static(*this, *recorder_, static_outputs));
  return known ? check_reentry(*this, all, *known) : Status();
}

// An input that the first call did not have must not matter. One that was announced again must not matter as it was
// before, or the model computes with one value where the program had two.
Status NodeCall::check_mixed_inputs(const PortTensors& outputs, const NodeRecord* known, std::set<std::string>& warned,
                                    Logger& log) const {
  const bool more = known && std::any_of(inputs_.begin(), inputs_.end(), [&](const PortRecord& input) {
                      return named(known->inputs, input.name) == known->inputs.end();
                    });
  if (!more && replaced_.empty()) return {};
  std::vector<ValuePtr> values;
  for (const PortTensor& output : outputs) values.push_back(recorder_->table().operand(output.tensor, activation_));
  const Slice slice = slice_of(values);
  const auto matters = [&](const ValuePtr& value, LocationId& where) {
    const TraceOp* reader = reader_of(slice, value);
    where = reader ? reader->location : 0;
    return reader || std::find(values.begin(), values.end(), value) != values.end();
  };
  LocationId where = 0;
  for (std::size_t i = 0; known && i < inputs_.size(); ++i) {
    const std::string& name = inputs_[i].name;
    if (named(known->inputs, name) != known->inputs.end() || !matters(traced_[i], where)) continue;
    return invalid_argument(
        fmt::format("input '{}' of node '{}': call {} computes with it{}, and the first call had no such input (it "
                    "had {}). Announce it in every call",
                    name, node_, known->calls, at_line(where), names_without(known->inputs, PortTensors())));
  }
  for (const auto& [name, value] : replaced_) {
    if (!matters(value, where)) continue;
    const PortRecord& now = *named(inputs_, name);
    if (now.type != value->type) {
      return invalid_argument(
          fmt::format("input '{}' of node '{}' was announced as {} and again as {}, and outputs depend on both{}. "
                      "Give them two names",
                      name, node_, type_text(value->type), type_text(now.type), at_line(where)));
    }
    if (!warned.insert(node_ + "/" + name).second) continue;
    log.warning(
        fmt::format("{}input '{}' of node '{}' was announced again with other values, and outputs depend also on what "
                    "it held before. In the model both are what was announced last; give them two names",
                    line_prefix(where), name, node_));
  }
  return {};
}

CallOutputs NodeCall::outputs(const PortTensors& tensors, const PortTensors& static_outputs, const NodeRecord* known) {
  // In the order in which the states were declared.
  std::sort(updates_.begin(), updates_.end(),
            [&](const PortTensor& a, const PortTensor& b) { return named(inputs_, a.name) < named(inputs_, b.name); });
  const PortTensors all = all_outputs(tensors, static_outputs);
  const std::size_t computed = all.size() - static_outputs.size();
  CallOutputs ordered;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t at = known ? static_cast<std::size_t>(named(all, known->outputs[i].name) - all.begin()) : i;
    ordered.ports.push_back(all[at]);
    ordered.constant.push_back(at >= computed);
  }
  return ordered;
}

CallTrace NodeCall::trace(const CallOutputs& outputs, std::uint64_t pass) const {
  CallTrace trace{.node = node_,
                  .pass = pass,
                  .activation = activation_,
                  .outputs = {},
                  .guards = recorder_->guards().take(activation_),
                  .buffers = buffers_.traces(),
                  .ends = {},
                  .numbers = recorder_->numbers_of_constants()};
  for (std::size_t i = 0; i < outputs.ports.size(); ++i) {
    const at::Tensor& tensor = outputs.ports[i].tensor;
    trace.outputs.push_back(outputs.constant[i]
                                ? static_value(tensor)
                                : set_apart(recorder_->table().operand(tensor, activation_), recorder_->builder()));
  }
  TraceBuilder& builder = recorder_->builder();
  trace.signature = builder.signature() - begun_;
  if (trace.guards.empty()) return trace;
  const LocationId here = builder.location();
  for (BranchCondition& guard : trace.guards) guard.value = set_apart(predicate(guard, builder), builder);
  builder.set_current(nullptr, here);
  trace.ends = recorder_->table().ends(activation_);
  return trace;
}

}  // namespace leapp::capture
