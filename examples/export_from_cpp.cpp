// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Captures a small libtorch pipeline in C++ and exports it. Usage: export_from_cpp [FOLDER]
#include <ATen/Functions.h>

#include <cstdio>
#include <string>

#include "leapp/capture.h"

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const at::Tensor weight = at::ones({4, 16}).mul(0.125);

  leapp::Status status = leapp::start("from_cpp", {.save_path = folder});
  if (!status.ok()) return std::fprintf(stderr, "%s\n", status.message().c_str()), 1;
  leapp::name_tensor(weight, "actor.weight");

  auto inputs = leapp::annotate::input_tensors("policy", {{"obs", at::arange(16).to(at::kFloat).unsqueeze(0)}});
  if (!inputs.ok()) return std::fprintf(stderr, "%s\n", inputs.status().message().c_str()), 1;
  at::Tensor obs = inputs.value()[0].tensor().clone();
  obs.slice(1, 0, 4).mul_(0.5);  // in place, on a view
  const at::Tensor action = at::tanh(at::linear(obs, weight));
  auto outputs = leapp::annotate::output_tensors("policy", {{"action", action}}, {.export_with = "jit"});
  if (!outputs.ok()) return std::fprintf(stderr, "%s\n", outputs.status().message().c_str()), 1;

  status = leapp::stop();
  if (!status.ok()) return std::fprintf(stderr, "%s\n", status.message().c_str()), 1;
  auto report = leapp::compile_graph();
  if (!report.ok()) return std::fprintf(stderr, "%s\n", report.status().message().c_str()), 1;
  for (const leapp::NodeResult& node : report.value().nodes) {
    std::printf("%s: %s\n", node.node.c_str(), leapp::check_status_name(node.status).data());
  }
  std::printf("action[0] = %+.6f\nbundle: %s\n", action[0][0].item().toDouble(), report.value().folder.c_str());
  return report.value().validation.ok() ? 0 : 1;
}
