// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/session/session_end.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <utility>

#include "capture/hook/arguments.h"
#include "capture/state/outside_counters.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

/// The tensors that are still there, and what is known of each.
struct Kept {
  std::vector<at::Tensor> tensors;
  std::vector<KeptTensor> known;
};

Kept all_locked(const LeftTensors& kept) {
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

void report_node(NodeRecord& node, Logger& log) {
  for (const PortRecord& input : node.inputs) {
    if (!input.state || (input.source && input.source->node == node.name)) continue;
    log.warning(fmt::format("state '{}' of node '{}' was never updated with update_state: it is a plain input",
                            input.name, node.name));
  }
  report_devices(node, log);
  const Slice slice = slice_of(node.output_values);
  report_constants(node.name, slice, log);
  seal_constants(slice);
  for (const Divergence& divergence : node.divergences) log.warning(divergence.text);
}

// While the program's variables are still there to be looked at.
void name_divergences(const CaptureResult& recording, FrontEnd& front_end) {
  for (const auto& node : recording.nodes) {
    for (Divergence& divergence : node->divergences) {
      if (!divergence.name.empty() || !divergence.now || divergence.now->kind != TracedKind::kConstant) continue;
      const ConstantCell& cell = *divergence.now->cell;
      divergence.name = cell.name.empty() && cell.by_reference ? front_end.holder_name(tensor_of(cell)) : cell.name;
    }
  }
}

}  // namespace

void finish_recording(CaptureResult& recording, const LeftTensors& left, const std::vector<ChangedValues>& changed,
                      Finishing with) {
  {
    const Kept kept = all_locked(left);
    const auto find_holders = [&](const std::vector<std::size_t>& positions) {
      std::vector<at::Tensor> asked;
      for (const std::size_t position : positions) asked.push_back(kept.tensors[position]);
      return with.front_end.holders(asked);
    };
    with.analysis.finish(recording.nodes, recording.options, {kept.known, find_holders, changed});
  }
  name_divergences(recording, with.front_end);
  promote_counters(recording, with.evaluator,
                   [&](const at::Tensor& tensor) { return with.front_end.holder_name(tensor); });
  for (const auto& node : recording.nodes) report_node(*node, *recording.log);
}

}  // namespace leapp::capture
