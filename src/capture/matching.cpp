// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// How a later call is matched with the first one: by the names of its ports.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "capture/arguments.h"
#include "capture/checks.h"
#include "capture/op_info.h"
#include "capture/session.h"
#include "capture/slice.h"

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

}  // namespace

Status Session::check_reentry(const std::string& node, const PortTensors& outputs) const {
  const NodeRecord* known = find(node);
  if (!known) return {};
  const std::vector<PortRecord>& inputs = open_.at(node).inputs;
  const auto lacks = [&](const PortRecord& port) { return named(inputs, port.name) == inputs.end(); };
  if (std::any_of(known->inputs.begin(), known->inputs.end(), lacks)) {
    const std::set<std::string> needed = inputs_that_matter(*known);
    for (const PortRecord& port : known->inputs) {
      if (!lacks(port) || !needed.contains(port.name)) continue;
      return invalid_argument(
          fmt::format("node '{}': call {} announces {}, and the outputs of the first call depend on '{}' too; announce "
                      "it in every call",
                      node, known->calls, names_without(inputs, PortTensors()), port.name));
    }
  }
  const std::string missing = names_without(known->outputs, outputs);
  const std::string added = names_without(outputs, known->outputs);
  if (!missing.empty() || !added.empty()) {
    return invalid_argument(fmt::format("node '{}': call {} has other outputs than the first call{}{}{}{}", node,
                                        known->calls, missing.empty() ? "" : "; missing: ", missing,
                                        added.empty() ? "" : "; new: ", added));
  }
  for (const PortTensor& output : outputs) {
    LEAPP_RETURN_IF_ERROR(
        check_same_type(node, "output", output.name, named(known->outputs, output.name)->type, output.tensor));
  }
  return {};
}

// An input that the first call did not have must not matter. One that was announced again must not matter as it was
// before, or the model computes with one value where the program had two.
Status Session::check_mixed_inputs(const std::string& node, const PortTensors& outputs) {
  const OpenCall& call = open_.at(node);
  const NodeRecord* known = find(node);
  const bool more = known && std::any_of(call.inputs.begin(), call.inputs.end(), [&](const PortRecord& input) {
                      return named(known->inputs, input.name) == known->inputs.end();
                    });
  if (!more && call.replaced.empty()) return {};
  std::vector<ValuePtr> values;
  for (const PortTensor& output : outputs) values.push_back(recorder_->table().operand(output.tensor, call.activation));
  const Slice slice = slice_of(values);
  const auto matters = [&](const ValuePtr& value, LocationId& where) {
    const TraceOp* reader = reader_of(slice, value);
    where = reader ? reader->location : 0;
    return reader || std::find(values.begin(), values.end(), value) != values.end();
  };
  LocationId where = 0;
  for (std::size_t i = 0; known && i < call.inputs.size(); ++i) {
    const std::string& name = call.inputs[i].name;
    if (named(known->inputs, name) != known->inputs.end() || !matters(call.traced[i], where)) continue;
    return invalid_argument(
        fmt::format("input '{}' of node '{}': call {} computes with it{}, and the first call had no such input (it "
                    "had {}). Announce it in every call",
                    name, node, known->calls, at_line(where), names_without(known->inputs, PortTensors())));
  }
  for (const auto& [name, value] : call.replaced) {
    if (!matters(value, where)) continue;
    const PortRecord& now = *named(call.inputs, name);
    if (now.type.dtype != value->type.dtype || now.type.sizes != value->type.sizes) {
      return invalid_argument(
          fmt::format("input '{}' of node '{}' was announced as {} and again as {}, and outputs depend on both{}. "
                      "Give them two names",
                      name, node, type_text(value->type), type_text(now.type), at_line(where)));
    }
    if (!mixed_.insert(node + "/" + name).second) continue;
    recording_.log->warning(
        fmt::format("{}input '{}' of node '{}' was announced again with other values, and outputs depend also on what "
                    "it held before. In the model both are what was announced last; give them two names",
                    line_prefix(where), name, node));
  }
  return {};
}

void Session::merge_sources(NodeRecord& record, const OpenCall& call) {
  for (const PortRecord& input : call.inputs) {
    const auto port = named(record.inputs, input.name);
    // Whether they agree was checked when it was announced.
    if (port != record.inputs.end()) std::ignore = merge_source(record.name, *port, input.source);
  }
}

CallOutputs Session::in_order(const NodeRecord* record, const PortTensors& outputs, std::size_t computed) {
  CallOutputs ordered;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t at =
        record ? static_cast<std::size_t>(named(outputs, record->outputs[i].name) - outputs.begin()) : i;
    ordered.ports.push_back(outputs[at]);
    ordered.constant.push_back(at >= computed);
  }
  return ordered;
}

}  // namespace leapp::capture
