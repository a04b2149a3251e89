// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that getting_started.py wrote and prints what it printed. Usage: getting_started BUNDLE_FOLDER
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>

#include "leapp/runtime/pipeline.h"

namespace {

using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

constexpr int kSteps = 3;

leapp::Status run(const std::string& bundle) {
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> obs, pipeline.input<float>("preprocess/obs"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> command, pipeline.input<float>("preprocess/command"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> action, pipeline.output<float>("policy/action"));
  std::ranges::copy(std::initializer_list<float>{0.5F, -0.25F}, command.begin());  // stays until it is replaced
  for (int step = 0; step < kSteps; ++step) {
    for (std::size_t i = 0; i < obs.size(); ++i) {
      obs[i] = std::sin(0.3F * static_cast<float>(i) + static_cast<float>(step));
    }
    if (pipeline.step() != StepResult::kOk) return pipeline.error();
    std::printf("step %d: action = %+.6f %+.6f\n", step, action[0], action[1]);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: getting_started BUNDLE_FOLDER   (the folder that getting_started.py wrote)\n");
    return 2;
  }
  const leapp::Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "getting_started: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
