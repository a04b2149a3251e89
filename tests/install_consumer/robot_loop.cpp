// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The loop of a robot: measure, step, act. Usage: robot_loop BUNDLE STEPS
#include <leapp/bundle/check.h>
#include <leapp/bundle/reader.h>
#include <leapp/runtime/pipeline.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

namespace {

using leapp::runtime::Pipeline;

void describe(const Pipeline& pipeline) {
  for (const leapp::bundle::Model& model : pipeline.spec().models) {
    for (const leapp::bundle::Port& port : model.inputs) {
      const std::string dtype(leapp::dtype_name(port.dtype));
      std::printf("%s/%s %s %zu\n", model.name.c_str(), port.name.c_str(), dtype.c_str(), port.shape.size());
    }
  }
}

leapp::Status run(const std::string& bundle, int steps) {
  // Whoever wants to look before loading may.
  LEAPP_ASSIGN_OR_RETURN(const leapp::bundle::BundleSpec spec, leapp::bundle::read_bundle(bundle));
  LEAPP_ASSIGN_OR_RETURN(const leapp::bundle::Wiring wiring, leapp::bundle::check_wiring(spec));
  std::printf("%zu nodes\n", wiring.order.size());

  leapp::runtime::LoadOptions options;
  options.engine.provider = leapp::engine::Provider::kCpu;
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle, options));
  describe(pipeline);
  LEAPP_ASSIGN_OR_RETURN(const std::span<float> obs, pipeline.input<float>(pipeline.inputs().front()));
  LEAPP_ASSIGN_OR_RETURN(const std::span<const float> action, pipeline.output<float>(pipeline.outputs().front()));
  pipeline.reset();
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < obs.size(); ++i)
      obs[i] = 0.125F * static_cast<float>(step) - 0.25F * static_cast<float>(i);
    if (pipeline.step() != leapp::runtime::StepResult::kOk) return pipeline.error();
    for (const float value : action) std::printf("%.9g ", value);
    std::printf("\n");
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: robot_loop BUNDLE STEPS\n"), 2;
  const leapp::Status status = run(argv[1], std::atoi(argv[2]));
  if (!status.ok()) std::fprintf(stderr, "robot_loop: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
