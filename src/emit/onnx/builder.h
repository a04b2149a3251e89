// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator handler works with: the arguments of one graph node, and ONNX nodes to express it.
//
// Errors are remembered, not returned: after the first one (a missing argument, refuse(), a dtype no kernel has) calls
// go on to give placeholders, and the emitter reports it when the handler is done. A handler may so be written as plain
// expressions; it has to return early only where it would index by what it was refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emit/onnx/model_builder.h"
#include "emit/onnx/numbers.h"
#include "emit/onnx/tensor.h"
#include "graph/graph.h"
#include "leapp/base/status.h"

namespace leapp::onnx_ops {

using graph::Scalar;
using graph::TensorType;
using Ints = std::vector<std::int64_t>;
using Tensors = std::vector<Tensor>;

/// Dimension `dim` (may be negative) of `rank`; a 0-d tensor counts as one-dimensional, as in torch.
[[nodiscard]] std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank);
/// All of `dims` wrapped; every dimension when empty.
[[nodiscard]] Ints wrap_dims(const Ints& dims, std::int64_t rank);
/// The shape two tensors broadcast to. REQUIRES: they do.
[[nodiscard]] Shape broadcast_shapes(const Shape& a, const Shape& b);
/// Row-major sequence 0 .. count-1.
[[nodiscard]] Ints iota(std::int64_t count);

/// A complex value. ONNX computes with none, so its parts are two tensors.
struct ComplexTensor {
  Tensor real;
  Tensor imaginary;
};

/// A packed sequence whose lengths depend on data. Packed it would have no fixed length, so it stays as it is:
/// [steps, batch, features], with the length of each sequence of the batch, int64.
struct PaddedSequence {
  Tensor data;
  Tensor lengths;
};

class OpBuilder {
 public:
  /// What is known of the graph's values. `imaginary` has the other parts of complex ones.
  struct Values {
    std::unordered_map<const graph::Value*, Tensor> tensors;
    std::unordered_map<const graph::Value*, Tensor> imaginary;
    std::unordered_map<const graph::Value*, PaddedSequence> padded;
    [[nodiscard]] bool contains(const graph::Value* value) const {
      return tensors.contains(value) || padded.contains(value);
    }
  };
  /// In the place of complex values a handler may see one of their parts: for operators that do the same to both.
  enum class Part : std::uint8_t { kWhole, kReal, kImaginary };

  OpBuilder(ModelBuilder& model, Values& values, const graph::Node& node, std::string_view onnx_op)
      : OpBuilder(model, values, node, onnx_op, Part::kWhole) {}
  OpBuilder(ModelBuilder& model, Values& values, const graph::Node& node, std::string_view onnx_op, Part part);

  [[nodiscard]] const graph::Node& node() const { return node_; }
  [[nodiscard]] int opset() const { return model_.opset(); }
  /// The ONNX operator in the handler's row of the table; may be empty.
  [[nodiscard]] std::string onnx_op() const { return std::string(onnx_op_); }

  // ---- errors ----

  [[nodiscard]] bool ok() const { return status_.ok(); }
  [[nodiscard]] const Status& status() const { return status_; }
  /// kUnimplemented: legal, but ONNX cannot say it, or not in this opset or dtype. `why` completes the sentence
  /// "operator at line: ...".
  void refuse(const std::string& why);
  /// kInternal: a fault of ours.
  void fault(const std::string& what);

  // ---- arguments, by the schema's names ----

  /// There is such an argument and it is not None.
  [[nodiscard]] bool has(std::string_view name) const;
  /// A number in a tensor's place becomes a 0-d constant of its own dtype (int64, float32, bool).
  Tensor tensor(std::string_view name);
  /// Not present() when the argument is None.
  Tensor optional_tensor(std::string_view name);
  Tensors tensors(std::string_view name);
  /// A complex tensor, or a real one or a number as such, its parts cast to `dtype` unless nothing is given.
  ComplexTensor complex(std::string_view name, std::optional<DType> dtype = std::nullopt);
  /// The same of a list; what is real has no imaginary part.
  std::vector<ComplexTensor> complex_list(std::string_view name, DType dtype);
  /// nullptr: an ordinary tensor.
  [[nodiscard]] const PaddedSequence* padded(std::string_view name) const;
  /// The argument is a tensor of complex numbers, or a complex number.
  [[nodiscard]] bool is_complex_argument(std::string_view name) const;
  /// A tensor or a number, as `dtype`.
  Tensor operand(std::string_view name, DType dtype);
  bool is_number(std::string_view name) const;
  std::int64_t integer(std::string_view name);
  double number(std::string_view name);
  Scalar scalar(std::string_view name);
  bool flag(std::string_view name);
  std::string text(std::string_view name);
  /// A lone integer is a list of one.
  Ints integers(std::string_view name);
  std::optional<DType> dtype(std::string_view name);
  /// The dtype torch would compute these arguments in.
  DType promoted(std::initializer_list<std::string_view> names);
  /// Every element, when `value` is a constant.
  [[nodiscard]] std::optional<std::vector<Scalar>> known_values(const Tensor& value) const;
  /// The constant behind `value`, or nullptr.
  [[nodiscard]] const graph::Constant* constant_of(const Tensor& value) const { return model_.constant(value); }

  /// The first value behind `value`, itself included, that no operator of `through` made: what a rewrite finds that
  /// drops these or looks past them.
  [[nodiscard]] Tensor behind(const Tensor& value, std::initializer_list<std::string_view> through) const;
  /// The ONNX operator that made `value`; empty for an input and a constant.
  [[nodiscard]] std::string_view producer(const Tensor& value) const { return model_.producer(value); }

