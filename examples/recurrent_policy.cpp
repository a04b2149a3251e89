// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the bundle that recurrent_policy.py wrote, on libtorch. Usage: recurrent_policy BUNDLE_FOLDER
#include <ATen/Functions.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

constexpr int kObservations = 16;
constexpr int kHidden = 32;
constexpr int kSteps = 5;

at::Tensor observation(int step) { return at::sin(at::arange(kObservations).mul(0.1).add(0.5 * step)).unsqueeze(0); }

int run(const std::string& folder) {
  torch::jit::Module normalise = torch::jit::load(folder + "/normalise.pt");
  torch::jit::Module policy = torch::jit::load(folder + "/policy.pt");
  torch::jit::Module scale = torch::jit::load(folder + "/scale.pt");

  const at::InferenceMode inference;
  at::Tensor hidden = at::zeros({1, 1, kHidden});
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor features = normalise.forward({observation(step)}).toTensor();
    const auto outputs = policy.forward({features, hidden}).toTuple();
    hidden = outputs->elements()[1].toTensor();
    const at::Tensor target = scale.forward({outputs->elements()[0]}).toTensor();
    std::printf("step %d: target[0] = %+.6f\n", step, target[0][0].item().toDouble());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: recurrent_policy BUNDLE_FOLDER   (for example build/demo/recurrent_policy)\n");
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "recurrent_policy: %s\n", failure.what());
    return 1;
  }
}
