// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/fuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "onnx_proto/external_data.h"
#include "onnx_proto/merge.h"

namespace leapp::runtime {
namespace {

using bundle::PortIndex;

using Names = std::unordered_set<std::string_view>;

Names initializers_of(const onnx::GraphView& graph) {
  Names names;
  for (const auto* tensors : {&graph.initializers, &graph.sparse_initializers}) {
    for (const onnx::NamedView& tensor : *tensors) names.insert(tensor.name);
  }
  return names;
}

bool fits(const onnx::ValueInfoView& info, const bundle::Port& port) {
  if (info.elem_type != onnx::data_type_of(port.dtype)) return false;
  if (!info.dims) return true;
  return std::equal(info.dims->begin(), info.dims->end(), port.shape.begin(), port.shape.end(),
                    [](std::int64_t model, std::int64_t ours) { return model < 0 || model == ours; });
}

Status check_ports(const std::vector<bundle::Port>& ports, const std::vector<onnx::ValueInfoView>& infos) {
  std::unordered_map<std::string_view, const onnx::ValueInfoView*> named;
  for (const onnx::ValueInfoView& info : infos) named.emplace(info.name, &info);
  for (const bundle::Port& port : ports) {
    const auto info = named.find(port.name);
    if (info == named.end()) return invalid_argument(fmt::format("the model has no {}", quote(port.name)));
    if (!fits(*info->second, port)) {
      return invalid_argument(fmt::format("{}: expected {}, found another type in the model", quote(port.name),
                                          type_text(port.dtype, port.shape)));
    }
  }
  return {};
}

// Every input of the model is a port, or has a value of its own.
Status check_inputs(const onnx::GraphView& graph, const bundle::Model& node, const Names& initializers) {
  Names ports;
  for (const bundle::Port& port : node.inputs) ports.insert(port.name);
  for (const onnx::ValueInfoView& info : graph.inputs) {
    if (!ports.contains(info.name) && !initializers.contains(info.name)) {
      return invalid_argument(fmt::format("the bundle has no input {}, which the model needs", quote(info.name)));
    }
  }
  return {};
}

onnx::ValueInfo value_info(std::string name, const bundle::Port& port) {
  return {std::move(name), onnx::data_type_of(port.dtype).value_or(0), port.shape};
}

class Fuser {
 public:
  explicit Fuser(const FuseRequest& request) : request_(request) {
    for (const PortIndex at : request.wiring.outputs) outputs_.insert(at);
    for (const bundle::Edge& edge : request.wiring.edges) {
      if (edge.feedback) {
        outputs_.insert(edge.from);
      } else {
        edges_[edge.to] = edge.from;
        read_.insert(edge.from);
      }
    }
  }

  Result<std::string> run() {
    for (const std::size_t node : request_.wiring.order) {
      const Status added = add(node);
      if (!added.ok()) {
        return Status(added.code(), fmt::format("node {}: {}", model(node).name, added.message()));
      }
    }
    const onnx::Pieces pieces = std::move(merger_).take("leapp");
    if (pieces.size() > kLargestFused) {
      return unimplemented(fmt::format("the models have more than {} bytes together", kLargestFused));
    }
    return pieces.text();
  }

 private:
  [[nodiscard]] const bundle::Model& model(std::size_t node) const { return request_.spec.models[node]; }

  Status add(std::size_t node) {
    const bundle::Model& bundled = model(node);
    if (bundled.name.find('/') != std::string::npos) return invalid_argument("its name has a slash");
    LEAPP_ASSIGN_OR_RETURN(const auto files, onnx::external_data_files(request_.models[node]));
    if (!files.empty()) return unimplemented("the model keeps weights in another file");
    LEAPP_ASSIGN_OR_RETURN(const onnx::ModelView view, onnx::read_model(request_.models[node]));
    LEAPP_RETURN_IF_ERROR(check_ports(bundled.inputs, view.graph.inputs));
    LEAPP_RETURN_IF_ERROR(check_ports(bundled.outputs, view.graph.outputs));
    const Names initializers = initializers_of(view.graph);
    LEAPP_RETURN_IF_ERROR(check_inputs(view.graph, bundled, initializers));

    onnx::Renaming renaming{.prefix = bundled.name + "/", .values = {}, .functions = view.functions};
    std::set<std::string, std::less<>> given;
    for (std::size_t k = 0; k < bundled.inputs.size(); ++k) {
      renaming.values[bundled.inputs[k].name] = add_input({node, k});
      given.insert(bundled.inputs[k].name);
    }
    const std::vector<bool> passed = name_outputs(node, renaming, given);
    LEAPP_RETURN_IF_ERROR(merger_.add(view, renaming, given));
    for (std::size_t k = 0; k < bundled.outputs.size(); ++k) {
      const bool declared = passed[k] || initializers.contains(bundled.outputs[k].name);
      add_output({node, k}, declared);
    }
    return {};
  }

