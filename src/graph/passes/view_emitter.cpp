// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/view_emitter.h"

#include <utility>

namespace leapp::graph {

using Kind = ViewStep::Kind;

Value* ViewEmitter::emit(NodeSpec spec, DType dtype, Shape shape) {
  spec.results = {TensorType{dtype, std::move(shape)}};
  spec.location = position_->location();
  Node* node = graph_.insert_before(position_, std::move(spec));
  made_.insert(node);
  return node->result();
}

Value* ViewEmitter::reshape(Value* self, const Shape& shape) {
  NodeSpec spec;
  spec.op = "aten::reshape";
  spec.arguments = {{"self", self}, {"shape", shape}};
  return emit(std::move(spec), self->dtype(), shape);
}

Value* ViewEmitter::view(Value* self, const ViewStep& step) {
  if (step.kind == Kind::kReshape) return reshape(self, step.list);
  NodeSpec spec;
  switch (step.kind) {
    case Kind::kReshape:
      break;
    case Kind::kPermute:
      spec.op = "aten::permute";
      spec.arguments = {{"self", self}, {"dims", step.list}};
      break;
    case Kind::kExpand:
      spec.op = "aten::expand";
      spec.arguments = {{"self", self}, {"size", step.list}, {"implicit", false}};
      break;
    case Kind::kSelect:
      spec.op = "aten::select";
      spec.overload = "int";
      spec.arguments = {{"self", self}, {"dim", step.dim}, {"index", step.start}};
      break;
    case Kind::kSlice:
      spec.op = "aten::slice";
      spec.overload = "Tensor";
      spec.arguments = {
          {"self", self}, {"dim", step.dim}, {"start", step.start}, {"end", step.end}, {"step", step.step}};
      break;
    case Kind::kDiagonal:
      spec.op = "aten::diagonal";
      spec.arguments = {{"self", self}, {"offset", step.start}, {"dim1", step.dim}, {"dim2", step.dim2}};
      break;
  }
  // Only the shape is of interest, and that does not depend on strides.
  return emit(std::move(spec), self->dtype(), apply(row_major(self->shape()), step)->size);
}

Value* ViewEmitter::undo(const ViewStep& step, Value* source, const Before& before) {
  if (step.narrows()) return scatter(step, source, before);
  if (step.kind == Kind::kReshape) return reshape(source, before.shape);
  ViewStep inverse = step;
  for (std::size_t i = 0; i < step.list.size(); ++i)
    inverse.list[static_cast<std::size_t>(step.list[i])] = static_cast<std::int64_t>(i);
  return view(source, inverse);
}

Value* ViewEmitter::scatter(const ViewStep& step, Value* source, const Before& before) {
  NodeSpec spec;
  spec.arguments = {{"self", before.value}, {"src", source}};
  const auto add = [&](std::string name, std::int64_t number) { spec.arguments.push_back({std::move(name), number}); };
  if (step.kind == Kind::kSelect) {
    spec.op = "aten::select_scatter";
    add("dim", step.dim);
    add("index", step.start);
  } else if (step.kind == Kind::kSlice) {
    spec.op = "aten::slice_scatter";
    add("dim", step.dim);
    add("start", step.start);
    add("end", step.end);
    add("step", step.step);
  } else {
    spec.op = "aten::diagonal_scatter";
    add("offset", step.start);
    add("dim1", step.dim);
    add("dim2", step.dim2);
  }
  return emit(std::move(spec), before.value->dtype(), before.shape);
}

}  // namespace leapp::graph
