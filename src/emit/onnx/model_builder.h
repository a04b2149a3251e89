// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emit/onnx/tensor.h"
#include "graph/graph.h"
#include "onnx_proto/messages.h"

namespace leapp::onnx_ops {

using Attributes = std::vector<onnx::AttributeProto>;

/// One node to be.
struct OnnxNodeSpec {
  std::string op;
  std::vector<Tensor> inputs;  ///< a Tensor that is not present() leaves an optional input out
  Attributes attributes;
  std::vector<graph::TensorType> results;
  std::string doc_string;
};

/// A Loop to be: `rounds` (0-d int64) times over `state`.
struct LoopSpec {
  Tensor rounds;
  std::vector<Tensor> state;
  Tensor go_on;  ///< present (0-d bool): the body's first result is whether there is another round
  std::string doc_string;
};

/// Adds the nodes of one round: its number (0-d int64) and the state before it give the state after it, which has the
/// same types. May use every value made before.
using LoopBody = std::function<std::vector<Tensor>(const Tensor& round, const std::vector<Tensor>& state)>;

/// Adds the nodes of one side of a branch and gives its results. May use every value made before.
using BranchBody = std::function<std::vector<Tensor>()>;

/// The ONNX graph under construction. Values are numbers until finish() gives them names, so that an output's name need
/// not be known when its node is made. Not thread-safe.
class ModelBuilder {
 public:
  explicit ModelBuilder(int opset) : opset_(opset) {}

  [[nodiscard]] int opset() const { return opset_; }

  Tensor add_input(std::string name, graph::TensorType type);

  /// Equal contents of equal type are stored once. `wish`: the name if it is free; may be empty.
  Tensor add_constant(graph::Constant constant, std::string wish);

  std::vector<Tensor> add_node(OnnxNodeSpec spec);

  /// The state after the last round.
  std::vector<Tensor> add_loop(const LoopSpec& spec, const LoopBody& body);

  /// The results of the side that `condition` (0-d bool) says. REQUIRES: both give results of the same types.
  std::vector<Tensor> add_branch(const Tensor& condition, const BranchBody& then_body, const BranchBody& else_body,
                                 const std::string& doc_string);

  /// The graph gets an output of that name. What is no node's result, or an output already, passes through an Identity.
  void add_output(std::string name, const Tensor& value, const std::string& doc_string);

  /// The constant behind `value`, or nullptr. Valid until the next call that is not const.
  [[nodiscard]] const graph::Constant* constant(const Tensor& value) const;

  /// The operator that `value` is a result of; empty for an input and a constant. Valid until the next call that is not
  /// const.
  [[nodiscard]] std::string_view producer(const Tensor& value) const;
  /// The first input of that operator. Not present() when there is none.
  [[nodiscard]] Tensor produced_from(const Tensor& value) const;

  /// The graph without what no output needs.
  [[nodiscard]] onnx::GraphProto finish(std::string name);

  /// After finish(): the name that a node's result has in the graph; empty for an input, a constant, and what no output
  /// needs.
  [[nodiscard]] std::string result_name(const Tensor& value) const;

 private:
  enum class Kind : std::uint8_t { kInput, kConstant, kBodyInput, kResult };
  struct ValueRecord {
    Kind kind;
    std::string name;  // empty: made up in finish(); of a constant: a wish
    graph::TensorType type;
    std::size_t constant = 0;
    bool used = false;
    std::string op = "";  // that made it
    Tensor from = {};     // its first input
  };
  struct BodyRecord;
  struct NodeRecord {
    OnnxNodeSpec spec;
    std::vector<std::int32_t> outputs;
    bool used = false;
    std::vector<BodyRecord> bodies = {};  // of a Loop or an If
  };
  struct BodyRecord {
    std::string attribute;
    std::vector<std::int32_t> inputs;
    std::vector<std::int32_t> outputs;
    std::vector<NodeRecord> nodes;
  };
  using NodeNumbers = std::unordered_map<std::string, std::int64_t>;

  [[nodiscard]] bool is_read(const Tensor& value) const;
  Tensor shape_of(const Tensor& value);
  BodyRecord side_of_branch(const char* attribute, const BranchBody& body);
  Tensor new_value(Kind kind, std::string name, graph::TensorType type);
  std::int32_t body_output(const Tensor& value, std::int32_t first, const std::vector<std::int32_t>& others);
  void mark_used(std::vector<NodeRecord>& nodes);
  void give_names();
  [[nodiscard]] onnx::ValueInfo info_of(std::int32_t id) const;
  [[nodiscard]] std::vector<onnx::NodeProto> written(std::vector<NodeRecord>& records, NodeNumbers& numbers) const;
  [[nodiscard]] std::string free_name(const std::string& wish);

  int opset_;
  std::vector<ValueRecord> values_;
  std::vector<NodeRecord> nodes_;
  std::vector<graph::Constant> constants_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> constants_by_hash_;
  std::vector<std::int32_t> inputs_;
  std::vector<std::int32_t> outputs_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::int64_t> next_suffix_;
};

}  // namespace leapp::onnx_ops
