// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/histories.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "exporter/describe.h"
#include "graph/history/find.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/history.h"

namespace leapp::exporter {
namespace {

using graph::FoundHistory;
using graph::FoundPart;
using graph::StageInput;
using graph::StagePort;

std::size_t output_named(const PreparedNode& node, const std::string& name) {
  const auto& outputs = node.record->outputs;
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const auto& port) { return port.name == name; });
  return static_cast<std::size_t>(found - outputs.begin());
}

/// The nodes as the finder wants them, in the order of `spec.models`.
class StageMaker {
 public:
  StageMaker(const std::vector<PreparedNode>& nodes, const capture::CaptureResult::Resets& declared,
             const bundle::BundleSpec& spec)
      : nodes_(nodes), declared_(declared), spec_(spec) {}

  graph::Stages run() {
    graph::Stages stages;
    for (const bundle::Model& model : spec_.models) stages.push_back(stage(model));
    for (const bundle::PortIndex at : bundle::resolve_wiring(spec_).wiring.outputs) {
      stages[at.node].published[at.port] = true;
    }
    return stages;
  }

 private:
  graph::Stage stage(const bundle::Model& model) const {
    const PreparedNode& node = named(nodes_, model.name);
    graph::Stage stage{.name = model.name};
    if (node.graph.outputs().size() == model.outputs.size()) stage.graph = &node.graph;
    for (std::size_t i = 0; i < model.inputs.size(); ++i) stage.inputs.push_back(input(node, model.inputs[i], i));
    for (const bundle::Port& port : model.outputs) stage.outputs.push_back({port.dtype, port.shape});
    stage.published.resize(model.outputs.size(), false);
    return stage;
  }

  StageInput input(const PreparedNode& node, const bundle::Port& port, std::size_t at) const {
    const capture::PortRecord& record = node.record->inputs[node.inputs[at]];
    StageInput input{.name = record.name, .type = {port.dtype, port.shape}};
    if (record.source) {
      input.from = record.source->feedback ? StageInput::From::kLastStep : StageInput::From::kSameStep;
      const auto same = [&](const bundle::Model& model) { return model.name == record.source->node; };
      const auto source = std::find_if(spec_.models.begin(), spec_.models.end(), same);
      input.source = {static_cast<std::size_t>(source - spec_.models.begin()),
                      output_named(named(nodes_, record.source->node), record.source->port)};
    }
    const auto said = declared_.find({node.record->name, record.name});
    if (said != declared_.end()) input.declared = said->second;
    return input;
  }

  const std::vector<PreparedNode>& nodes_;
  const capture::CaptureResult::Resets& declared_;
  const bundle::BundleSpec& spec_;
};

std::string name_of(const bundle::BundleSpec& spec, StagePort at) {
  return spec.models[at.stage].name + "/" + spec.models[at.stage].inputs[at.port].name;
}

bundle::HistoryPart part_of(const bundle::BundleSpec& spec, const FoundPart& found) {
  bundle::HistoryPart part{.axis = found.layout.axis,
                           .start = found.layout.start,
                           .stop = found.layout.stop,
                           .frames = found.layout.frames,
                           .size = found.layout.size};
  switch (found.from) {
    case FoundPart::From::kInput:
      part.input = name_of(spec, found.source);
      break;
    case FoundPart::From::kState:
      part.state = name_of(spec, found.source);
      break;
    case FoundPart::From::kNext:
      part.newest_first = found.layout.newest_first;
      for (const StagePort at : found.made) part.of.push_back(name_of(spec, at));
      break;
  }
  return part;
}

/// Every state that was spoken of is one.
Status check_declared(const std::vector<PreparedNode>& nodes, const capture::CaptureResult::Resets& declared) {
  for (const auto& [key, from] : declared) {
    const auto& [node, state] = key;
    const auto same = [&name = node](const PreparedNode& one) { return one.record->name == name; };
    const auto found = std::find_if(nodes.begin(), nodes.end(), same);
    if (found == nodes.end()) continue;
    std::vector<std::string> states;
    for (const capture::PortRecord& input : found->record->inputs) {
      if (input.source && input.source->feedback) states.push_back(input.name);
    }
    if (std::find(states.begin(), states.end(), state) != states.end()) continue;
    return invalid_argument(
        fmt::format("node '{}': reset_from names the state '{}', which the node does not have; "
                    "its states: {}",
                    node, state, states.empty() ? "none" : join(states, ", ")));
  }
  return {};
}

Status refusal(const graph::Stages& stages, const FoundHistory& found) {
  const graph::Stage& stage = stages[found.state.stage];
  const StageInput& state = stage.inputs[found.state.port];
  std::vector<std::string> inputs;
  for (const StageInput& input : stage.inputs) {
    inputs.push_back(fmt::format("{} {}", input.name, type_text(input.type.dtype, input.type.shape)));
  }
  return invalid_argument(
      fmt::format("node '{}': the state '{}', {}, cannot be a history of '{}' (reset_from): {}; "
                  "the node's inputs: {}",
                  stage.name, state.name, type_text(state.type.dtype, state.type.shape), *state.declared, found.why,
                  join(inputs, ", ")));
}

}  // namespace

Status add_histories(const std::vector<PreparedNode>& nodes, const capture::CaptureResult::Resets& declared,
                     bundle::BundleSpec& spec, Logger& log) {
  LEAPP_RETURN_IF_ERROR(check_declared(nodes, declared));
  if (spec.pipeline.feedback_flow.empty()) return {};
  const graph::Stages stages = StageMaker(nodes, declared, spec).run();
  for (const FoundHistory& found : graph::find_histories(stages)) {
    if (found.refused) return refusal(stages, found);
    bundle::Port& port = spec.models[found.state.stage].inputs[found.state.port];
    const std::string name = name_of(spec, found.state);
    if (found.parts.empty()) {
      log.info(
          fmt::format("state {} is shifted like a history, but {}: a reset to the first frame leaves it as it was "
                      "exported; state_tensors(..., reset_from=...) says otherwise",
                      name, found.why));
      continue;
    }
    const auto given = [](const auto& entry) { return entry.first == bundle::kHistoryKey; };
    if (std::any_of(port.extra.begin(), port.extra.end(), given)) continue;  // the user's own
    std::vector<bundle::HistoryPart> parts;
    for (const FoundPart& part : found.parts) parts.push_back(part_of(spec, part));
    bundle::set_history(port, parts);
    log.info(fmt::format("state {} is a history: {}", name, bundle::history_text(parts)));
  }
  return {};
}

}  // namespace leapp::exporter
