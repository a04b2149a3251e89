// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "codegen/emitter.h"
#include "codegen/failure.h"
#include "codegen/module_text.h"
#include "codegen/namer.h"
#include "codegen/prepare.h"
#include "codegen/text.h"
#include "engine/native/passes.h"

namespace leapp::codegen {
namespace {

using bundle::PortIndex;

std::size_t elements_of(const bundle::Port& port) {
  std::size_t count = 1;
  for (const std::int64_t extent : port.shape) count *= static_cast<std::size_t>(extent);
  return count;
}

std::string work_name(DType dtype) { return "work_" + type_word(dtype); }

/// Names for the ports of one struct: the port's own where no other port of the struct has it, else with its node's.
class FieldNames {
 public:
  explicit FieldNames(std::string_view type) {
    names_.reserve(type);
    for (int i = 0; i <= static_cast<int>(DType::kUInt64); ++i) names_.reserve(work_name(static_cast<DType>(i)));
  }

  void count(const bundle::Port& port) { ++uses_[own_name(port)]; }
  std::string operator()(const bundle::Port& port) {
    const std::string own = own_name(port);
    return names_(uses_[own] > 1 ? port.name : own);
  }
  std::string fresh(const std::string& wish) { return names_(wish); }

 private:
  // The node's name has no slash.
  static std::string own_name(const bundle::Port& port) {
    return spelled(std::string_view(port.name).substr(port.name.find('/') + 1));
  }

  Namer names_;
  std::map<std::string, int> uses_;
};

class Generator {
 public:
  Generator(const Request& request, native::LoweringResult lowered)
      : request_(request), lowered_(std::move(lowered)), fails_(may_fail(lowered_.plan, lowered_.plan.calls)) {}

  Result<Sources> run() {
    LEAPP_RETURN_IF_ERROR(prepare(lowered_.plan));
    if (lowered_.plan.constant_bytes > kMostWeights) {
      return unimplemented(fmt::format("the weights take {} bytes; as source there may be {}",
                                       lowered_.plan.constant_bytes, kMostWeights));
    }
    name_ports();
    Emitter emitter(lowered_.plan, std::move(places_));
    emitter.run();
    Sources result;
    result.name = Namer()(request_.name);
    if (is_header(result.name)) result.name += '_';
    result.uncovered = emitter.refused();
    if (!result.uncovered.empty()) return result;
    finish(emitter, result);
    return result;
  }

 private:
  [[nodiscard]] const bundle::Port& input(std::size_t port) const { return request_.ports.inputs[port]; }
  [[nodiscard]] const bundle::Port& output(std::size_t port) const { return request_.ports.outputs[port]; }

  [[nodiscard]] static Field field_of(const bundle::Port& port, std::string name, const std::string& note) {
    return {std::move(name), port.dtype, elements_of(port), port_comment(port) + note};
  }

  void name_ports() {
    FieldNames states("State");
    for (const bundle::Edge& edge : request_.wiring.edges) states.count(input(edge.to.port));
    name_inputs(states);
    name_outputs(states);
    for (const auto& info : lowered_.inputs) places_.inputs.push_back(input_places_[info.name]);
    for (const auto& info : lowered_.outputs) places_.outputs.push_back(output_places_[output_number(info.name)]);
    name_work();
  }

  void name_inputs(FieldNames& states) {
    FieldNames inputs("Inputs");
    for (const PortIndex at : request_.wiring.inputs) inputs.count(input(at.port));
    for (const PortIndex at : request_.wiring.inputs) {
      module_.inputs.push_back(field_of(input(at.port), inputs(input(at.port)), ""));
      input_places_[input(at.port).name] = "inputs." + module_.inputs.back().name;
    }
    for (const bundle::Edge& edge : request_.wiring.edges) {
      const bundle::Port& port = input(edge.to.port);
      const std::string source = comment_text(output(edge.from.port).name);
      module_.states.push_back(field_of(port, states(port), fmt::format(", fed back from {}", source)));
      input_places_[port.name] = "state." + module_.states.back().name;
    }
  }

  // A step that may fail leaves outputs as they were: they are made beside and copied at the end.
  void name_outputs(FieldNames& states) {
    FieldNames outputs("Outputs");
    for (const PortIndex at : request_.wiring.outputs) outputs.count(output(at.port));
    for (const PortIndex at : request_.wiring.outputs) {
      const std::string name = outputs(output(at.port));
      module_.outputs.push_back(field_of(output(at.port), name, ""));
      output_places_[at.port] = fails_ ? make_next(output(at.port), states, "outputs." + name) : "outputs." + name;
    }
    for (const bundle::Edge& edge : request_.wiring.edges) {
      const std::size_t from = edge.from.port;
      if (!output_places_.contains(from)) output_places_[from] = make_next(output(from), states, "");
      const bundle::Port& to = input(edge.to.port);
      copies_.push_back({output_places_[from], input_places_[to.name], elements_of(to)});
    }
  }

  [[nodiscard]] std::size_t output_number(const std::string& name) const {
    const auto& all = request_.ports.outputs;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const bundle::Port& port) { return port.name == name; });
    return static_cast<std::size_t>(found - all.begin());
  }

