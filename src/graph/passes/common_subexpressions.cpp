// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/common_subexpressions.h"

#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "graph/names.h"

namespace leapp::graph {
namespace {

// Writes everything two nodes must agree in, unambiguously, so that equal keys are equal nodes.
class KeyWriter {
 public:
  std::string key(const Node& node) {
    write(node);
    return std::move(key_);
  }

  void operator()(std::monostate) {}
  void operator()(bool flag) { raw(flag); }
  void operator()(std::int64_t number) { raw(number); }
  void operator()(double number) { raw(number); }
  void operator()(const Complex& number) { raw(number); }
  void operator()(const std::string& text) {
    raw(text.size());
    key_ += text;
  }
  void operator()(DType dtype) { raw(dtype); }
  void operator()(const Device& device) { (*this)(device.name); }
  void operator()(const Layout& layout) { (*this)(layout.name); }
  void operator()(const MemoryFormat& format) { (*this)(format.name); }
  void operator()(Value* value) {
    const auto inner = numbers_.find(value);
    raw(inner == numbers_.end());
    inner == numbers_.end() ? raw(value) : raw(inner->second);
  }
  void operator()(const Scalar& scalar) {
    raw(scalar.index());
    std::visit(*this, scalar);
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    raw(list.size());
    for (const T& element : list) (*this)(element);
  }
  // Values of inner graphs are numbered as they come; their constants are the same when their bytes are shared.
  void operator()(const GraphPtr& graph) {
    raw(graph->inputs().size());
    for (const auto& input : graph->inputs()) define(*input);
    raw(graph->constants().size());
    for (const auto& constant : graph->constants()) {
      define(*constant);
      raw(constant->constant().data.get());
    }
    raw(graph->nodes().size());
    for (const auto& node : graph->nodes()) {
      write(*node);
      for (const auto& result : node->results()) define(*result);
    }
    raw(graph->outputs().size());
    for (const Output& output : graph->outputs()) (*this)(output.value);
  }

 private:
  void write(const Node& node) {
    (*this)(node.op());
    (*this)(node.overload());
    raw(node.arguments().size());
    for (const Argument& argument : node.arguments()) {
      (*this)(argument.name);
      raw(argument.value.index());
      std::visit(*this, argument.value);
    }
    for (const auto& result : node.results()) {
      raw(result->dtype());
      (*this)(result->shape());
    }
  }

  void define(const Value& value) {
    raw(value.dtype());
    (*this)(value.shape());
    const std::size_t number = numbers_.size();
    numbers_.emplace(&value, number);
  }

  template <typename T>
  void raw(const T& value) {
    key_.append(reinterpret_cast<const char*>(&value),
                sizeof(T));  // NOLINT(bugprone-sizeof-expression): of pointers too
  }

  std::string key_;
  std::unordered_map<const Value*, std::size_t> numbers_;  // of inner graphs
};

std::size_t hash_of(const Constant& constant) {
  const auto bytes = constant.bytes();
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool merge_constants(Graph& graph) {
  bool changed = false;
  std::unordered_multimap<std::size_t, Value*> seen;
  for (auto position = graph.constants().begin(); position != graph.constants().end();) {
    Value* constant = (position++)->get();
    const std::size_t hash = hash_of(constant->constant());
    auto [twin, end] = seen.equal_range(hash);
    while (twin != end && !twin->second->constant().same_content(constant->constant())) ++twin;
    if (twin == end) {
      seen.emplace(hash, constant);
      continue;
    }
    Value* spare = constant;
    if (is_automatic_name(twin->second->name()) && !is_automatic_name(constant->name())) std::swap(spare, twin->second);
    graph.replace_all_uses(spare, twin->second);
    graph.erase(spare);
    changed = true;
  }
  return changed;
}

bool merge_nodes(Graph& graph) {
  bool changed = false;
  std::unordered_map<std::string, Node*> seen;
  for (auto position = graph.nodes().begin(); position != graph.nodes().end();) {
    Node* node = (position++)->get();
    if (node->is_random()) continue;
    const auto [first, is_new] = seen.emplace(KeyWriter().key(*node), node);
    if (is_new) continue;
    for (std::size_t i = 0; i < node->results().size(); ++i)
      graph.replace_all_uses(node->result(i), first->second->result(i));
    graph.erase(node);
    changed = true;
  }
  return changed;
}

}  // namespace

bool merge_common_subexpressions(Graph& graph) {
  const bool constants = merge_constants(graph);
  const bool nodes = merge_nodes(graph);
  return constants || nodes;
}

}  // namespace leapp::graph
