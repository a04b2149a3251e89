// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/rewrite.h"

#include <algorithm>
#include <utility>

#include "onnx_proto/fields.h"
#include "onnx_proto/message.h"

namespace leapp::onnx {
namespace {

Pieces shared(Encoded bytes) {
  Pieces pieces;
  pieces.append(Bytes{nullptr, bytes});
  return pieces;
}

}  // namespace

void Rewrite::add_node(Encoded node) { graph_.add_field(number(GraphField::kNode), shared(node)); }
void Rewrite::add_node(Pieces node) { graph_.add_field(number(GraphField::kNode), std::move(node)); }
void Rewrite::add_node(const NodeProto& node) { graph_.add_field(number(GraphField::kNode), write_node(node)); }
void Rewrite::add_input(const ValueInfo& info) { graph_.add_field(number(GraphField::kInput), write_value_info(info)); }
void Rewrite::add_output(const ValueInfo& info) {
  graph_.add_field(number(GraphField::kOutput), write_value_info(info));
}

Pieces Rewrite::take(const std::set<std::string, std::less<>>& without) && {
  for (const NamedView& tensor : original_.graph.initializers) {
    if (!without.contains(tensor.name)) graph_.add_field(number(GraphField::kInitializer), shared(tensor.bytes));
  }
  for (const Encoded annotation : original_.graph.annotations) {
    graph_.add_field(number(GraphField::kQuantization), shared(annotation));
  }
  graph_.add_field(number(GraphField::kName), std::string_view("leapp"));
  PieceBuilder model;
  // From version 4 on initializers are no inputs.
  model.add_field(number(ModelField::kIrVersion), std::max<std::int64_t>(original_.ir_version, 4));
  for (const OperatorSet& set : original_.opset_imports) {
    model.add_field(number(ModelField::kOpsetImport), write_opset(set));
  }
  model.add_field(number(ModelField::kGraph), std::move(graph_).take());
  return std::move(model).take();
}

}  // namespace leapp::onnx
