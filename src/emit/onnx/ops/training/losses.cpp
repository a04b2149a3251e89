// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <variant>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

void bind_reduced(OpBuilder& b, const Tensor& loss) { b.bind(reduce_loss(b, loss, b.integer("reduction"))); }

Tensor positive_part(OpBuilder& b, const Tensor& x) { return b.unary("Relu", x); }

Tensor error(OpBuilder& b) { return b.binary("Sub", argument(b, "self"), argument(b, "target")); }

void mse(OpBuilder& b) {
  const Tensor apart = error(b);
  bind_reduced(b, b.binary("Mul", apart, apart));
}

void l1(OpBuilder& b) { bind_reduced(b, b.unary("Abs", error(b))); }

/// Quadratic up to `limit`, then linear; `scale` divides the quadratic part's slope.
Tensor huber_like(OpBuilder& b, double limit, bool smooth) {
  const Tensor size = b.unary("Abs", error(b));
  const Tensor square = with_number(b, "Mul", b.binary("Mul", size, size), smooth ? 0.5 / limit : 0.5);
  const Tensor line = with_number(b, "Sub", size, 0.5 * limit);
  const Tensor far = smooth ? line : with_number(b, "Mul", line, limit);
  return b.where(compare_number(b, smooth ? "Less" : "LessOrEqual", size, limit), square, far);
}

void smooth_l1(OpBuilder& b) {
  const double beta = b.number("beta");
  if (beta == 0) return l1(b);
  bind_reduced(b, huber_like(b, beta, true));
}

void huber(OpBuilder& b) { bind_reduced(b, huber_like(b, b.number("delta"), false)); }

Tensor weighted(OpBuilder& b, const Tensor& loss) {
  return b.has("weight") ? b.binary("Mul", loss, argument(b, "weight")) : loss;
}

void binary_cross_entropy(OpBuilder& b) {
  const Tensor x = argument(b, "self");
  const Tensor target = argument(b, "target");
  const auto bounded_log = [&](const Tensor& t) { return with_number(b, "Max", b.unary("Log", t), -100); };
  const Tensor yes = b.binary("Mul", target, bounded_log(x));
  const Tensor no = b.binary("Mul", number_with(b, "Sub", 1, target), bounded_log(number_with(b, "Sub", 1, x)));
  bind_reduced(b, weighted(b, b.unary("Neg", b.binary("Add", yes, no))));
}

void binary_cross_entropy_with_logits(OpBuilder& b) {
  const Tensor x = argument(b, "self");
  const Tensor target = argument(b, "target");
  const Tensor tail = log_of_one_plus(b, b.unary("Exp", b.unary("Neg", b.unary("Abs", x))));
  Tensor rest = b.binary("Add", tail, positive_part(b, b.unary("Neg", x)));
  if (b.has("pos_weight")) {
    const Tensor extra = with_number(b, "Sub", argument(b, "pos_weight"), 1);
    rest = b.binary("Mul", rest, with_number(b, "Add", b.binary("Mul", extra, target), 1));
  }
  const Tensor linear = b.binary("Mul", number_with(b, "Sub", 1, target), x);
  bind_reduced(b, weighted(b, b.binary("Add", linear, rest)));
}

void kl_divergence(OpBuilder& b) {
  const Tensor x = argument(b, "self");
  const Tensor target = argument(b, "target");
  if (b.flag("log_target")) {
    return bind_reduced(b, b.binary("Mul", b.unary("Exp", target), b.binary("Sub", target, x)));
  }
  const Tensor entropy = b.binary("Mul", target, b.unary("Log", target));
  const Tensor kept = b.where(compare_number(b, "Equal", target, 0), b.constant(0.0, x.dtype), entropy);
  bind_reduced(b, b.binary("Sub", kept, b.binary("Mul", target, x)));
}

void soft_margin(OpBuilder& b) {
  const Tensor product = b.binary("Mul", argument(b, "self"), argument(b, "target"));
  bind_reduced(b, log_of_one_plus(b, b.unary("Exp", b.unary("Neg", product))));
}

void margin_ranking(OpBuilder& b) {
  const Tensor apart = b.binary("Sub", argument(b, "input1"), argument(b, "input2"));
  const Tensor signed_apart = b.binary("Mul", b.unary("Neg", argument(b, "target")), apart);
  bind_reduced(b, positive_part(b, with_number(b, "Add", signed_apart, b.number("margin"))));
}

