// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace leapp::runtime {
namespace {

using bundle::PortIndex;

class Planner {
 public:
  Planner(const bundle::BundleSpec& spec, const bundle::Wiring& wiring) : spec_(spec), wiring_(wiring) {}

  PipelinePlan run() {
    for (std::size_t i = 0; i < spec_.models.size(); ++i) {
      for (std::size_t k = 0; k < spec_.models[i].outputs.size(); ++k) outputs_[{i, k}] = {add(output({i, k})), true};
    }
    for (const PortIndex at : wiring_.inputs) {
      inputs_[at] = {add(input(at)), false};
      plan_.inputs.push_back({input_name(at), inputs_[at]});
    }
    for (const bundle::Edge& edge : wiring_.edges) edge.feedback ? feed_back(edge) : feed(edge);
    for (const PortIndex at : wiring_.outputs) publish(at);
    for (const std::size_t model : wiring_.order) plan_.nodes.push_back(node(model));
    return std::move(plan_);
  }

 private:
  const bundle::Port& input(PortIndex at) const { return spec_.models[at.node].inputs[at.port]; }
  const bundle::Port& output(PortIndex at) const { return spec_.models[at.node].outputs[at.port]; }

  std::string whole_name(PortIndex at, const bundle::Port& port) const {
    const std::string& node = spec_.models[at.node].name;
    return node.empty() ? port.name : node + "/" + port.name;
  }
  std::string input_name(PortIndex at) const { return whole_name(at, input(at)); }

  std::size_t add(const bundle::Port& port) {
    plan_.buffers.push_back({port.dtype, port.shape, false});
    return plan_.buffers.size() - 1;
  }

  void feed(const bundle::Edge& edge) { inputs_[edge.to] = outputs_[edge.from]; }

  void feed_back(const bundle::Edge& edge) {
    const Place from = outputs_[edge.from];
    BufferPlan& buffer = plan_.buffers[from.buffer];
    if (!buffer.doubled) {
      buffer.doubled = true;
      inputs_[edge.to] = {from.buffer, false};
    } else {
      inputs_[edge.to] = {add(input(edge.to)), false};
      plan_.copies.push_back({from, inputs_[edge.to].buffer});
    }
    plan_.states.push_back({{input_name(edge.to), inputs_[edge.to]}, from});
  }

  void publish(PortIndex at) {
    const std::size_t buffer = add(output(at));
    plan_.copies.push_back({outputs_[at], buffer});
    plan_.outputs.push_back({whole_name(at, output(at)), {buffer, false}});
  }

  NodePlan node(std::size_t model) {
    NodePlan plan;
    plan.model = model;
    for (std::size_t k = 0; k < spec_.models[model].inputs.size(); ++k) plan.inputs.push_back(inputs_[{model, k}]);
    for (std::size_t k = 0; k < spec_.models[model].outputs.size(); ++k) plan.outputs.push_back(outputs_[{model, k}]);
    const auto doubled = [&](const Place& place) { return plan_.buffers[place.buffer].doubled; };
    plan.alternates = std::any_of(plan.inputs.begin(), plan.inputs.end(), doubled) ||
                      std::any_of(plan.outputs.begin(), plan.outputs.end(), doubled);
    return plan;
  }

  const bundle::BundleSpec& spec_;
  const bundle::Wiring& wiring_;
  PipelinePlan plan_;
  std::map<PortIndex, Place> inputs_;
  std::map<PortIndex, Place> outputs_;
};

}  // namespace

PipelinePlan make_plan(const bundle::BundleSpec& spec, const bundle::Wiring& wiring) {
  return Planner(spec, wiring).run();
}

}  // namespace leapp::runtime
