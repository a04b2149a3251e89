// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "onnx_proto/folding.h"

#include <algorithm>
#include <array>
#include <optional>
#include <protozero/exception.hpp>
#include <string_view>
#include <unordered_map>

#include "onnx_proto/constants.h"
#include "onnx_proto/contents.h"
#include "onnx_proto/shapes.h"

namespace leapp::onnx {
namespace {

constexpr double kPasses = 8;          // over the model
constexpr double kAlways = 64 << 20U;  // bytes that are worth no thought
constexpr double kWidest = 8;          // bytes of an element that a constant is turned into
constexpr double kMostAxes = 64;

// Of these the result has no more elements than the first argument.
constexpr std::array<std::string_view, 74> kNotLarger{"Abs",
                                                      "Acos",
                                                      "Acosh",
                                                      "ArgMax",
                                                      "ArgMin",
                                                      "Asin",
                                                      "Asinh",
                                                      "Atan",
                                                      "Atanh",
                                                      "BitwiseNot",
                                                      "Cast",
                                                      "CastLike",
                                                      "Ceil",
                                                      "Celu",
                                                      "Clip",
                                                      "Cos",
                                                      "Cosh",
                                                      "CumSum",
                                                      "Elu",
                                                      "Erf",
                                                      "Exp",
                                                      "Flatten",
                                                      "Floor",
                                                      "Gelu",
                                                      "HardSigmoid",
                                                      "HardSwish",
                                                      "Identity",
                                                      "IsInf",
                                                      "IsNaN",
                                                      "LeakyRelu",
                                                      "Log",
                                                      "LogSoftmax",
                                                      "Mish",
                                                      "Neg",
                                                      "Not",
                                                      "QuantizeLinear",
                                                      "Reciprocal",
                                                      "ReduceL1",
                                                      "ReduceL2",
                                                      "ReduceLogSum",
                                                      "ReduceMax",
                                                      "ReduceMean",
                                                      "ReduceMin",
                                                      "ReduceProd",
                                                      "ReduceSum",
                                                      "Relu",
                                                      "Reshape",
                                                      "Round",
                                                      "Selu",
                                                      "Shape",
                                                      "Sigmoid",
                                                      "Sign",
                                                      "Sin",
                                                      "Sinh",
                                                      "Size",
                                                      "Slice",
                                                      "Softmax",
                                                      "Softplus",
                                                      "Softsign",
                                                      "Split",
                                                      "Sqrt",
                                                      "Squeeze",
                                                      "Tan",
                                                      "Tanh",
                                                      "Transpose",
                                                      "Trilu",
                                                      "Unsqueeze",
                                                      "DequantizeLinear",
                                                      "Dropout",
                                                      "Hardmax",
                                                      "ReduceSumSquare",
                                                      "ReduceLogSumExp",
                                                      "ThresholdedRelu",
                                                      "LpNormalization"};

// Of these it has no more than the arguments' elements multiplied, and takes no more work.
constexpr std::array<std::string_view, 26> kNotLargerThanProduct{"Add",
                                                                 "And",
                                                                 "BitShift",
                                                                 "BitwiseAnd",
                                                                 "BitwiseOr",
                                                                 "BitwiseXor",
                                                                 "Div",
                                                                 "Equal",
                                                                 "Gather",
                                                                 "Greater",
                                                                 "GreaterOrEqual",
                                                                 "Less",
                                                                 "LessOrEqual",
                                                                 "MatMul",
                                                                 "Max",
                                                                 "Mean",
                                                                 "Min",
                                                                 "Mod",
                                                                 "Mul",
                                                                 "Or",
                                                                 "PRelu",
                                                                 "Pow",
                                                                 "Sub",
                                                                 "Sum",
                                                                 "Where",
                                                                 "Xor"};

/// Elements of the constants of a graph, at the most. What is not there is no constant.
class Constants {
 public:
  explicit Constants(const Constants* around = nullptr) : around_(around) {}

  [[nodiscard]] std::optional<double> find(std::string_view name) const {
    for (const Constants* at = this; at != nullptr; at = at->around_) {
      if (const auto found = at->elements_.find(name); found != at->elements_.end()) return found->second;
    }
    return std::nullopt;
  }
  void add(std::string_view name, double elements) { elements_[name] = elements; }
  void hide(std::string_view name) { elements_[name] = std::nullopt; }

