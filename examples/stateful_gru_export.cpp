// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that stateful_gru_export.py wrote and prints what it printed: an action, and the state that it left
// for the next step. Usage: stateful_gru_export BUNDLE_FOLDER
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

#include "leapp/runtime/pipeline.h"

namespace {

using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

void print(const char* name, std::span<const float> values, const char* end) {
  std::printf("%s", name);
  for (const float value : values) std::printf(" %+.6f", value);
  std::printf("%s\n", end);
}

leapp::Status run(const std::string& bundle) {
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> obs, pipeline.input<float>("policy/obs"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> action, pipeline.output<float>("policy/action"));
  for (std::size_t i = 0; i < obs.size(); ++i) obs[i] = std::sin(0.1F * static_cast<float>(i));
  if (pipeline.step() != StepResult::kOk) return pipeline.error();
  print("action: ", action, "");
  LEAPP_ASSIGN_OR_RETURN(const leapp::TensorView state, pipeline.feedback_input("policy/h_state"));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> hidden, state.as<const float>());
  print("h_state:", hidden.first(8), " ...");
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: stateful_gru_export BUNDLE_FOLDER   (the folder that stateful_gru_export.py wrote)\n");
    return 2;
  }
  const leapp::Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "stateful_gru_export: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