  // ---- results ----

  /// Of a complex result: of its parts.
  [[nodiscard]] const TensorType& result(std::size_t index = 0) const { return result_types_[index]; }
  [[nodiscard]] std::size_t result_count() const { return node_.results().size(); }
  /// `value` is result `index`. Its type has to be what the graph says.
  void bind(std::size_t index, const Tensor& value);
  void bind(const Tensor& value) { bind(0, value); }
  void bind(std::size_t index, const ComplexTensor& value);
  /// What takes the result has to ask for padded().
  void bind(std::size_t index, PaddedSequence value);

  // ---- constants ----

  Tensor constant(const Scalar& value, DType dtype);
  /// Row-major; one element for each of `shape`.
  Tensor constant(const std::vector<Scalar>& values, TensorType type);
  Tensor constant(graph::Constant value) { return model_.add_constant(std::move(value), ""); }
  /// One-dimensional int64.
  Tensor ints(const Ints& values);
  Tensor ints(const Ints& values, const Shape& shape);
  /// All elements `value`.
  Tensor full(const Scalar& value, TensorType type);
  Tensor scalar_like(double value, const Tensor& like) { return constant(value, like.dtype); }

  // ---- ONNX nodes ----

  /// A node with one result. Where ONNX Runtime has no kernel for the dtype of the data, the node computes in a wider
  /// one, and its result is cast back; where there is none, refuses.
  Tensor add(std::string op, const Tensors& inputs, TensorType result, Attributes attributes = {});
  Tensors add_many(std::string op, const Tensors& inputs, const std::vector<TensorType>& results,
                   Attributes attributes = {});

  /// Same dtype and shape.
  Tensor unary(std::string op, const Tensor& x, Attributes attributes = {});
  /// Broadcast; operands have one dtype, so has the result.
  Tensor binary(std::string op, const Tensor& x, const Tensor& y, Attributes attributes = {});
  /// Broadcast; the result is bool.
  Tensor compare(std::string op, const Tensor& x, const Tensor& y);
  Tensor cast(const Tensor& x, DType dtype);
  Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
  Tensor logical_not(const Tensor& x) { return unary("Not", x); }
  /// NaN passes through, as in torch. Absent bounds are not present().
  Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high);
  Tensor matmul(const Tensor& x, const Tensor& y);
  /// `op` is ReduceSum, ReduceMean, ...; `dims` wrapped here, empty for all.
  Tensor reduce(const std::string& op, const Tensor& x, const Ints& dims, bool keepdim);
  /// ArgMax or ArgMin.
  Tensor arg_reduce(const std::string& op, const Tensor& x, std::int64_t dim, bool keepdim);

  // ---- repetition ----

  /// The state after `count` rounds. A step gets the round's number (int64[1]) and the state before it, and gives the
  /// state after it, of the same types. Few rounds are written out, more become a Loop.
  Tensors repeat(std::int64_t count, const Tensors& state, const LoopBody& step);
  /// The same in a Loop whatever the number of rounds, 0-d int64, which may depend on data.
  Tensors loop(const Tensor& rounds, const Tensors& state, const LoopBody& step);
  /// At most `count` rounds; before its state a step gives whether there is another one, 0-d bool.
  Tensors loop_while(std::int64_t count, const Tensors& state, const LoopBody& step);

  // ---- shape ----

  Tensor reshape(const Tensor& x, const Shape& shape);
  Tensor transpose(const Tensor& x, const Ints& order);
  Tensor swap_dims(const Tensor& x, std::int64_t first, std::int64_t second);
  /// `dims` count in the result.
  Tensor unsqueeze(const Tensor& x, const Ints& dims);
  Tensor squeeze(const Tensor& x, const Ints& dims);
  Tensor expand(const Tensor& x, const Shape& shape);
  /// Bounds as Python's, already clamped or not; `step` may be negative (then `end` -1 - size means "to the start").
  Tensor slice(const Tensor& x, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);
  /// Element `index` along `dim`, without the dimension.
  Tensor select(const Tensor& x, std::int64_t dim, std::int64_t index);
  Tensor gather(const Tensor& x, const Tensor& indices, std::int64_t dim);
  Tensor gather_elements(const Tensor& x, const Tensor& indices, std::int64_t dim);
  Tensor concat(const Tensors& parts, std::int64_t dim);
  Tensors split(const Tensor& x, std::int64_t dim, const Ints& sizes);
  /// `before` and `after` by dimension; `mode` "constant", "reflect" or "edge"; only constant takes `fill`.
  Tensor pad(const Tensor& x, const Ints& before, const Ints& after, const std::string& mode, const Scalar& fill);

 private:
  const graph::Attribute* argument(std::string_view name);
  Tensor lookup(const graph::Value* value);
  Tensor lookup_in_list(const graph::Value* value);
  void split_constant(const graph::Value* value);
  bool has_type_of(std::size_t index, const Tensor& value);
  Tensor placeholder(TensorType type);
  bool is_one(const Tensor& value) const;
  Tensor one_over(const Tensor& one, const Tensor& y);
  [[nodiscard]] std::string where_from() const;

  ModelBuilder& model_;
  Values& values_;
  const graph::Node& node_;
  std::string_view onnx_op_;
  Part part_;
  std::vector<TensorType> result_types_;
  Status status_;
};

/// "file.py:12", or empty when unknown.
[[nodiscard]] std::string location_text(const graph::SourceLocation& location);

}  // namespace leapp::onnx_ops
