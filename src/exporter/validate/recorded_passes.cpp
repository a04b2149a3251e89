// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/recorded_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace leapp::exporter {
namespace {

bool same_bytes(const graph::Constant& a, const graph::Constant& b) {
  return a.type == b.type && (a.byte_size() == 0 || std::memcmp(a.data.get(), b.data.get(), a.byte_size()) == 0);
}

}  // namespace

RecordedPasses::RecordedPasses(const BundleReplay& replay) : replay_(replay) {
  for (std::size_t i = 0; i < replay.nodes.size(); ++i) {
    const bundle::Model& model = replay.spec->models[i];
    for (std::size_t p = 0; p < model.inputs.size(); ++p) {
      inputs_[model.name + "/" + model.inputs[p].name] = {&replay.nodes[i], p};
    }
    for (std::size_t p = 0; p < model.outputs.size(); ++p) {
      outputs_[model.name + "/" + model.outputs[p].name] = {&replay.nodes[i], p};
    }
  }
  find_random();
}

std::size_t RecordedPasses::count(std::vector<std::string>& notes) const {
  std::size_t fewest = replay_.nodes.empty() ? 0 : replay_.nodes[0].inputs.size();
  for (const RecordedNode& node : replay_.nodes) fewest = std::min(fewest, node.inputs.size());
  for (std::size_t pass = 0; pass < fewest; ++pass) {
    for (const RecordedNode& node : replay_.nodes) {
      if (node.passes.at(pass) == pass) continue;
      notes.push_back(
          fmt::format("node '{}' did not run in pass {}; a deployed pipeline runs every node in every "
                      "step, so the comparison ends there",
                      node.name, pass));
      return pass;
    }
  }
  return fewest;
}

const std::optional<graph::Constant>& RecordedPasses::input(const std::string& name, std::size_t pass) const {
  const PortAt& at = inputs_.at(name);
  return at.node->inputs[pass][at.port];
}

const std::optional<graph::Constant>& RecordedPasses::output(const std::string& name, std::size_t pass) const {
  const PortAt& at = outputs_.at(name);
  return at.node->outputs[pass][at.port];
}

std::string RecordedPasses::broken_edge(std::size_t pass) const {
  for (const auto& [from, targets] : replay_.spec->pipeline.data_flow) {
    for (const std::string& to : targets) {
      const auto& given = output(from, pass);
      const auto& read = input(to, pass);
      if (given && read && !same_bytes(*given, *read)) return fmt::format("{} did not hold what {} gave", to, from);
    }
  }
  return "";
}

std::vector<std::string> RecordedPasses::set_by_program(std::size_t pass) const {
  std::vector<std::string> found;
  for (const auto& [from, targets] : replay_.spec->pipeline.feedback_flow) {
    for (const std::string& to : targets) {
      const auto& left = output(from, pass - 1);
      const auto& read = input(to, pass);
      if (left && read && !same_bytes(*left, *read)) found.push_back(to);
    }
  }
  return found;
}

// What is computed from something random is random, now or in a later pass.
void RecordedPasses::find_random() {
  for (const auto& [name, at] : outputs_) {
    if (at.node->random_outputs.contains(at.port)) random_.insert(name);
  }
  for (std::size_t before = random_.size() + 1; before != random_.size();) {
    before = random_.size();
    for (const bundle::EdgeMap* edges : {&replay_.spec->pipeline.data_flow, &replay_.spec->pipeline.feedback_flow}) {
      for (const auto& [from, targets] : *edges) {
        if (!random_.contains(from)) continue;
        for (const std::string& to : targets) taint(*inputs_.at(to).node);
      }
    }
  }
}

void RecordedPasses::taint(const RecordedNode& node) {
  for (const auto& [name, at] : outputs_) {
    if (at.node == &node) random_.insert(name);
  }
}

}  // namespace leapp::exporter
