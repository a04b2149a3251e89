// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "raw.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/engine.h"

namespace leapp::bench {

RawPipeline::RawPipeline(const engine::ort::Library& library, const bundle::BundleSpec& spec,
                         const bundle::Wiring& wiring, const std::vector<std::filesystem::path>& models)
    : api_(*library.api), library_(library), spec_(spec), wiring_(wiring), first_input_(wiring.inputs.front()) {
  for (const bundle::Edge& edge : wiring_.edges) {
    if (!edge.feedback) sources_[edge.to] = edge.from;
  }
  for (const std::size_t node : wiring_.order) sessions_.push_back(make_session(node, models[node]));
  for (int i = 0; i < 100; ++i) step();
}

void RawPipeline::check(OrtStatus* status) const {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", api_.GetErrorMessage(status));
  std::exit(1);
}

OrtValue* RawPipeline::tensor(const bundle::Port& port, Block& block) {
  block.resize(engine::buffer_size(port.dtype, port.shape).value_or(0));
  OrtMemoryInfo* memory = nullptr;
  check(api_.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
  OrtValue* value = nullptr;
  check(api_.CreateTensorWithDataAsOrtValue(memory, block.data(), block.size(), port.shape.data(), port.shape.size(),
                                            engine::ort::to_onnx(port.dtype), &value));
  api_.ReleaseMemoryInfo(memory);
  values_.emplace_back(value, api_.ReleaseValue);
  return value;
}

RawPipeline::Session RawPipeline::make_session(std::size_t node, const std::filesystem::path& model) {
  OrtSessionOptions* options = nullptr;
  check(api_.CreateSessionOptions(&options));
  check(api_.SetIntraOpNumThreads(options, 1));
  check(api_.SetInterOpNumThreads(options, 1));
  check(api_.SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
  OrtSession* raw = nullptr;
  check(api_.CreateSession(library_.env, model.c_str(), options, &raw));
  api_.ReleaseSessionOptions(options);
  Session session;
  session.session = {raw, api_.ReleaseSession};
  const bundle::Model& ports = spec_.models[node];
  for (std::size_t k = 0; k < ports.inputs.size(); ++k) {
    const auto source = sources_.find({node, k});
    Block& block = source == sources_.end() ? inputs_[{node, k}] : outputs_[source->second];
    session.input_names.push_back(ports.inputs[k].name.c_str());
    session.inputs.push_back(tensor(ports.inputs[k], block));
  }
  for (std::size_t k = 0; k < ports.outputs.size(); ++k) {
    session.output_names.push_back(ports.outputs[k].name.c_str());
    session.outputs.push_back(tensor(ports.outputs[k], outputs_[{node, k}]));
  }
  return session;
}

void RawPipeline::step() {
  for (Session& one : sessions_) {
    check(api_.Run(one.session.get(), nullptr, one.input_names.data(), one.inputs.data(), one.inputs.size(),
                   one.output_names.data(), one.output_names.size(), one.outputs.data()));
  }
  for (const bundle::Edge& edge : wiring_.edges) {
    if (!edge.feedback) continue;
    Block& to = inputs_.at(edge.to);
    std::memcpy(to.data(), outputs_.at(edge.from).data(), to.size());
  }
}

}  // namespace leapp::bench
