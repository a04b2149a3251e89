// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// From an ONNX graph to calls of kernels. Each node is lowered by the row of its operator in op_table.h, which works
// out the types of its results and adds calls. A node whose inputs are all known is lowered as well, and its calls run
// at once: that is all there is to constant folding, and to arithmetic on shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/native/plan.h"
#include "engine/native/program.h"
#include "leapp/base/status.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/reader.h"

namespace leapp::native {

/// Thrown while a node is lowered, and caught there: why this engine cannot run it.
struct Refused {
  std::string why;
};
[[noreturn]] void refuse(std::string why);

/// A node that this engine does not run, and why.
struct Uncovered {
  std::string op;    ///< "Gemm", or "domain::Name"
  std::string node;  ///< its name, or that of its first result
  std::string port;  ///< what it makes
  std::string why;
};

struct LoweringResult {
  Plan plan;
  std::vector<engine::TensorInfo> inputs;
  std::vector<engine::TensorInfo> outputs;
  std::map<std::string, std::size_t> operators;  ///< how often each occurs
  std::vector<Uncovered> uncovered;              ///< the plan is of use only if there are none
  /// What the names of the outermost graph stand for in the plan. Those that a node makes that is not covered are not
  /// among them.
  std::map<std::string, ValueId, std::less<>> names;
};

struct LoweringRequest {
  onnx::Encoded model;
  /// What will be bound: extents that the model leaves open are taken from here; initializers of these names are
  /// inputs.
  std::span<const engine::TensorInfo> inputs;
  std::uint64_t memory_limit = 0;  ///< of constants that are worked out; 0: what is usual
};

/// An error when the bytes are no model.
Result<LoweringResult> lower(const LoweringRequest& request);

struct LowerEntry;

/// The state of a lowering, and what the rows of the table build calls with. Everything that takes a ValueId may throw
/// Refused.
class Lowering {
 public:
  // --- the node -------------------------------------------------------------------------------------------------
  [[nodiscard]] std::string_view op() const { return node_->op_type; }
  [[nodiscard]] const LowerEntry& entry() const { return *entry_; }
  [[nodiscard]] std::int64_t opset() const { return opset_; }
  [[nodiscard]] std::size_t input_count() const { return node_->inputs.size(); }
  [[nodiscard]] std::size_t output_count() const { return node_->outputs.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const { return i < node_->inputs.size() && !node_->inputs[i].empty(); }
  [[nodiscard]] bool has_output(std::size_t i) const { return i < node_->outputs.size() && !node_->outputs[i].empty(); }
  [[nodiscard]] ValueId input(std::size_t i) const;
  /// kNoValue when it is left out.
  [[nodiscard]] ValueId optional_input(std::size_t i) const { return has_input(i) ? input(i) : kNoValue; }

  [[nodiscard]] std::int64_t attr_int(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] float attr_float(std::string_view name, float otherwise) const;
  [[nodiscard]] std::string attr_string(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> attr_ints(std::string_view name) const;
  [[nodiscard]] std::optional<std::vector<float>> attr_floats(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> attr_strings(std::string_view name) const;
  [[nodiscard]] bool has_attr(std::string_view name) const;
  /// The tensor of an attribute as a constant; kNoValue when there is none.
  [[nodiscard]] ValueId attr_tensor(std::string_view name);
  [[nodiscard]] std::optional<onnx::Encoded> attr_graph(std::string_view name) const;

  // --- values ---------------------------------------------------------------------------------------------------
  [[nodiscard]] const PlanValue& value(ValueId id) const { return plan_.values[id]; }
  [[nodiscard]] const Shape& shape(ValueId id) const { return plan_.values[id].shape; }
  [[nodiscard]] DType dtype(ValueId id) const { return plan_.values[id].dtype; }
  [[nodiscard]] std::int64_t rank(ValueId id) const { return static_cast<std::int64_t>(shape(id).size()); }
  [[nodiscard]] std::int64_t elements(ValueId id) const;
  [[nodiscard]] bool is_constant(ValueId id) const { return plan_.values[id].constant.has_value(); }
  [[nodiscard]] std::span<const std::byte> bytes(ValueId id) const { return plan_.values[id].constant->view; }
  /// The elements of a constant of integers; `what` names it in the refusal if it is none.
  [[nodiscard]] std::vector<std::int64_t> ints(ValueId id, std::string_view what) const;
  /// The one element of a constant of integers.
  [[nodiscard]] std::int64_t one_int(ValueId id, std::string_view what) const;
  /// The elements of a constant of any type of number.
  [[nodiscard]] std::vector<double> numbers(ValueId id, std::string_view what) const;
  [[nodiscard]] double one_number(ValueId id, std::string_view what) const;

  /// Refuses a constant of so many bytes if those that were made leave no room or time for it: before it is made.
  void expect_room(std::uint64_t bytes) const;
  /// A new value of that type. Refuses what is too large.
  ValueId make(DType dtype, Shape shape);
  ValueId make_like(ValueId other) { return make(dtype(other), shape(other)); }
  ValueId make_bytes(std::size_t bytes) { return make(DType::kUInt8, {static_cast<std::int64_t>(bytes)}); }
  ValueId constant(DType dtype, Shape shape, onnx::Bytes bytes);
  ValueId constant_ints(const std::vector<std::int64_t>& numbers);
  ValueId constant_float(float number);
  /// The bytes of a constant, aligned to 64, which those of a model need not be. Until the next call.
  const std::byte* aligned_bytes(ValueId id);
  /// A constant of so many bytes, aligned to 64, that `fill` writes.
  ValueId constant_bytes(std::size_t bytes, const std::function<void(std::byte*)>& fill);
  /// Notes what packed weights were made of.
  void set_packed(ValueId id, const PlanValue::Packed& packed) { plan_.values[id].packed = packed; }
  /// The same memory as another type and shape, `offset` bytes in. REQUIRES: it fits.
  ValueId view(ValueId of, DType dtype, Shape shape, std::uint64_t offset = 0);
  ValueId reshaped(ValueId of, Shape shape) { return view(of, dtype(of), std::move(shape)); }

  /// `id` is result `i` of the node.
  void bind(std::size_t i, ValueId id);

  /// A call that writes nothing but tensors without elements is not made.
  void add(KernelCall call);
  /// Of a layer whose steps are calls of their own. Refuses more of them than a model may have.
  void add_steps(std::int64_t steps);

  // --- blocks ---------------------------------------------------------------------------------------------------
  /// A graph inside the node, lowered to a block of its own. `inputs` are what its inputs are; `finish` is called with
  /// its results and may add calls at the block's end.
  Block lower_graph(onnx::Encoded graph, std::span<const ValueId> inputs,
                    const std::function<void(const std::vector<ValueId>&)>& finish);
  /// The same, but its calls become part of the current block.
  std::vector<ValueId> inline_graph(onnx::Encoded graph, std::span<const ValueId> inputs);

 private:
  friend class GraphLowering;
  friend Result<LoweringResult> lower(const LoweringRequest& request);

  struct Scope {
    std::map<std::string, std::optional<ValueId>, std::less<>> names;  ///< nothing: made by a node that is not covered
  };

  [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const;
  [[nodiscard]] const std::optional<ValueId>* find(std::string_view name) const;
  void define(std::string_view name, std::optional<ValueId> id);
  ValueId read_constant(onnx::Encoded tensor);
  void count_made(std::uint64_t bytes);
  void add_initializers(const onnx::GraphView& graph, const std::function<bool(std::string_view)>& skip);
  Status lower_nodes(const onnx::GraphView& graph);
  void lower_node(const onnx::NodeView& node);
  void note_uncovered(const onnx::NodeView& node, std::string why);
  [[nodiscard]] bool foldable(const onnx::NodeView& node) const;
  void fold(const onnx::NodeView& node);
  void run_now(const Block& calls, std::size_t first_new, const std::vector<ValueId>& results);
  std::vector<ValueId> graph_results(const onnx::GraphView& graph) const;
  void bind_outputs(const onnx::GraphView& graph);

  Plan plan_;
  Block* block_ = nullptr;
  std::vector<Scope> scopes_;
  const onnx::NodeView* node_ = nullptr;
  const LowerEntry* entry_ = nullptr;
  std::vector<std::optional<ValueId>> bound_;  ///< results of the current node
  std::string node_text_;
  std::int64_t opset_ = 0;
  std::size_t folded_bytes_ = 0;
  std::size_t most_folded_bytes_ = 0;
  AlignedMemory aligned_;  ///< see aligned_bytes: one for all, where a new one for each would leave holes in the heap
  std::size_t aligned_size_ = 0;
  std::uint64_t made_bytes_ = 0;  ///< of constants that are made here: packed weights, places, ranges
  std::uint64_t most_made_bytes_ = 0;
  std::int64_t steps_ = 0;
  double folding_left_ = 0;  ///< work that may still be done on constants, and to make them
  int depth_ = 0;
  std::map<std::string, std::size_t> operators_;
  std::vector<Uncovered> uncovered_;
};

/// "[1,48]" and the like are taken apart here: the number of elements, of dims from `begin` to `end`.
[[nodiscard]] std::int64_t product(std::span<const std::int64_t> dims);
/// `axis` from the back if negative. Refuses what is out of range.
[[nodiscard]] std::int64_t normal_axis(std::int64_t axis, std::int64_t rank);

}  // namespace leapp::native
