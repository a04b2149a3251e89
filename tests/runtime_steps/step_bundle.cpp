// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps bundles with inputs from files and writes what comes out. Usage: step_bundle (BUNDLE INPUTS OUTPUTS)...
//
// INPUTS has the elements of all inputs, in the order of Pipeline::inputs(), step after step; OUTPUTS likewise.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "leapp/runtime/pipeline.h"

namespace {

using leapp::Status;
using leapp::TensorView;
using leapp::runtime::Pipeline;
using leapp::runtime::StepResult;

std::streamsize bytes_of(const TensorView& view) {
  return static_cast<std::streamsize>(view.size() * leapp::dtype_size(view.dtype));
}

Status run(const std::string& bundle, const std::string& inputs_file, const std::string& outputs_file) {
  LEAPP_ASSIGN_OR_RETURN(Pipeline pipeline, Pipeline::load(bundle));
  std::vector<TensorView> inputs;
  std::vector<TensorView> outputs;
  for (const std::string& name : pipeline.inputs()) inputs.push_back(pipeline.input(name).value());
  for (const std::string& name : pipeline.outputs()) outputs.push_back(pipeline.output(name).value());
  std::ifstream in(inputs_file, std::ios::binary);
  std::ofstream out(outputs_file, std::ios::binary);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(inputs_file));
  while (in.tellg() < size) {
    for (const TensorView& view : inputs) in.read(static_cast<char*>(view.data), bytes_of(view));
    if (!in) return leapp::data_loss(inputs_file + " ends in the middle of a step");
    if (pipeline.step() != StepResult::kOk) return pipeline.error();
    for (const TensorView& view : outputs) out.write(static_cast<const char*>(view.data), bytes_of(view));
  }
  out.close();
  return out ? Status() : leapp::io_error(outputs_file + " cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i + 2 < argc; i += 3) {
    const Status status = run(argv[i], argv[i + 1], argv[i + 2]);
    if (!status.ok()) return std::fprintf(stderr, "%s: %s\n", argv[i], status.message().c_str()), 1;
  }
  return 0;
}