void hinge_embedding(OpBuilder& b) {
  const Tensor x = argument(b, "self");
  const Tensor target = argument(b, "target");
  const Tensor zero = b.constant(0.0, x.dtype);
  const Tensor beyond = positive_part(b, number_with(b, "Sub", b.number("margin"), x));
  const Tensor apart = b.where(compare_number(b, "Equal", target, 1), zero, beyond);
  const Tensor alike = b.where(compare_number(b, "Equal", target, -1), zero, x);
  bind_reduced(b, b.binary("Add", apart, alike));
}

void cosine_embedding(OpBuilder& b) {
  constexpr double kEps = 1e-12;
  const Tensor x = argument(b, "input1");
  const Tensor y = argument(b, "input2");
  const Tensor target = argument(b, "target");
  const auto sum = [&](const Tensor& t) { return b.reduce("ReduceSum", t, {-1}, false); };
  const Tensor size_x = with_number(b, "Add", sum(b.binary("Mul", x, x)), kEps);
  const Tensor size_y = with_number(b, "Add", sum(b.binary("Mul", y, y)), kEps);
  const Tensor cosine = b.binary("Div", sum(b.binary("Mul", x, y)), b.unary("Sqrt", b.binary("Mul", size_x, size_y)));
  const Tensor zero = b.constant(0.0, x.dtype);
  const Tensor alike = b.where(compare_number(b, "Equal", target, 1), number_with(b, "Sub", 1, cosine), zero);
  const Tensor beyond = positive_part(b, with_number(b, "Sub", cosine, b.number("margin")));
  bind_reduced(b, b.binary("Add", alike, b.where(compare_number(b, "Equal", target, -1), beyond, zero)));
}

void poisson_nll(OpBuilder& b) {
  const Tensor x = argument(b, "input");
  const Tensor target = argument(b, "target");
  Tensor loss;
  if (b.flag("log_input")) {
    loss = b.binary("Sub", b.unary("Exp", x), b.binary("Mul", target, x));
  } else {
    const Tensor log = b.unary("Log", with_number(b, "Add", x, b.number("eps")));
    loss = b.binary("Sub", x, b.binary("Mul", target, log));
  }
  if (b.flag("full")) {
    const Tensor log = b.unary("Log", target);
    const Tensor spread =
        with_number(b, "Mul", b.unary("Log", with_number(b, "Mul", target, 2 * std::numbers::pi)), 0.5);
    const Tensor stirling = b.binary("Add", b.binary("Sub", b.binary("Mul", target, log), target), spread);
    const Tensor small = compare_number(b, "LessOrEqual", target, 1);
    loss = b.binary("Add", loss, b.where(small, b.constant(0.0, x.dtype), stirling));
  }
  bind_reduced(b, loss);
}

void triplet_margin(OpBuilder& b) {
  const NormOptions options{b.number("p"), {-1}, false};
  const auto distance = [&](const Tensor& x, const Tensor& y) {
    return vector_norm(b, with_number(b, "Add", b.binary("Sub", x, y), b.number("eps")), options);
  };
  const Tensor anchor = argument(b, "anchor");
  const Tensor positive = argument(b, "positive");
  const Tensor negative = argument(b, "negative");
  Tensor away = distance(anchor, negative);
  if (b.flag("swap")) away = b.binary("Min", away, distance(positive, negative));
  const Tensor apart = b.binary("Sub", distance(anchor, positive), away);
  bind_reduced(b, positive_part(b, with_number(b, "Add", apart, b.number("margin"))));
}

void multi_margin(OpBuilder& b) {
  Tensor x = b.tensor("self");
  const std::int64_t classes = x.rank() == 0 ? 1 : x.size(-1);
  x = b.reshape(x, {x.elements() / classes, classes});
  const Tensor target = b.reshape(b.tensor("target"), {x.size(0), 1});
  const Tensor right = b.gather_elements(x, target, 1);
  Tensor loss = positive_part(b, with_number(b, "Add", b.binary("Sub", x, right), b.number("margin")));
  if (b.number("p") == 2) loss = b.binary("Mul", loss, loss);
  if (b.has("weight")) loss = b.binary("Mul", loss, b.gather(b.tensor("weight"), target, 0));
  const Tensor own = b.compare("Equal", b.ints(iota(classes), {1, classes}), target);
  loss = b.where(own, b.constant(0.0, x.dtype), loss);
  const Tensor mean = b.reduce("ReduceSum", with_number(b, "Div", loss, static_cast<double>(classes)), {1}, false);
  b.bind(b.reshape(reduce_loss(b, mean, b.integer("reduction")), b.result().shape));
}