  std::string make_next(const bundle::Port& port, FieldNames& states, const std::string& copied_to) {
    const std::size_t slash = port.name.find('/');
    const std::string name = states.fresh("next_" + spelled(std::string_view(port.name).substr(slash + 1)));
    module_.next.push_back(field_of(port, name, ""));
    if (!copied_to.empty()) copies_.push_back({"state." + name, copied_to, elements_of(port)});
    return "state." + name;
  }

  // One array for each type of element that the plan works with.
  void name_work() {
    std::map<DType, std::size_t> bytes;
    for (const native::PlanValue& value : lowered_.plan.values) {
      if (value.constant || value.place.space != native::MemorySpace::kArena || c_type(value.dtype).empty()) continue;
      std::size_t& most = bytes[value.dtype];
      if (used(value)) most = std::max<std::size_t>(most, value.place.offset + value.bytes);
    }
    for (const auto& [dtype, size] : bytes) {
      if (size == 0) continue;
      module_.work.push_back({work_name(dtype), dtype, size / dtype_size(dtype), ""});
    }
  }

  [[nodiscard]] bool used(const native::PlanValue& value) {
    if (used_.empty()) note_used(lowered_.plan.calls);
    return used_.contains(&value);
  }
  void note_used(const native::Block& block) {
    for (const native::KernelCall& call : block) {
      for (const native::Operand& operand : call.operands) used_.insert(&lowered_.plan.values[operand.value]);
      for (const native::Block& inner : call.blocks) note_used(inner);
    }
  }

  void finish(Emitter& emitter, Sources& result) {
    add_initial_values(emitter);
    if (!copies_.empty()) emitter.need("copy");
    emitter.need("fill");
    module_.bundle = request_.name;
    module_.name = result.name;
    module_.copies = copies_;
    module_.weight_bytes = emitter.weight_bytes();
    result.header = header_text(module_, emitter);
    result.source = source_text(module_, emitter);
    result.steps = emitter.step();
    result.weight_bytes = emitter.weight_bytes();
    result.state_bytes = state_bytes(module_);
  }

  void add_initial_values(Emitter& emitter) {
    for (std::size_t i = 0; i < request_.wiring.edges.size(); ++i) {
      const auto& bytes = request_.initial_values[i];
      const bool zeros = std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
      module_.initial.emplace_back();
      if (zeros) continue;
      const bundle::Port& port = input(request_.wiring.edges[i].to.port);
      native::PlanValue value;
      value.dtype = port.dtype;
      value.shape = port.shape;
      value.constant = onnx::Bytes::copy_of(bytes);
      module_.initial.back() = emitter.add_constant("initial " + port.name, value);
      emitter.need("copy");
    }
  }

  const Request& request_;
  native::LoweringResult lowered_;
  bool fails_;
  ModuleText module_;
  std::map<std::string, std::string> input_places_;
  std::map<std::size_t, std::string> output_places_;
  PortPlaces places_;
  std::vector<Copy> copies_;
  std::set<const native::PlanValue*> used_;
};

/// What the model really takes or gives is what the bundle says: its own words are not believed.
Status check_ports(const char* what, const std::vector<bundle::Port>& ports,
                   const std::vector<engine::TensorInfo>& infos) {
  for (const engine::TensorInfo& info : infos) {
    const auto port = std::find_if(ports.begin(), ports.end(), [&](const auto& one) { return one.name == info.name; });
    if (port == ports.end()) return invalid_argument(fmt::format("the bundle has no {} {}", what, quote(info.name)));
    if (port->dtype == info.dtype && port->shape == info.shape) continue;
    return invalid_argument(fmt::format("{} {}: the bundle says {}, the model {}", what, quote(info.name),
                                        type_text(port->dtype, port->shape), type_text(*info.dtype, *info.shape)));
  }
  if (infos.size() == ports.size()) return {};
  return invalid_argument(fmt::format("the bundle has {} {}s, the model {}", ports.size(), what, infos.size()));
}

}  // namespace

std::string first_line(const std::string& bundle) {
  return fmt::format("{} from the bundle {}. Generate it anew instead of changing it.\n", kFirstWords,
                     comment_text(quote(bundle)));
}

Result<Sources> generate(const Request& request) {
  std::vector<engine::TensorInfo> inputs;
  for (const bundle::Port& port : request.ports.inputs) inputs.push_back({port.name, port.dtype, port.shape});
  LEAPP_ASSIGN_OR_RETURN(native::LoweringResult lowered, native::lower({request.model, inputs, request.memory_limit}));
  if (!lowered.uncovered.empty()) {
    Sources refused;
    refused.uncovered = std::move(lowered.uncovered);
    return refused;
  }
  LEAPP_RETURN_IF_ERROR(check_ports("input", request.ports.inputs, lowered.inputs));
  LEAPP_RETURN_IF_ERROR(check_ports("output", request.ports.outputs, lowered.outputs));
  native::optimise(lowered.plan);
  return Generator(request, std::move(lowered)).run();
}

}  // namespace leapp::codegen
