// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "graph/passes/strided.h"

namespace leapp::graph {

/// Makes nodes for view steps in front of a node, with that node's location.
class ViewEmitter {
 public:
  /// Adds each node it makes to `made`.
  ViewEmitter(Graph& graph, Node* position, std::unordered_set<Node*>& made)
      : graph_(graph), position_(position), made_(made) {}

  /// What a step starts from. The value is only needed where the step narrows.
  struct Before {
    Shape shape;
    Value* value = nullptr;
  };

  Value* reshape(Value* self, const Shape& shape);
  Value* view(Value* self, const ViewStep& step);
  /// The value before the step, with the view that the step makes replaced by `source`.
  /// REQUIRES: the step is no expand.
  Value* undo(const ViewStep& step, Value* source, const Before& before);

 private:
  Value* emit(NodeSpec spec, DType dtype, Shape shape);
  Value* scatter(const ViewStep& step, Value* source, const Before& before);

  Graph& graph_;
  Node* position_;
  std::unordered_set<Node*>& made_;
};

}  // namespace leapp::graph