/// A row's targets end at the first negative one. Each counts against each class that is no target.
void multilabel_margin(OpBuilder& b) {
  const Tensor given = b.tensor("self");
  const std::int64_t classes = given.size(-1);
  const std::int64_t rows = given.elements() / classes;
  const Tensor x = b.reshape(given, {rows, 1, classes});
  const Tensor target = b.reshape(b.operand("target", DType::kInt64), {rows, classes});
  const Tensor zero = b.constant(std::int64_t{0}, DType::kInt64);
  const Tensor ended = b.cast(compare_number(b, "Less", target, 0), DType::kInt64);
  const Tensor axis = b.constant(std::int64_t{1}, DType::kInt64);
  const Tensor open = compare_number(b, "Equal", b.add("CumSum", {ended, axis}, ended.type()), 0);
  const Tensor named = b.compare("Equal", b.unsqueeze(target, {2}), b.ints(iota(classes)));
  const Tensor chosen = b.cast(b.binary("And", named, b.unsqueeze(open, {2})), x.dtype);
  const Tensor other = number_with(b, "Sub", 1, b.reduce("ReduceMax", chosen, {1}, true));  // [rows, 1, classes]
  const Tensor right = b.gather_elements(b.reshape(given, {rows, classes}), b.binary("Max", target, zero), 1);
  const Tensor apart = b.binary("Sub", x, b.unsqueeze(right, {2}));
  const Tensor counted = b.binary("Mul", other, b.cast(b.unsqueeze(open, {2}), x.dtype));
  const Tensor loss = b.binary("Mul", positive_part(b, with_number(b, "Add", apart, 1)), counted);
  const Tensor sum = with_number(b, "Div", b.reduce("ReduceSum", loss, {1, 2}, false), static_cast<double>(classes));
  b.bind(b.reshape(reduce_loss(b, sum, b.integer("reduction")), b.result().shape));
}

/// What classification by an index needs: where it counts, and how much.
struct Chosen {
  Tensor indices;  // with a dimension of one for the classes
  Tensor weight;   // of each, zero where the target is ignored
};

std::int64_t class_dim(const Tensor& x) { return x.rank() == 1 ? 0 : 1; }

Chosen choose(OpBuilder& b, const Tensor& x, const Tensor& target) {
  const std::int64_t dim = class_dim(x);
  const Tensor ignored = compare_number(b, "Equal", target, static_cast<double>(b.integer("ignore_index")));
  const Tensor safe = b.where(ignored, b.constant(std::int64_t{0}, target.dtype), target);
  Tensor weight = b.cast(b.logical_not(ignored), x.dtype);
  if (b.has("weight")) weight = b.binary("Mul", weight, b.gather(argument(b, "weight"), safe, 0));
  return {b.unsqueeze(safe, {dim}), b.unsqueeze(weight, {dim})};
}

/// A number, or its name.
std::int64_t reduction_of(OpBuilder& b) {
  const auto* name = std::get_if<std::string>(b.node().find("reduction"));
  if (name == nullptr) return b.integer("reduction");
  return *name == "none" ? 0 : *name == "mean" ? 1 : 2;
}

/// The mean is over the weights, sums and single losses are as they are.
Tensor reduced(OpBuilder& b, const Tensor& loss, const Tensor& weight, std::int64_t dim) {
  const std::int64_t reduction = reduction_of(b);
  if (reduction == 0) return b.squeeze(loss, {dim});
  const Tensor total = b.reduce("ReduceSum", loss, {}, false);
  return reduction == 2 ? total : b.binary("Div", total, b.reduce("ReduceSum", weight, {}, false));
}

Tensor negative_log_likelihood(OpBuilder& b, const Tensor& x, const Chosen& chosen) {
  const Tensor picked = b.gather_elements(x, chosen.indices, class_dim(x));
  // Where the weight is zero, an infinite logarithm must not count.
  const Tensor product = b.unary("Neg", b.binary("Mul", picked, chosen.weight));
  return b.where(compare_number(b, "Equal", chosen.weight, 0), b.constant(0.0, x.dtype), product);
}

void nll_loss(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  if (x.elements() == 0) return b.refuse("a loss of nothing");
  const Chosen chosen = choose(b, x, b.tensor("target"));
  b.bind(reduced(b, negative_log_likelihood(b, x, chosen), chosen.weight, class_dim(x)));
}

Tensor class_weights(OpBuilder& b, const Tensor& x) {
  Shape shape(static_cast<std::size_t>(x.rank()), 1);
  shape[static_cast<std::size_t>(class_dim(x))] = x.size(class_dim(x));
  return b.reshape(argument(b, "weight"), shape);
}

