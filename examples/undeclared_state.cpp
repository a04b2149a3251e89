// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that undeclared_state.py wrote and prints what it printed. Usage: undeclared_state BUNDLE_FOLDER
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

#include "leapp/runtime/pipeline.h"

namespace {

using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

constexpr int kPasses = 3;

leapp::Status run(const std::string& bundle) {
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> obs, pipeline.input<float>("policy/obs"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> target, pipeline.output<float>("policy/target"));
  for (int step = 0; step < kPasses; ++step) {
    for (std::size_t i = 0; i < obs.size(); ++i) {
      obs[i] = std::sin(static_cast<float>(i) + 0.5F * static_cast<float>(step));
    }
    if (pipeline.step() != StepResult::kOk) return pipeline.error();
    std::printf("step %d: target = %+.6f %+.6f %+.6f\n", step, target[0], target[1], target[2]);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: undeclared_state BUNDLE_FOLDER   (the folder that undeclared_state.py wrote)\n");
    return 2;
  }
  const leapp::Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "undeclared_state: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
