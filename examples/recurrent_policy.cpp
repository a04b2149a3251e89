// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that recurrent_policy.py wrote and prints what it printed: the loop of a robot. The program knows
// neither Python nor torch; the hidden state stays inside the pipeline. Usage: recurrent_policy BUNDLE_FOLDER
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

#include "leapp/runtime/pipeline.h"

namespace {

using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

constexpr int kSteps = 5;

/// What the robot would measure; the Python program computes the same.
void observe(int step, std::span<float> obs) {
  for (std::size_t i = 0; i < obs.size(); ++i) {
    obs[i] = std::sin(0.1F * static_cast<float>(i) + 0.5F * static_cast<float>(step));
  }
}

leapp::Status run(const std::string& bundle) {
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> obs, pipeline.input<float>("normalise/obs"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> target, pipeline.output<float>("scale/target"));
  for (const leapp::engine::Report& report : pipeline.engine()) {
    std::printf("engine: %s runs %s: %s\n", report.engine.c_str(), report.model.c_str(), report.why.c_str());
  }
  for (int step = 0; step < kSteps; ++step) {
    observe(step, obs);
    if (pipeline.step() != StepResult::kOk) return pipeline.error();
    std::printf("step %d: target[0] = %+.6f\n", step, target[0]);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: recurrent_policy BUNDLE_FOLDER   (the folder that recurrent_policy.py wrote)\n");
    return 2;
  }
  const leapp::Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "recurrent_policy: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
