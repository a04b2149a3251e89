// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that complete_pipeline.py wrote and prints what it printed; the answer is an integer.
// Usage: complete_pipeline BUNDLE_FOLDER
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "leapp/runtime/pipeline.h"

namespace {

using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

constexpr int kSteps = 4;

leapp::Status run(const std::string& bundle) {
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle));
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> raw_data, pipeline.input<float>("preprocess/raw_data"));
  LEAPP_ASSIGN_OR_RETURN(const auto final_output, pipeline.output<std::int64_t>("postprocess/final_output"));
  for (int step = 0; step < kSteps; ++step) {
    for (std::size_t i = 0; i < raw_data.size(); ++i) {
      raw_data[i] = std::cos(static_cast<float>(i) + static_cast<float>(step));
    }
    if (pipeline.step() != StepResult::kOk) return pipeline.error();
    std::printf("step %d: class %d\n", step, static_cast<int>(final_output[0]));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: complete_pipeline BUNDLE_FOLDER   (the folder that complete_pipeline.py wrote)\n");
    return 2;
  }
  const leapp::Status status = run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "complete_pipeline: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
