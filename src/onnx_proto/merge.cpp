// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "onnx_proto/fields.h"
#include "onnx_proto/message.h"

namespace leapp::onnx {
namespace {

std::unordered_set<std::string_view> ports_of(const GraphView& graph) {
  std::unordered_set<std::string_view> names;
  for (const auto* infos : {&graph.inputs, &graph.outputs}) {
    for (const ValueInfoView& info : *infos) names.insert(info.name);
  }
  return names;
}

}  // namespace

Status Merger::add_opsets(const ModelView& model) {
  for (const OperatorSet& opset : model.opset_imports) {
    const auto [known, added] = opsets_.try_emplace(opset.domain, opset.version);
    if (!added && known->second != opset.version) {
      return invalid_argument(fmt::format("expected version {} of the operators of domain {}, found {}", known->second,
                                          quote(opset.domain), opset.version));
    }
  }
  return {};
}

Status Merger::add_graph(const GraphView& graph, const Renaming& renaming,
                         const std::set<std::string, std::less<>>& without) {
  for (const Encoded node : graph.nodes) {
    LEAPP_ASSIGN_OR_RETURN(Pieces renamed, rename_node(node, renaming));
    graph_.add_field(number(GraphField::kNode), std::move(renamed));
  }
  for (const NamedView& tensor : graph.initializers) {
    if (without.contains(tensor.name)) continue;
    LEAPP_ASSIGN_OR_RETURN(Pieces renamed, rename_initializer(tensor.bytes, renaming));
    graph_.add_field(number(GraphField::kInitializer), std::move(renamed));
  }
  for (const NamedView& tensor : graph.sparse_initializers) {
    if (without.contains(tensor.name)) continue;
    LEAPP_ASSIGN_OR_RETURN(Pieces renamed, rename_sparse_initializer(tensor.bytes, renaming));
    graph_.add_field(number(GraphField::kSparseInitializer), std::move(renamed));
  }
  const std::unordered_set<std::string_view> ports = ports_of(graph);
  for (const NamedView& info : graph.value_infos) {
    // Whoever merges says what the ports are.
    if (ports.contains(info.name)) continue;
    LEAPP_ASSIGN_OR_RETURN(Pieces renamed, rename_value_info(info.bytes, renaming));
    graph_.add_field(number(GraphField::kValueInfo), std::move(renamed));
  }
  for (const Encoded annotation : graph.annotations) {
    LEAPP_ASSIGN_OR_RETURN(Pieces renamed, rename_annotation(annotation, renaming));
    graph_.add_field(number(GraphField::kQuantization), std::move(renamed));
  }
  return {};
}

Status Merger::add(const ModelView& model, const Renaming& renaming,
                   const std::set<std::string, std::less<>>& without) {
  LEAPP_RETURN_IF_ERROR(add_opsets(model));
  LEAPP_RETURN_IF_ERROR(add_graph(model.graph, renaming, without));
  for (const FunctionView& function : model.functions) {
    LEAPP_ASSIGN_OR_RETURN(Pieces renamed, rename_function(function.bytes, renaming));
    rest_.add_field(number(ModelField::kFunction), std::move(renamed));
  }
  for (const auto& [key, value] : model.metadata_props) {
    rest_.add_field(number(ModelField::kMetadataProps), write_pair(renaming.prefix + key, value));
  }
  ir_version_ = std::max(ir_version_, model.ir_version);
  return {};
}

void Merger::add_identity(const std::string& from, const std::string& to) {
  NodeProto node;
  node.inputs = {from};
  node.outputs = {to};
  node.name = fmt::format("Identity({})", to);
  node.op_type = "Identity";
  graph_.add_field(number(GraphField::kNode), write_node(node));
}

void Merger::add_input(const ValueInfo& info) { graph_.add_field(number(GraphField::kInput), write_value_info(info)); }
void Merger::add_output(const ValueInfo& info) {
  graph_.add_field(number(GraphField::kOutput), write_value_info(info));
}
void Merger::add_value_info(const ValueInfo& info) {
  graph_.add_field(number(GraphField::kValueInfo), write_value_info(info));
}

Pieces Merger::take(const std::string& producer) && {
  PieceBuilder model;
  model.add_field(number(ModelField::kIrVersion), ir_version_);
  model.add_field(number(ModelField::kProducerName), producer);
  for (const auto& [domain, version] : opsets_) {
    model.add_field(number(ModelField::kOpsetImport), write_opset({domain, version}));
  }
  graph_.add_field(number(GraphField::kName), producer);
  model.add_field(number(ModelField::kGraph), std::move(graph_).take());
  Pieces pieces = std::move(model).take();
  pieces.append(std::move(rest_).take());
  return pieces;
}

}  // namespace leapp::onnx