  /// The value that an input reads.
  std::string add_input(PortIndex at) {
    if (const auto edge = edges_.find(at); edge != edges_.end()) return values_.at(edge->second);
    const bundle::Port& port = model(at.node).inputs[at.port];
    std::string name = request_.name(model(at.node), port, true);
    merger_.add_input(value_info(name, port));
    return name;
  }

  /// Gives the outputs their names. True for those that are an input of the node, unchanged.
  std::vector<bool> name_outputs(std::size_t node, onnx::Renaming& renaming,
                                 const std::set<std::string, std::less<>>& inputs) {
    std::vector<bool> passed;
    for (std::size_t k = 0; k < model(node).outputs.size(); ++k) {
      const bundle::Port& port = model(node).outputs[k];
      passed.push_back(inputs.contains(port.name));
      if (!passed.back() && outputs_.contains({node, k})) {
        renaming.values[port.name] = request_.name(model(node), port, false);
      }
      values_[{node, k}] = renaming.value(port.name);
    }
    return passed;
  }

  /// `declared`: the value's type is known without us.
  void add_output(PortIndex at, bool declared) {
    const bundle::Port& port = model(at.node).outputs[at.port];
    const std::string& value = values_.at(at);
    if (outputs_.contains(at)) {
      const std::string name = request_.name(model(at.node), port, false);
      if (name != value) merger_.add_identity(value, name);
      merger_.add_output(value_info(name, port));
    } else if (!declared && read_.contains(at)) {
      merger_.add_value_info(value_info(value, port));
    }
  }

  const FuseRequest& request_;
  onnx::Merger merger_;
  std::set<PortIndex> outputs_;              ///< those that stay ports
  std::set<PortIndex> read_;                 ///< outputs that another node reads
  std::map<PortIndex, PortIndex> edges_;     ///< input → the output it reads
  std::map<PortIndex, std::string> values_;  ///< output → what it is called inside
};

}  // namespace

std::string whole_name(const bundle::Model& node, const bundle::Port& port, bool /*input*/) {
  return node.name + "/" + port.name;
}

FusedPipeline fuse_wiring(const bundle::BundleSpec& spec, const bundle::Wiring& wiring, const PortNamer& name) {
  FusedPipeline fused;
  std::map<PortIndex, PortIndex> inputs;
  std::map<PortIndex, PortIndex> outputs;
  const auto add_input = [&](PortIndex at) {
    const bundle::Model& node = spec.models[at.node];
    inputs[at] = {0, fused.model.inputs.size()};
    fused.model.inputs.push_back(node.inputs[at.port]);
    fused.model.inputs.back().name = name(node, node.inputs[at.port], true);
  };
  const auto add_output = [&](PortIndex at) {
    if (outputs.contains(at)) return;
    const bundle::Model& node = spec.models[at.node];
    outputs[at] = {0, fused.model.outputs.size()};
    fused.model.outputs.push_back(node.outputs[at.port]);
    fused.model.outputs.back().name = name(node, node.outputs[at.port], false);
  };
  for (const PortIndex at : wiring.inputs) {
    add_input(at);
    fused.wiring.inputs.push_back(inputs[at]);
  }
  for (const PortIndex at : wiring.outputs) {
    add_output(at);
    fused.wiring.outputs.push_back(outputs[at]);
  }
  for (const bundle::Edge& edge : wiring.edges) {
    if (!edge.feedback) continue;
    add_input(edge.to);
    add_output(edge.from);
    fused.wiring.edges.push_back({outputs[edge.from], inputs[edge.to], true});
  }
  fused.wiring.order = {0};
  return fused;
}

Result<std::string> fuse_models(const FuseRequest& request) { return Fuser(request).run(); }

}  // namespace leapp::runtime
