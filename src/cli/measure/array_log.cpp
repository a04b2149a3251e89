// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/array_log.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "inspect/opened_bundle.h"

namespace leapp::cli {
namespace {

constexpr std::size_t kLargestTrace = std::size_t{8} << 30U;

ArrayType type_of(const char* direction, const std::string& node, const bundle::Port& port) {
  return {fmt::format("{}/{}/{}", direction, node, port.name), port.dtype, port.shape};
}

}  // namespace

std::vector<TracedPort> traced_ports(const bundle::BundleSpec& spec, const bundle::Wiring& wiring) {
  std::map<bundle::PortIndex, bundle::Edge> sources;
  for (const bundle::Edge& edge : wiring.edges) sources[edge.to] = edge;
  std::vector<TracedPort> ports;
  for (const std::size_t node : wiring.order) {
    const bundle::Model& model = spec.models[node];
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      TracedPort port{type_of("inputs", model.name, model.inputs[i]), TracedPort::Where::kInput,
                      inspect::input_name(spec, {node, i})};
      const auto source = sources.find({node, i});
      if (source != sources.end() && source->second.feedback) {
        port.where = TracedPort::Where::kFeedback;
      } else if (source != sources.end()) {
        port.where = TracedPort::Where::kOutput;
        port.seen_as = inspect::output_name(spec, source->second.from);
      }
      ports.push_back(std::move(port));
    }
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      ports.push_back({type_of("outputs", model.name, model.outputs[i]), TracedPort::Where::kOutput,
                       inspect::output_name(spec, {node, i})});
    }
  }
  return ports;
}

Result<TensorView> value_of(const TracedPort& port, runtime::Pipeline& pipeline) {
  switch (port.where) {
    case TracedPort::Where::kInput:
      return pipeline.input(port.seen_as);
    case TracedPort::Where::kFeedback:
      return pipeline.feedback_input(port.seen_as);
    case TracedPort::Where::kOutput:
      return pipeline.output(port.seen_as);
  }
  return internal_error("a port of no node");
}

Result<ArrayLog> ArrayLog::create(std::vector<ArrayType> types, std::size_t steps) {
  ArrayLog recorder;
  std::size_t total = 0;
  for (ArrayType& type : types) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(type.bytes(), steps, &bytes) || __builtin_add_overflow(total, bytes, &total) ||
        total > kLargestTrace) {
      return invalid_argument(fmt::format("{} steps of these ports take more than {} GB: ask for fewer steps", steps,
                                          kLargestTrace >> 30U));
    }
    Array array{std::move(type.name), type.dtype, std::move(type.shape), {}};
    array.shape.insert(array.shape.begin(), 0);
    array.bytes.reserve(bytes);
    recorder.arrays_.push_back(std::move(array));
  }
  return recorder;
}

void ArrayLog::add(std::size_t port, const TensorView& value) {
  Array& array = arrays_[port];
  const auto* bytes = static_cast<const std::byte*>(value.data);
  array.bytes.insert(array.bytes.end(), bytes, bytes + value.size() * dtype_size(value.dtype));
  ++array.shape.front();
}

}  // namespace leapp::cli
