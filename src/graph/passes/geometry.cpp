// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/geometry.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "graph/passes/simplify_views.h"
#include "graph/passes/view_emitter.h"
#include "graph/passes/view_plan.h"

namespace leapp::graph {
namespace {

// What is known about a flat value.
struct Root {
  std::vector<Value*> shaped;  // the same content in other shapes, defined before the flat value is read
  std::vector<Shape> hints;    // shapes the storage had further up a chain of scatters
  Value* written = nullptr;    // what the last scatter wrote, and where
  Strided where;
};

struct GeometryNode {
  Value* self = nullptr;
  Value* source = nullptr;  // of a scatter
  Strided view;
};

Value* named_tensor(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  const auto* value = attribute != nullptr ? std::get_if<Value*>(attribute) : nullptr;
  return value != nullptr ? *value : nullptr;
}

std::optional<GeometryNode> read_geometry(const Node& node) {
  const bool is_scatter = node.op() == "aten::as_strided_scatter";
  if ((node.op() != "aten::as_strided" && !is_scatter) || node.results().size() != 1) return std::nullopt;
  const Attribute* size = node.find("size");
  const Attribute* stride = node.find("stride");
  GeometryNode geometry{named_tensor(node, "self"), named_tensor(node, "src"), {}};
  if (geometry.self == nullptr || geometry.self->shape().size() != 1 || size == nullptr || stride == nullptr)
    return std::nullopt;
  const auto* sizes = std::get_if<Shape>(size);
  const auto* strides = std::get_if<Shape>(stride);
  if (sizes == nullptr || strides == nullptr || sizes->size() != strides->size()) return std::nullopt;
  geometry.view = {*sizes, *strides, 0};
  const Attribute* offset = node.find("storage_offset");
  if (offset != nullptr) {
    if (const auto* number = std::get_if<std::int64_t>(offset)) geometry.view.offset = *number;
  }
  if (node.result()->type() != TensorType{geometry.self->dtype(), is_scatter ? geometry.self->shape() : *sizes})
    return std::nullopt;
  // A scatter that casts or broadcasts its source is more than geometry.
  if (is_scatter &&
      (geometry.source == nullptr || geometry.source->type() != TensorType{geometry.self->dtype(), *sizes}))
    return std::nullopt;
  return geometry;
}

class Restorer {
 public:
  explicit Restorer(Graph& graph) : graph_(graph) {}
  bool run();

 private:
  Root& root_of(Value* flat);
  Value* base_value(Value* flat, Root& root, const Shape& shape, ViewEmitter& emitter);
  int base_cost(Value* flat, const Root& root, const Shape& shape) const;
  std::optional<ViewPlan> plan(const GeometryNode& geometry, const Root& root) const;
  Value* restore_read(const GeometryNode& geometry, ViewEmitter& emitter);
  Value* restore_scatter(const GeometryNode& geometry, ViewEmitter& emitter);
  void inherit(Value* flat, const GeometryNode& geometry);
  void erase_unused();

