// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that getting_started.py wrote, on libtorch. Usage: getting_started BUNDLE_FOLDER
#include <ATen/Functions.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

constexpr int kSteps = 3;

int run(const std::string& folder) {
  torch::jit::Module preprocess = torch::jit::load(folder + "/preprocess.pt");
  torch::jit::Module policy = torch::jit::load(folder + "/policy.pt");
  const at::InferenceMode inference;
  const at::Tensor command = at::tensor({0.5F, -0.25F}).unsqueeze(0);
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor obs = at::sin(at::arange(6).mul(0.3).add(step)).unsqueeze(0);
    const at::Tensor features = preprocess.forward({obs, command}).toTensor();
    const at::Tensor action = policy.forward({features}).toTensor();
    std::printf("step %d: action = %+.6f %+.6f\n", step, action[0][0].item().toDouble(),
                action[0][1].item().toDouble());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: getting_started BUNDLE_FOLDER   (the folder that getting_started.py wrote)\n");
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "getting_started: %s\n", failure.what());
    return 1;
  }
}
