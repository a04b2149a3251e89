// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/batch/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "base/text.h"
#include "runtime/batch/batch_model.h"
#include "runtime/pipeline/buffers.h"
#include "runtime/pipeline/elements.h"
#include "runtime/pipeline/mock.h"

namespace leapp::runtime {
namespace {

/// Buffers for the ports of a node.
struct PortMemory {
  std::vector<bundle::Port> ports;  ///< inputs, then outputs
  std::size_t inputs = 0;
  Buffers buffers;

  static Result<PortMemory> make(const bundle::Model& node) {
    std::vector<bundle::Port> ports = node.inputs;
    ports.insert(ports.end(), node.outputs.begin(), node.outputs.end());
    std::vector<BufferPlan> plans;
    for (const bundle::Port& port : ports) plans.push_back({port.dtype, port.shape, false});
    LEAPP_ASSIGN_OR_RETURN(Buffers buffers, Buffers::allocate(plans));
    return PortMemory{std::move(ports), node.inputs.size(), std::move(buffers)};
  }

  [[nodiscard]] std::byte* at(std::size_t port) const { return buffers.at({port, false}, 0); }
  [[nodiscard]] std::size_t bytes(std::size_t port) const { return buffers.size(port); }
  [[nodiscard]] TensorView view(std::size_t port) const { return {at(port), ports[port].dtype, ports[port].shape}; }

  [[nodiscard]] engine::Binding binding() const {
    engine::Binding binding;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      engine::BoundBuffer buffer{ports[i].name, ports[i].dtype, ports[i].shape, at(i)};
      (i < inputs ? binding.inputs : binding.outputs).push_back(std::move(buffer));
    }
    return binding;
  }
};

/// Runs a model of one row once for each.
class RowsModel final : public engine::EngineModel {
 public:
  RowsModel(std::unique_ptr<engine::EngineModel> one, PortMemory memory, const bundle::Model& node, std::size_t rows)
      : one_(std::move(one)), memory_(std::move(memory)), rows_(rows) {
    for (const bundle::Port& port : node.inputs) add(port, inputs_);
    for (const bundle::Port& port : node.outputs) add(port, outputs_);
    set_report(one_->report());
  }

  [[nodiscard]] const std::vector<engine::TensorInfo>& inputs() const override { return inputs_; }
  [[nodiscard]] const std::vector<engine::TensorInfo>& outputs() const override { return outputs_; }

  Result<std::size_t> prepare(const engine::Binding& binding) override {
    std::vector<std::byte*> places;
    for (const engine::BoundBuffer& buffer : binding.inputs) places.push_back(static_cast<std::byte*>(buffer.data));
    for (const engine::BoundBuffer& buffer : binding.outputs) places.push_back(static_cast<std::byte*>(buffer.data));
    if (places.size() != memory_.ports.size()) return internal_error("another number of ports than the model's");
    if (!number_) {
      for (std::size_t i = 0; i < memory_.inputs; ++i) std::memcpy(memory_.at(i), places[i], memory_.bytes(i));
      LEAPP_ASSIGN_OR_RETURN(number_, one_->prepare(memory_.binding()));
    }
    bindings_.push_back(std::move(places));
    if (!run(bindings_.size() - 1)) return error();
    return bindings_.size() - 1;
  }

  [[nodiscard]] bool run(std::size_t binding) noexcept override {
    const std::vector<std::byte*>& places = bindings_[binding];
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < memory_.inputs; ++i) {
        std::memcpy(memory_.at(i), places[i] + row * memory_.bytes(i), memory_.bytes(i));
      }
      if (!one_->run(*number_)) return false;
      for (std::size_t i = memory_.inputs; i < places.size(); ++i) {
        std::memcpy(places[i] + row * memory_.bytes(i), memory_.at(i), memory_.bytes(i));
      }
    }
    return true;
  }

  [[nodiscard]] Status error() const override { return one_->error(); }

 private:
  void add(const bundle::Port& port, std::vector<engine::TensorInfo>& infos) const {
    infos.push_back({port.name, port.dtype, widened_shape(port.shape, rows_)});
  }

  std::unique_ptr<engine::EngineModel> one_;
  PortMemory memory_;
  std::size_t rows_;
  std::optional<std::size_t> number_;
  std::vector<std::vector<std::byte*>> bindings_;
  std::vector<engine::TensorInfo> inputs_;
  std::vector<engine::TensorInfo> outputs_;
};

struct Slack {
  double relative = 0;
  double of_largest = 0;
};

// Many rows are summed in another order than one. A row that has something of another is off by far more.
Slack slack_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return {1e-9, 1e-10};
    case DType::kFloat32:
      return {1e-3, 1e-4};
    case DType::kFloat16:
    case DType::kBFloat16:
      return {2e-2, 2e-2};
    default:
      return {};
  }
}

