// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports a libtorch program of three stages: normalise, a linear layer, the most probable class. complete_pipeline.py
// writes the same bundle, complete_pipeline.cpp runs it. Usage: complete_pipeline_capture [FOLDER]
#include <ATen/Functions.h>

#include <cstdio>
#include <string>

#include "leapp/capture.h"

namespace {

namespace annotate = leapp::annotate;

constexpr int kSteps = 4;

/// One stage: `compute` between the annotation of its input and of its output.
template <typename Compute>
leapp::Result<at::Tensor> stage(const std::string& node, const leapp::PortValue& input, const std::string& output,
                                Compute compute) {
  LEAPP_ASSIGN_OR_RETURN(const auto inputs, annotate::input_tensors(node, {input}));
  const at::Tensor result = compute(inputs[0].tensor());
  LEAPP_ASSIGN_OR_RETURN(const auto outputs,
                         annotate::output_tensors(node, {{output, result}}, {.export_with = "jit"}));
  return outputs[0].tensor();
}

leapp::Status pass(int step, const at::Tensor& weight, const at::Tensor& bias) {
  const at::Tensor raw_data = at::cos(at::arange(10).to(at::kFloat).add(step)).unsqueeze(0);
  LEAPP_ASSIGN_OR_RETURN(const at::Tensor normalized,
                         stage("preprocess", {"raw_data", raw_data}, "normalized", [](const at::Tensor& raw) {
                           const at::Tensor centred = at::sub(raw, at::mean(raw));  // first: C++ leaves the order open
                           return at::div(centred, at::add(at::std(raw), 1e-6));
                         }));
  LEAPP_ASSIGN_OR_RETURN(const at::Tensor predictions,
                         stage("inference", {"features", normalized}, "predictions",
                               [&](const at::Tensor& features) { return at::linear(features, weight, bias); }));
  LEAPP_ASSIGN_OR_RETURN(const at::Tensor final_output,
                         stage("postprocess", {"predictions", predictions}, "final_output",
                               [](const at::Tensor& scores) { return at::argmax(at::softmax(scores, 1), 1); }));
  std::printf("step %d: class %d\n", step, final_output.item().toInt());
  return {};
}

leapp::Status run(const std::string& folder) {
  const at::Tensor weight = at::sin(at::arange(50).to(at::kFloat)).reshape({5, 10});
  const at::Tensor bias = at::arange(5).mul(0.1);

  LEAPP_RETURN_IF_ERROR(leapp::start("complete_pipeline", {.save_path = folder}));
  leapp::name_tensor(weight, "linear.weight", /*parameter=*/true);
  leapp::name_tensor(bias, "linear.bias", /*parameter=*/true);
  for (int step = 0; step < kSteps; ++step) LEAPP_RETURN_IF_ERROR(pass(step, weight, bias));
  LEAPP_RETURN_IF_ERROR(leapp::stop());
  LEAPP_ASSIGN_OR_RETURN(const leapp::CompileReport report, leapp::compile_graph());
  return report.validation;
}

}  // namespace

int main(int argc, char** argv) {
  const leapp::Status status = run(argc > 1 ? argv[1] : ".");
  if (!status.ok()) std::fprintf(stderr, "complete_pipeline_capture: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
