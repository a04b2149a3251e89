// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <cassert>
#include <unordered_set>
#include <utility>

namespace leapp::graph {

Graph::Graph(std::string name) : name_(std::move(name)) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

void Graph::take_name(Value* value, std::string wish) {
  if (wish.empty()) {
    const bool constant = value->kind_ == ValueKind::kConstant;
    std::int64_t& number = constant ? next_suffix_["constant"] : next_number_;
    do {
      wish = (constant ? "constant_" : "") + std::to_string(number++);
    } while (names_.contains(wish));
  } else if (names_.contains(wish)) {
    std::int64_t& number = next_suffix_[wish];
    std::string candidate;
    do {
      candidate = wish + "_" + std::to_string(++number);
    } while (names_.contains(candidate));
    wish = std::move(candidate);
  }
  names_.emplace(wish, value);
  value->name_ = std::move(wish);
}

Value* Graph::find(std::string_view name) const {
  const auto found = names_.find(std::string(name));
  return found == names_.end() ? nullptr : found->second;
}

void Graph::rename(Value* value, std::string name) {
  assert(value->kind_ != ValueKind::kInput);
  if (name == value->name_) return;
  names_.erase(value->name_);
  take_name(value, std::move(name));
}

Value* Graph::add_input(std::string name, TensorType type) {
  auto value = std::make_unique<Value>();
  value->kind_ = ValueKind::kInput;
  value->type_ = std::move(type);
  // A port's name is not ours to change: whoever has it already gives way.
  if (Value* holder = find(name)) {
    assert(holder->kind_ != ValueKind::kInput);
    names_[name] = value.get();
    take_name(holder, name);
  } else {
    names_.emplace(name, value.get());
  }
  value->name_ = std::move(name);
  Value* added = value.get();
  added->self_ = inputs_.insert(inputs_.end(), std::move(value));
  return added;
}

Value* Graph::add_constant(Constant constant, std::string name) {
  auto value = std::make_unique<Value>();
  value->kind_ = ValueKind::kConstant;
  value->type_ = constant.type;
  value->constant_ = std::move(constant);
  take_name(value.get(), std::move(name));
  Value* added = value.get();
  added->self_ = constants_.insert(constants_.end(), std::move(value));
  return added;
}

Node* Graph::append(NodeSpec spec) { return insert(nodes_.end(), std::move(spec)); }

Node* Graph::insert_before(Node* position, NodeSpec spec) { return insert(position->self_, std::move(spec)); }

Node* Graph::insert(std::list<std::unique_ptr<Node>>::iterator position, NodeSpec spec) {
  auto owned = std::make_unique<Node>();
  Node* node = owned.get();
  node->op_ = std::move(spec.op);
  node->overload_ = std::move(spec.overload);
  node->arguments_ = std::move(spec.arguments);
  node->location_ = std::move(spec.location);
  node->random_ = spec.random;
  node->results_.reserve(spec.results.size());
  for (std::size_t index = 0; index < spec.results.size(); ++index) {
    auto value = std::make_unique<Value>();
    value->type_ = std::move(spec.results[index]);
    value->producer_ = node;
    value->result_index_ = index;
    take_name(value.get(), index < spec.result_names.size() ? std::move(spec.result_names[index]) : "");
    node->results_.push_back(std::move(value));
  }
  node->self_ = nodes_.insert(position, std::move(owned));
  add_uses(node);
  return node;
}

void Graph::move_before(Node* node, Node* position) {
  nodes_.splice(position == nullptr ? nodes_.end() : position->self_, nodes_, node->self_);
}

void Graph::add_uses(Node* node) {
  const std::vector<Value*> inputs = node->inputs();
  node->use_positions_.reserve(inputs.size());
  for (Value* value : inputs) {
    value->user_slots_.push_back(node->use_positions_.size());
    node->use_positions_.push_back(value->users_.size());
    value->users_.push_back(node);
  }
}

void Graph::drop_uses(Node* node) {
  // The last entry moves into the gap: a constant with thousands of users must not be searched for each of them.
  const std::vector<Value*> inputs = node->inputs();
  for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
    Value* value = inputs[slot];
    const std::size_t gap = node->use_positions_[slot];
    Node* moved = value->users_.back();
    const std::size_t moved_slot = value->user_slots_.back();
    value->users_[gap] = moved;
    value->user_slots_[gap] = moved_slot;
    moved->use_positions_[moved_slot] = gap;
    value->users_.pop_back();
    value->user_slots_.pop_back();
  }
  node->use_positions_.clear();
}

void Graph::add_output(std::string name, Value* value) {
  ++value->output_uses_;
  outputs_.push_back({std::move(name), value});
}

void Graph::set_output(std::size_t index, Value* value) {
  --outputs_[index].value->output_uses_;
  ++value->output_uses_;
  outputs_[index].value = value;
}

void Graph::replace_all_uses(Value* from, Value* to) {
  if (from == to) return;
  const std::vector<Node*> users = from->users_;
  std::unordered_set<Node*> seen;
  for (Node* user : users) {
    if (!seen.insert(user).second) continue;
    drop_uses(user);
    for (Argument& argument : user->arguments_) {
      if (auto* single = std::get_if<Value*>(&argument.value)) {
        if (*single == from) *single = to;
      } else if (auto* list = std::get_if<std::vector<Value*>>(&argument.value)) {
        for (Value*& value : *list) {
          if (value == from) value = to;
        }
      }
    }
    add_uses(user);
  }
  for (std::size_t index = 0; from->output_uses_ > 0 && index < outputs_.size(); ++index) {
    if (outputs_[index].value == from) set_output(index, to);
  }
}

void Graph::set_argument(Node* node, std::size_t index, Attribute value) {
  drop_uses(node);
  node->arguments_[index].value = std::move(value);
  add_uses(node);
}

void Graph::erase(Node* node) {
  drop_uses(node);
  for (const auto& result : node->results_) {
    assert(result->unused());
    names_.erase(result->name_);
  }
  nodes_.erase(node->self_);
}

void Graph::erase(Value* value) {
  assert(value->unused() && value->kind_ != ValueKind::kResult);
  auto& values = value->kind_ == ValueKind::kInput ? inputs_ : constants_;
  names_.erase(value->name_);
  values.erase(value->self_);
}

}  // namespace leapp::graph