  Graph& graph_;
  std::unordered_map<Value*, Root> roots_;
  std::unordered_set<Node*> made_;  // by this pass, or only there to be flat
};

Root& Restorer::root_of(Value* flat) {
  const auto [position, is_new] = roots_.try_emplace(flat);
  Root& root = position->second;
  if (!is_new) return root;
  Node* producer = flat->producer();
  if (producer != nullptr && producer->op() == "aten::reshape") {
    if (Value* self = named_tensor(*producer, "self")) {
      root.shaped.push_back(self);
      made_.insert(producer);
    }
  }
  return root;
}

int Restorer::base_cost(Value* flat, const Root& root, const Shape& shape) const {
  const auto has_shape = [&](const Value* value) { return value->shape() == shape; };
  if (std::any_of(root.shaped.begin(), root.shaped.end(), has_shape)) return 0;
  const bool is_reshape = flat->producer() != nullptr && flat->producer()->op() == "aten::reshape";
  return shape == flat->shape() && !is_reshape ? 0 : 1;
}

Value* Restorer::base_value(Value* flat, Root& root, const Shape& shape, ViewEmitter& emitter) {
  for (Value* value : root.shaped) {
    if (value->shape() == shape) return value;
  }
  if (shape == flat->shape()) return flat;
  Value* value = emitter.reshape(root.shaped.empty() ? flat : root.shaped.front(), shape);
  root.shaped.push_back(value);
  return value;
}

std::optional<ViewPlan> Restorer::plan(const GeometryNode& geometry, const Root& root) const {
  PlanQuery query;
  query.target = geometry.view;
  query.elements = geometry.self->shape()[0];
  for (const Value* value : root.shaped) query.hints.push_back(value->shape());
  query.hints.insert(query.hints.end(), root.hints.begin(), root.hints.end());
  query.cost = [&](const ViewPlan& plan) {
    const int steps = static_cast<int>(plan.steps.size());
    const int base = base_cost(geometry.self, root, plan.base);
    if (geometry.source == nullptr) return base + steps;
    // A scatter goes down to its last narrowing step and all the way back, in the end to the shape it had.
    for (int last = steps; last-- > 0;) {
      if (plan.steps[static_cast<std::size_t>(last)].narrows()) return base + last + steps + base;
    }
    return steps + base;
  };
  return find_plan(query);
}

Value* Restorer::restore_read(const GeometryNode& geometry, ViewEmitter& emitter) {
  Root& root = root_of(geometry.self);
  if (root.written != nullptr && same_elements(root.where, geometry.view) && is_injective(root.where))
    return root.written;
  const auto found = plan(geometry, root);
  if (!found) return nullptr;
  Value* value = base_value(geometry.self, root, found->base, emitter);
  for (const ViewStep& step : found->steps) value = emitter.view(value, step);
  // The whole storage in its natural order tells what shape it has.
  const bool is_whole = same_elements(row_major(value->shape()), geometry.view) && value->shape().size() > 1 &&
                        element_count(value->shape()) == geometry.self->shape()[0];
  if (is_whole && base_cost(geometry.self, root, value->shape()) > 0) root.shaped.push_back(value);
  return value;
}

Value* Restorer::restore_scatter(const GeometryNode& geometry, ViewEmitter& emitter) {
  if (element_count(geometry.view.size) == 0) return geometry.self;
  Root& root = root_of(geometry.self);
  if (!is_injective(geometry.view)) return nullptr;
  const auto found = plan(geometry, root);
  if (!found) return nullptr;
  const auto narrows = [](const ViewStep& step) { return step.narrows(); };
  const auto last = std::find_if(found->steps.rbegin(), found->steps.rend(), narrows);
  const auto depth = static_cast<std::size_t>(found->steps.rend() - last);
  std::vector<Value*> before;  // the value each step down to the last narrowing one starts from
  for (std::size_t i = 0; i < depth; ++i) {
    before.push_back(i == 0 ? base_value(geometry.self, root, found->base, emitter)
                            : emitter.view(before.back(), found->steps[i - 1]));
  }
  std::vector<Shape> shapes = {found->base};
  std::optional<Strided> view = row_major(found->base);
  for (const ViewStep& step : found->steps) {
    view = apply(*view, step);
    shapes.push_back(view->size);
  }
  Value* value = geometry.source;
  for (std::size_t i = found->steps.size(); i-- > 0;) {
    value = emitter.undo(found->steps[i], value, {shapes[i], i < depth ? before[i] : nullptr});
  }
  return value;
}

void Restorer::inherit(Value* flat, const GeometryNode& geometry) {
  const Root parent = root_of(geometry.self);
  Root& root = root_of(flat);
  for (const Value* value : parent.shaped) root.hints.push_back(value->shape());
  root.hints.insert(root.hints.end(), parent.hints.begin(), parent.hints.end());
  // Longer lists only cost time: a chain of scatters would carry each shape it ever had.
  std::vector<Shape> unique;
  for (const Shape& shape : root.hints) {
    if (unique.size() < 4 && std::find(unique.begin(), unique.end(), shape) == unique.end()) unique.push_back(shape);
  }
  root.hints = std::move(unique);
  root.written = geometry.source;
  root.where = geometry.view;
}

void Restorer::erase_unused() {
  for (auto position = graph_.nodes().end(); position != graph_.nodes().begin();) {
    Node* node = std::prev(position)->get();
    if (made_.contains(node) && node->result()->unused()) {
      graph_.erase(node);
    } else {
      --position;
    }
  }
}

bool Restorer::run() {
  bool changed = false;
  for (auto position = graph_.nodes().begin(); position != graph_.nodes().end();) {
    Node* node = (position++)->get();
    const auto geometry = read_geometry(*node);
    if (!geometry) continue;
    ViewEmitter emitter(graph_, node, made_);
    const bool is_scatter = geometry->source != nullptr;
    Value* value = is_scatter ? restore_scatter(*geometry, emitter) : restore_read(*geometry, emitter);
    if (value == nullptr) {
      if (is_scatter) inherit(node->result(), *geometry);
      continue;
    }
    if (is_scatter && value != geometry->self) {
      if (value->shape() != node->result()->shape()) value = emitter.reshape(value, node->result()->shape());
      inherit(value, *geometry);
    }
    graph_.replace_all_uses(node->result(), value);
    graph_.erase(node);
    changed = true;
  }
  erase_unused();
  return changed;
}

}  // namespace

bool restore_views(Graph& graph) {
  const bool before = simplify_views(graph);
  const bool restored = Restorer(graph).run();
  const bool after = simplify_views(graph);
  return before || restored || after;
}

}  // namespace leapp::graph
