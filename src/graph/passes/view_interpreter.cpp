// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/view_interpreter.h"

#include <stdexcept>

namespace leapp::graph::testing {
namespace {

using Dims = std::vector<std::int64_t>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Dims unflatten(std::int64_t flat, const Shape& shape) {
  Dims index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index;
}

std::int64_t flatten(const Dims& index, const Shape& shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (index.at(i) < 0 || index.at(i) >= shape[i]) throw std::runtime_error("index out of range");
    flat = flat * shape[i] + index[i];
  }
  return flat;
}

std::int64_t number(const Node& node, const char* name) { return std::get<std::int64_t>(*node.find(name)); }
const Dims& list(const Node& node, const char* name) { return std::get<Dims>(*node.find(name)); }

// The index in `self` of the element that stands at `index` in the view.
Dims index_in_self(const Node& node, const std::string& op, Dims index, const Shape& self) {
  if (op == "select") {
    index.insert(index.begin() + number(node, "dim"), number(node, "index"));
  } else if (op == "slice") {
    std::int64_t& one = index[at(number(node, "dim"))];
    one = number(node, "start") + one * number(node, "step");
  } else if (op == "permute") {
    Dims result(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) result[at(list(node, "dims")[i])] = index[i];
    return result;
  } else if (op == "expand") {
    index.erase(index.begin(), index.end() - std::ssize(self));
    for (std::size_t i = 0; i < self.size(); ++i) index[i] = self[i] == 1 ? 0 : index[i];
  } else if (op == "diagonal") {
    const std::int64_t along = index.back();
    index.pop_back();
    const std::int64_t dim1 = number(node, "dim1");
    const std::int64_t dim2 = number(node, "dim2");
    const std::int64_t offset = number(node, "offset");
    Dims result(self.size(), -1);
    result[at(dim1)] = along + std::max<std::int64_t>(-offset, 0);
    result[at(dim2)] = along + std::max<std::int64_t>(offset, 0);
    for (std::size_t i = 0, next = 0; i < self.size(); ++i) {
      if (i != at(dim1) && i != at(dim2)) result[i] = index.at(next++);
    }
    return result;
  } else if (op == "as_strided") {
    std::int64_t flat = number(node, "storage_offset");
    for (std::size_t i = 0; i < index.size(); ++i) flat += index[i] * list(node, "stride")[i];
    return {flat};
  } else {
    throw std::runtime_error("unknown operator " + op);
  }
  return index;
}

ViewTensor run(const Node& node, std::map<const Value*, ViewTensor>& values) {
  std::string op = node.op().substr(6);
  const ViewTensor self = values.at(std::get<Value*>(*node.find("self")));
  ViewTensor result{node.result()->shape(), {}};
  if (op == "reshape") {
    result.data = self.data;
    if (std::ssize(result.data) != element_count(result.shape)) throw std::runtime_error("reshape of another size");
    return result;
  }
  const bool is_scatter = op.ends_with("_scatter");
  if (!is_scatter) {
    for (std::int64_t i = 0; i < element_count(result.shape); ++i) {
      const Dims index = index_in_self(node, op, unflatten(i, result.shape), self.shape);
      result.data.push_back(self.data.at(at(flatten(index, self.shape))));
    }
    return result;
  }
  op.resize(op.size() - 8);
  const ViewTensor& source = values.at(std::get<Value*>(*node.find("src")));
  result = self;
  for (std::int64_t i = 0; i < element_count(source.shape); ++i) {
    const Dims index = index_in_self(node, op, unflatten(i, source.shape), self.shape);
    result.data.at(at(flatten(index, self.shape))) = source.data.at(at(i));
  }
  return result;
}

}  // namespace

std::vector<ViewTensor> interpret(const Graph& graph) {
  std::map<const Value*, ViewTensor> values;
  std::int64_t first = 0;
  for (const auto& input : graph.inputs()) {
    ViewTensor tensor{input->shape(), {}};
    for (std::int64_t i = 0; i < element_count(input->shape()); ++i) tensor.data.push_back(first + i);
    values[input.get()] = std::move(tensor);
    first += 1000;
  }
  for (const auto& node : graph.nodes()) values[node->result()] = run(*node, values);
  std::vector<ViewTensor> outputs;
  for (const Output& output : graph.outputs()) outputs.push_back(values.at(output.value));
  return outputs;
}

std::size_t count_nodes(const Graph& graph, const std::string& op) {
  std::size_t count = 0;
  for (const auto& node : graph.nodes()) count += node->op() == op ? 1 : 0;
  return count;
}

}  // namespace leapp::graph::testing