bool agree(const TensorView& one, const std::byte* wide) {
  const Slack slack = slack_of(one.dtype);
  double largest = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double value = std::fabs(load_element(one.dtype, one.data, i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double expected = load_element(one.dtype, one.data, i);
    const double found = load_element(one.dtype, wide, i);
    if (std::isnan(expected) && std::isnan(found)) continue;
    if (expected == found) continue;
    if (!(std::fabs(found - expected) <= slack.relative * std::fabs(expected) + slack.of_largest * largest)) {
      return false;
    }
  }
  return true;
}

/// Whether a widened model does for every row what the original does for one.
class Confirmation {
 public:
  Confirmation(engine::EngineModel& one, engine::EngineModel& wide, std::size_t rows)
      : one_(one), wide_(wide), rows_(rows) {}

  Status run(const bundle::Model& node) {
    bundle::BundleSpec spec;
    spec.models = {node};
    LEAPP_ASSIGN_OR_RETURN(const PortMemory small, PortMemory::make(node));
    LEAPP_ASSIGN_OR_RETURN(const PortMemory large, PortMemory::make(widened_ports(spec, rows_).models.front()));
    fill(large, 0);
    for (std::size_t i = 0; i < small.inputs; ++i) std::memcpy(small.at(i), large.at(i), small.bytes(i));
    LEAPP_ASSIGN_OR_RETURN(const std::size_t one, one_.prepare(small.binding()));
    LEAPP_ASSIGN_OR_RETURN(const std::size_t wide, wide_.prepare(large.binding()));
    constexpr std::uint64_t kSets = 2;
    for (std::uint64_t seed = 0; seed < kSets; ++seed) {
      fill(large, seed);
      if (!wide_.run(wide)) return wide_.error();
      for (std::size_t row = 0; row < rows_; ++row) LEAPP_RETURN_IF_ERROR(compare(row, one, small, large));
    }
    return {};
  }

 private:
  static void fill(const PortMemory& memory, std::uint64_t seed) {
    for (std::size_t i = 0; i < memory.inputs; ++i) {
      MockSource(seed, memory.ports[i].name).fill(memory.view(i));
    }
  }

  Status compare(std::size_t row, std::size_t binding, const PortMemory& small, const PortMemory& large) {
    for (std::size_t i = 0; i < small.inputs; ++i) {
      std::memcpy(small.at(i), large.at(i) + row * small.bytes(i), small.bytes(i));
    }
    if (!one_.run(binding)) return one_.error();
    for (std::size_t i = small.inputs; i < small.ports.size(); ++i) {
      if (agree(small.view(i), large.at(i) + row * small.bytes(i))) continue;
      return unimplemented(
          fmt::format("row {} of {} is not what the model gives for that row alone", row, small.ports[i].name));
    }
    return {};
  }

  engine::EngineModel& one_;
  engine::EngineModel& wide_;
  std::size_t rows_;
};

std::vector<engine::TensorInfo> infos_of(const std::vector<bundle::Port>& ports, std::size_t rows) {
  std::vector<engine::TensorInfo> infos;
  for (const bundle::Port& port : ports) infos.push_back({port.name, port.dtype, widened_shape(port.shape, rows)});
  return infos;
}

Result<std::unique_ptr<engine::EngineModel>> load_widened(const BatchRequest& request) {
  if (!request.onnx) return unimplemented("only ONNX models are widened");
  if (request.source.bytes.empty()) return unimplemented("the model keeps weights in another file");
  LEAPP_ASSIGN_OR_RETURN(const std::string bytes,
                         widen_model({request.source.bytes, request.node, request.rows, request.source.memory_limit}));
  engine::ModelSource source = request.source;
  source.bytes = std::as_bytes(std::span(bytes));
  source.inputs = infos_of(request.node.inputs, request.rows);
  return request.engine.load(source);
}

}  // namespace

Result<BatchedModel> load_batched(const BatchRequest& request) {
  LEAPP_ASSIGN_OR_RETURN(std::unique_ptr<engine::EngineModel> one, request.engine.load(request.source));
  BatchedModel batched;
  auto wide = load_widened(request);
  batched.widened = wide.status();
  if (wide.ok()) batched.widened = Confirmation(*one, *wide.value(), request.rows).run(request.node);
  if (batched.widened.ok()) {
    batched.model = std::move(wide).value();
    return batched;
  }
  LEAPP_ASSIGN_OR_RETURN(PortMemory memory, PortMemory::make(request.node));
  batched.model = std::make_unique<RowsModel>(std::move(one), std::move(memory), request.node, request.rows);
  return batched;
}

void repeat_rows(std::vector<std::byte>& value, std::size_t rows) {
  const std::size_t size = value.size();
  value.resize(size * rows);
  for (std::size_t row = 1; row < rows && size > 0; ++row) std::memcpy(value.data() + row * size, value.data(), size);
}

bundle::BundleSpec widened_ports(bundle::BundleSpec spec, std::size_t rows) {
  if (rows == 1) return spec;
  for (bundle::Model& model : spec.models) {
    for (auto* ports : {&model.inputs, &model.outputs}) {
      for (bundle::Port& port : *ports) port.shape = widened_shape(port.shape, rows);
    }
  }
  return spec;
}

Port widened_port(Port port, std::size_t rows) {
  if (rows == 1) return port;
  const bool added = port.shape.empty() || port.shape.front() != 1;
  port.shape = widened_shape(port.shape, rows);
  if (added) {
    port.element_names.insert(port.element_names.begin(), std::nullopt);
    if (port.temporal_axis) ++port.temporal_axis->axis;
  } else {
    port.element_names.front().reset();
    if (port.temporal_axis && port.temporal_axis->axis == 0) port.temporal_axis.reset();
  }
  return port;
}

}  // namespace leapp::runtime
