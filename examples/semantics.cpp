// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that semantics.py wrote, finds a port by what it means and prints it joint by joint, as semantics.py
// did. Usage: semantics BUNDLE_FOLDER
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/runtime/pipeline.h"

namespace {

using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

/// The output of that kind, as "node/port", and the names of its elements.
struct Found {
  std::string name;
  std::vector<std::string> elements;
};

leapp::Result<Found> find_output(const Pipeline& pipeline, std::string_view kind) {
  for (const leapp::bundle::Model& model : pipeline.spec().models) {
    for (const leapp::bundle::Port& port : model.outputs) {
      if (port.kind == kind && port.element_names) {
        return Found{model.name + "/" + port.name, port.element_names->back().value_or(std::vector<std::string>())};
      }
    }
  }
  return leapp::not_found("no output is a " + std::string(kind));
}

leapp::Status run(const std::string& bundle) {
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> position, pipeline.input<float>("policy/q"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> history, pipeline.input<float>("policy/history"));
  LEAPP_ASSIGN_OR_RETURN(const Found target, find_output(pipeline, "target/joint/position"));
  LEAPP_ASSIGN_OR_RETURN(const Found gain, find_output(pipeline, "kp"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> targets, pipeline.output<float>(target.name));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> gains, pipeline.output<float>(gain.name));
  for (std::size_t i = 0; i < position.size(); ++i) position[i] = 0.25F * static_cast<float>(i);
  for (std::size_t i = 0; i < history.size(); ++i) history[i] = static_cast<float>(i);
  if (pipeline.step() != StepResult::kOk) return pipeline.error();
  for (std::size_t i = 0; i < target.elements.size(); ++i) {
    std::printf("# %s: target %+.6f, kp %+.6f\n", target.elements[i].c_str(), targets[i], gains[i]);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: semantics BUNDLE_FOLDER   (the folder that semantics.py wrote)\n");
    return 2;
  }
  const leapp::Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "semantics: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