 private:
  const Constants* around_;
  std::unordered_map<std::string_view, std::optional<double>> elements_;
};

struct Known {
  KnownValues values = KnownValues();
  KnownShapes shapes = KnownShapes();
  Constants constants = Constants();
};

/// A node with nothing but constants, one at least; nothing for others.
std::optional<std::vector<double>> constant_inputs(const NodeView& node, const Constants& constants) {
  std::vector<double> elements;
  for (const std::string_view name : node.inputs) {
    if (name.empty()) continue;
    const auto found = constants.find(name);
    if (!found) return std::nullopt;
    elements.push_back(*found);
  }
  return elements;
}

/// Nothing: that is not known. `bytes`: of the node.
std::optional<double> most_elements(const NodeView& node, const std::vector<double>& inputs, const Known& known,
                                    std::size_t bytes) {
  const std::string_view op = node.op_type;
  if (!node.domain.empty() && node.domain != "ai.onnx") return std::nullopt;
  if (op == "Constant") {
    return node.sparse_tensors.empty() ? std::optional(static_cast<double>(bytes)) : std::nullopt;
  }
  if (inputs.empty()) return std::nullopt;
  if (const Extents* const extents = node.outputs.empty() ? nullptr : known.shapes.find(node.outputs.front())) {
    return elements_of(*extents);
  }
  if (is_one_of(kNotLarger, op)) return std::max(inputs.front(), kMostAxes);
  double result = op == "Concat" ? 0 : 1;
  for (const double elements : inputs) result = op == "Concat" ? result + elements : result * std::max(1.0, elements);
  if (op == "Concat" || is_one_of(kNotLargerThanProduct, op)) return result;
  return std::nullopt;
}

/// What a sum of products takes beside its result; 0 for all others.
double products(const NodeView& node, double elements, const Known& known) {
  if (node.op_type != "MatMul") return 0;
  const Extents* const left = known.shapes.input(node, 0);
  return left == nullptr || left->empty() ? 0 : elements * left->back();
}

class Folding {
 public:
  explicit Folding(double most) : most_(most) {}

  /// False: it may take more than that, or nobody knows.
  bool graph(const GraphView& view, const Known& around, int depth) {
    Known known{KnownValues(&around.values), KnownShapes(&around.shapes), Constants(&around.constants)};
    for (const ValueInfoView& input : view.inputs) {
      known.values.hide(input.name);
      known.constants.hide(input.name);
      depth == 0 ? known.shapes.add_input(input) : known.shapes.hide(input.name);
    }
    for (const NamedView& tensor : view.initializers) {
      known.values.add_initializer(tensor);
      known.shapes.add_initializer(tensor);
      const Extents* const extents = known.shapes.find(tensor.name);
      if (extents == nullptr) return false;
      known.constants.add(tensor.name, elements_of(*extents));
    }
    if (!view.sparse_initializers.empty()) return false;
    return std::all_of(view.nodes.begin(), view.nodes.end(),
                       [&](const Encoded bytes) { return node(bytes, known, depth); });
  }

 private:
  bool node(Encoded bytes, Known& known, int depth) {
    const auto read = read_node(bytes);
    if (!read.ok()) return false;
    const NodeView& view = read.value();
    for (const Encoded inner : view.graphs) {
      if (depth >= kDeepestGraph) return false;
      const auto body = read_graph(inner);
      if (!body.ok() || !graph(body.value(), known, depth + 1)) return false;
    }
    known.shapes.add_result(view, known.values);
    known.values.add_result(view);
    // Of a tensor whose shape is known engines know that shape, be its elements known or not.
    const bool of_shape = view.op_type == "Shape";
    const auto inputs = of_shape ? std::vector<double>{kMostAxes} : constant_inputs(view, known.constants);
    return !inputs || !view.graphs.empty() || add(view, bytes.size(), *inputs, known);
  }

  bool add(const NodeView& view, std::size_t bytes, const std::vector<double>& inputs, Known& known) {
    const auto elements = most_elements(view, inputs, known, bytes);
    if (!elements) return false;
    sum_ += *elements * kWidest * static_cast<double>(std::max<std::size_t>(1, view.outputs.size()));
    sum_ += products(view, *elements, known);
    for (const std::string_view output : view.outputs) known.constants.add(output, *elements);
    return sum_ <= most_;
  }

  double most_;
  double sum_ = 0;
};

}  // namespace

bool folds_cheaply(Encoded model, std::uint64_t bytes) {
  const auto view = read_model(model);
  // Functions are written out before constants are looked for, with whatever they are given.
  if (!view.ok() || !view.value().functions.empty()) return false;
  try {
    return Folding(kAlways + kPasses * static_cast<double>(bytes)).graph(view.value().graph, Known(), 0);
  } catch (const protozero::exception&) {
    return false;
  }
}

}  // namespace leapp::onnx
