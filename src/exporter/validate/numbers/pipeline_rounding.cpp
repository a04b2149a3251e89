// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/numbers/pipeline_rounding.h"

#include <algorithm>

namespace leapp::exporter {

PipelineRounding::PipelineRounding(const BundleReplay& replay, const RecordedPasses& passes)
    : replay_(replay), passes_(passes) {
  const auto invert = [](const bundle::EdgeMap& edges, std::map<std::string, std::string>& into) {
    for (const auto& [from, targets] : edges) {
      for (const std::string& to : targets) into[to] = from;
    }
  };
  invert(replay.spec->pipeline.data_flow, sources_);
  invert(replay.spec->pipeline.feedback_flow, feedback_);
}

RoundingRuns PipelineRounding::at(const std::string& output, std::size_t pass, RoundingOptions options) {
  Course& course = options.decide_alike ? alike_ : free_;
  while (course.passes <= pass) run_pass(course, options);
  const auto found = course.outputs.find(output);
  return {{found == course.outputs.end() ? Runs{} : found->second}, course.decisions};
}

std::vector<Runs> PipelineRounding::inputs_of(std::size_t node, const Course& course,
                                              const std::map<std::string, Runs>& before) const {
  const bundle::Model& model = replay_.spec->models[node];
  const std::size_t pass = course.passes;
  const auto set = pass == 0 ? std::vector<std::string>{} : passes_.set_by_program(pass);
  std::vector<Runs> inputs;
  for (const bundle::Port& port : model.inputs) {
    const std::string name = model.name + "/" + port.name;
    const auto source = sources_.find(name);
    const auto fed = feedback_.find(name);
    const bool own = pass == 0 || std::find(set.begin(), set.end(), name) != set.end();
    if (source != sources_.end()) {
      inputs.push_back(course.outputs.at(source->second));
    } else if (fed != feedback_.end() && !own) {
      inputs.push_back(before.at(fed->second));
    } else {
      inputs.push_back({passes_.input(name, pass)});
    }
  }
  return inputs;
}

void PipelineRounding::run_pass(Course& course, RoundingOptions options) {
  const std::map<std::string, Runs> before = std::exchange(course.outputs, {});
  for (std::size_t i = 0; i < replay_.nodes.size(); ++i) {
    const bundle::Model& model = replay_.spec->models[i];
    RoundingRuns runs;
    if (const graph::Graph* graph = replay_.nodes[i].graph; graph != nullptr) {
      runs = run_rounding(*graph, inputs_of(i, course, before), replay_.evaluators, options, deadline_);
    }
    runs.outputs.resize(model.outputs.size());
    for (std::size_t p = 0; p < model.outputs.size(); ++p) {
      course.outputs[model.name + "/" + model.outputs[p].name] = std::move(runs.outputs[p]);
    }
    course.decisions.insert(course.decisions.end(), runs.decisions.begin(), runs.decisions.end());
  }
  ++course.passes;
}

}  // namespace leapp::exporter
