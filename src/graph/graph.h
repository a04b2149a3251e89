// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The graph of one captured node.
//
// Semantics
//   * Pure SSA. A Value is defined once: as an input, as a constant or as the result of a Node. Nothing is ever
//     written to; capture has resolved every mutation before a graph exists.
//   * A Value has a dtype and a static shape. It has no strides: layout is not part of a value. `aten::view` and its
//     kin therefore do not occur, `aten::reshape` does.
//   * `aten::as_strided` and `aten::as_strided_scatter` are geometry: their `self` is one-dimensional (the flat content
//     of a storage) and offsets and strides count elements of it.
//   * A Node is an operator in ATen's vocabulary ("aten::add", overload "Tensor"), its arguments in schema order with
//     schema names, complete (defaults filled in). Where the schema says Tensor, a Python number may stand in: it takes
//     part in type promotion as a number, not as a 0-d tensor.
//   * Nodes stand in an order in which every value is defined before it is used; passes keep that order. Iteration is
//     deterministic everywhere.
//   * A conditional ("leapp::if", conditional.h) runs one of two graphs inside it. These see nothing of the graph
//     around them but what the node hands in, so that to whoever does not look inside it is an operator like others.
//   * Outputs are named and ordered; an output may be an input, a constant, or a value that is an output already.
//   * Only Graph mutates. Handles (Value*, Node*) are stable until the thing is erased. Not thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/shape.h"
#include "graph/attribute.h"
#include "leapp/base/dtype.h"

namespace leapp::graph {

class Graph;
class Node;

using leapp::Shape;

/// Number of elements; 1 for a 0-d shape.
[[nodiscard]] std::int64_t element_count(const Shape& shape);

struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

/// The line of the user's program an operator came from. Empty file: unknown.
struct SourceLocation {
  std::string file;
  int line = 0;
  std::string function;
  bool operator==(const SourceLocation&) const = default;
};

/// Immutable bytes of a tensor in row-major order, shared with whoever else holds them.
struct Constant {
  TensorType type;
  std::shared_ptr<const void> data;  ///< may be null when the tensor has no elements
  bool parameter = false;            ///< it was a parameter of a module, not a buffer or a plain tensor
  [[nodiscard]] std::size_t byte_size() const;
  [[nodiscard]] std::span<const std::byte> bytes() const;
  [[nodiscard]] bool same_content(const Constant& other) const;
};

enum class ValueKind : std::uint8_t { kInput, kConstant, kResult };

class Value {
 public:
  [[nodiscard]] ValueKind kind() const { return kind_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const TensorType& type() const { return type_; }
  [[nodiscard]] DType dtype() const { return type_.dtype; }
  [[nodiscard]] const Shape& shape() const { return type_.shape; }

  /// The node this is a result of, and which one; nullptr for inputs and constants.
  [[nodiscard]] Node* producer() const { return producer_; }
  [[nodiscard]] std::size_t result_index() const { return result_index_; }

  /// REQUIRES: kind() == kConstant.
  [[nodiscard]] const Constant& constant() const { return constant_; }

  /// Nodes that read this value, one entry for each place it stands in.
  [[nodiscard]] const std::vector<Node*>& users() const { return users_; }
  [[nodiscard]] bool is_output() const { return output_uses_ > 0; }
  [[nodiscard]] bool unused() const { return users_.empty() && output_uses_ == 0; }

 private:
  friend class Graph;
  ValueKind kind_ = ValueKind::kResult;
  std::string name_;
  TensorType type_;
  Node* producer_ = nullptr;
  std::size_t result_index_ = 0;
  Constant constant_;
  std::vector<Node*> users_;
  std::list<std::unique_ptr<Value>>::iterator self_;  // inputs and constants only
  std::vector<std::size_t> user_slots_;               // for each user, which entry of its use_positions_ points here
  int output_uses_ = 0;
};

class Node {
 public:
  [[nodiscard]] const std::string& op() const { return op_; }              ///< "aten::add"
  [[nodiscard]] const std::string& overload() const { return overload_; }  ///< "Tensor", may be empty
  [[nodiscard]] const std::vector<Argument>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Value>>& results() const { return results_; }
  [[nodiscard]] Value* result(std::size_t index = 0) const { return results_[index].get(); }
  [[nodiscard]] const SourceLocation& location() const { return location_; }