void cross_entropy_of_probabilities(OpBuilder& b, const Tensor& logs) {
  const std::int64_t dim = class_dim(logs);
  const auto classes = static_cast<double>(logs.size(dim));
  const double smoothing = b.number("label_smoothing");
  Tensor target = argument(b, "target");
  if (smoothing > 0) {
    target = with_number(b, "Add", with_number(b, "Mul", target, 1 - smoothing), smoothing / classes);
  }
  Tensor products = b.binary("Mul", logs, target);
  if (b.has("weight")) products = b.binary("Mul", products, class_weights(b, logs));
  const Tensor loss = b.unary("Neg", b.reduce("ReduceSum", products, {dim}, false));
  const std::int64_t reduction = reduction_of(b);
  if (reduction != 1) return b.bind(reduce_loss(b, loss, reduction));
  const double count = static_cast<double>(logs.elements()) / classes;
  b.bind(with_number(b, "Div", b.reduce("ReduceSum", loss, {}, false), count));
}

void cross_entropy_of(OpBuilder& b, const Tensor& x) {
  if (x.elements() == 0) return b.refuse("a loss of nothing");
  const Tensor target = b.tensor("target");
  const std::int64_t dim = class_dim(x);
  const Tensor logs = b.unary("LogSoftmax", x, {{"axis", dim}});
  if (is_floating(target.dtype)) return cross_entropy_of_probabilities(b, logs);
  const Chosen chosen = choose(b, x, target);
  Tensor loss = negative_log_likelihood(b, logs, chosen);
  const double smoothing = b.number("label_smoothing");
  if (smoothing > 0) {
    const Tensor all = b.has("weight") ? b.binary("Mul", logs, class_weights(b, x)) : logs;
    const Tensor sum = b.unary("Neg", b.reduce("ReduceSum", all, {dim}, true));
    const Tensor ignored =
        b.unsqueeze(compare_number(b, "Equal", target, static_cast<double>(b.integer("ignore_index"))), {dim});
    const Tensor smooth = b.where(ignored, b.constant(0.0, x.dtype), sum);
    const double share = smoothing / static_cast<double>(x.size(dim));
    loss = b.binary("Add", with_number(b, "Mul", loss, 1 - smoothing), with_number(b, "Mul", smooth, share));
  }
  b.bind(reduced(b, loss, chosen.weight, dim));
}

void cross_entropy(OpBuilder& b) { cross_entropy_of(b, b.tensor("self")); }

/// torch chunks the batch to save memory; the other results are for the gradient.
void linear_cross_entropy(OpBuilder& b) {
  for (std::size_t i = 1; i < b.result_count(); ++i) {
    if (b.node().result(i)->unused()) continue;
    if (graph::element_count(b.result(i).shape) != 0) return b.refuse("gradients have no ONNX form");
    b.bind(i, b.full(0.0, b.result(i)));
  }
  const Tensor weight = b.operand("linear_weight", b.result().dtype);
  Tensor x = b.matmul(b.operand("input", weight.dtype), b.swap_dims(weight, 0, 1));
  if (b.has("linear_bias")) x = b.binary("Add", x, b.operand("linear_bias", x.dtype));
  cross_entropy_of(b, x);
}

constexpr std::array kLossOps = {
    EmitEntry{"aten::binary_cross_entropy", binary_cross_entropy},
    EmitEntry{"aten::binary_cross_entropy_with_logits", binary_cross_entropy_with_logits},
    EmitEntry{"aten::cosine_embedding_loss", cosine_embedding},
    EmitEntry{"aten::cross_entropy_loss", cross_entropy},
    EmitEntry{"aten::hinge_embedding_loss", hinge_embedding},
    EmitEntry{"aten::huber_loss", huber},
    EmitEntry{"aten::kl_div", kl_divergence},
    EmitEntry{"aten::l1_loss", l1},
    EmitEntry{"aten::margin_ranking_loss", margin_ranking},
    EmitEntry{"aten::mse_loss", mse},
    EmitEntry{"aten::multi_margin_loss", multi_margin},
    EmitEntry{"aten::multilabel_margin_loss", multilabel_margin},
    EmitEntry{"aten::nll_loss_nd", nll_loss},
    EmitEntry{"aten::poisson_nll_loss", poisson_nll},
    EmitEntry{"aten::smooth_l1_loss", smooth_l1},
    EmitEntry{"aten::soft_margin_loss", soft_margin},
    EmitEntry{"aten::triplet_margin_loss", triplet_margin},
    EmitEntry{"torch_nn::_linear_cross_entropy_batch_chunked", linear_cross_entropy},
};

}  // namespace

EmitEntries loss_ops() { return kLossOps; }

}  // namespace leapp::onnx_ops
