// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that feedback_example.py wrote and prints what it printed: what one node leaves for the next step.
// Usage: feedback_example BUNDLE_FOLDER
#include <cstdio>
#include <span>
#include <string>

#include "leapp/runtime/pipeline.h"

namespace {

using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

constexpr int kPasses = 2;

leapp::Status run(const std::string& bundle) {
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> observation, pipeline.input<float>("policy_step/observation_scalar"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> action, pipeline.output<float>("policy_step/control_action"));
  for (int pass = 0; pass < kPasses; ++pass) {
    observation[0] = 1.0F - 0.75F * static_cast<float>(pass);
    if (pipeline.step() != StepResult::kOk) return pipeline.error();
    // In two buffers that take turns: ask after each step.
    LEAPP_ASSIGN_OR_RETURN(const leapp::TensorView state, pipeline.feedback_input("policy_step/policy_memory_in"));
    LEAPP_ASSIGN_OR_RETURN(const std::span<const float> memory, state.as<const float>());
    std::printf("pass %d: control_action = %+.6f, policy_memory = %+.6f\n", pass, action[0], memory[0]);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: feedback_example BUNDLE_FOLDER   (the folder that feedback_example.py wrote)\n");
    return 2;
  }
  const leapp::Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "feedback_example: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