  /// True when the result is drawn from a random generator: never folded, never merged with its like.
  [[nodiscard]] bool is_random() const { return random_; }

  /// The argument of that name, or nullptr.
  [[nodiscard]] const Attribute* find(std::string_view name) const;

  /// "aten::add.Tensor"
  [[nodiscard]] std::string qualified_name() const;

  /// Every tensor argument in order, lists flattened, None left out.
  [[nodiscard]] std::vector<Value*> inputs() const;

 private:
  friend class Graph;
  std::string op_;
  std::string overload_;
  std::vector<Argument> arguments_;
  std::vector<std::unique_ptr<Value>> results_;
  SourceLocation location_;
  bool random_ = false;
  std::list<std::unique_ptr<Node>>::iterator self_;
  std::vector<std::size_t> use_positions_;  // for each of inputs(), where this node stands in its users_
};

/// What it takes to make a node. Names of results are made up when left out.
struct NodeSpec {
  std::string op;
  std::string overload;
  std::vector<Argument> arguments;
  std::vector<TensorType> results;
  SourceLocation location;
  bool random = false;
  std::vector<std::string> result_names;
};

struct Output {
  std::string name;
  Value* value = nullptr;
};

class Graph {
 public:
  explicit Graph(std::string name = "");
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  [[nodiscard]] const std::string& name() const { return name_; }

  /// REQUIRES: no input of that name. An input's name is its port's, whatever characters it has.
  Value* add_input(std::string name, TensorType type);

  /// `name` is a wish ("actor.0.weight"); a number is appended when it is taken. Empty: "constant_0", ...
  Value* add_constant(Constant constant, std::string name = "");

  Node* append(NodeSpec spec);
  Node* insert_before(Node* position, NodeSpec spec);

  void add_output(std::string name, Value* value);
  void set_output(std::size_t index, Value* value);

  /// Every argument and output that is `from` becomes `to`.
  void replace_all_uses(Value* from, Value* to);
  void set_argument(Node* node, std::size_t index, Attribute value);

  /// Puts `node` before `position`, at the end for nullptr. REQUIRES: what it reads stands before, who reads it behind.
  void move_before(Node* node, Node* position);

  /// `name` is a wish as in add_constant. REQUIRES: `value` is not an input.
  void rename(Value* value, std::string name);

  /// REQUIRES: no result of `node` is used.
  void erase(Node* node);
  /// REQUIRES: `value` is an input or a constant of this graph and unused.
  void erase(Value* value);

  [[nodiscard]] const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  [[nodiscard]] const std::list<std::unique_ptr<Value>>& inputs() const { return inputs_; }
  [[nodiscard]] const std::list<std::unique_ptr<Value>>& constants() const { return constants_; }
  [[nodiscard]] const std::vector<Output>& outputs() const { return outputs_; }

  /// The value of that name, or nullptr.
  [[nodiscard]] Value* find(std::string_view name) const;

 private:
  Node* insert(std::list<std::unique_ptr<Node>>::iterator position, NodeSpec spec);
  void add_uses(Node* node);
  void drop_uses(Node* node);
  void take_name(Value* value, std::string wish);

  std::string name_;
  std::list<std::unique_ptr<Node>> nodes_;
  std::list<std::unique_ptr<Value>> inputs_;
  std::list<std::unique_ptr<Value>> constants_;
  std::vector<Output> outputs_;
  std::unordered_map<std::string, Value*> names_;              // inputs, constants and results share one name space
  std::unordered_map<std::string, std::int64_t> next_suffix_;  // by wish, so that many like names stay linear
  std::int64_t next_number_ = 0;
};

}  // namespace leapp::graph
