// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/nn/normalisation.h"
#include "emit/onnx/ops/nn/recurrent_cells.h"
#include "emit/onnx/ops/training/random.h"

namespace leapp::onnx_ops {
namespace {

struct Attention {
  Tensor query;  // [..., L, E]
  Tensor key;    // [..., S, E]
  Tensor value;  // [..., S, V]
  Tensor mask;   // added to the scores, or bool: true takes part; may be absent
  double scale = 1;
  bool causal = false;
  double dropout = 0;
};

struct Attended {
  Tensor output;
  Tensor weights;
  Tensor scores;  // before the softmax
};

Tensor causal_mask(OpBuilder& b, std::int64_t rows, std::int64_t columns) {
  std::vector<Scalar> mask;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) mask.emplace_back(column <= row);
  }
  return b.constant(mask, {DType::kBool, {rows, columns}});
}

/// What a mask is known to leave of each row: nothing that takes part in some row, or something in every one.
bool every_row_has_some(OpBuilder& b, const Tensor& mask) {
  const auto known = b.known_values(mask);
  if (!known || mask.rank() == 0) return false;
  const auto width = static_cast<std::size_t>(mask.size(-1));
  for (std::size_t row = 0; row * width < known->size(); ++row) {
    bool some = false;
    for (std::size_t i = 0; i < width; ++i) {
      const double number = to_double((*known)[row * width + i]);
      some = some || (mask.dtype == DType::kBool ? number != 0 : number != -kInf);
    }
    if (!some) return false;
  }
  return true;
}

Tensor with_mask(OpBuilder& b, const Tensor& scores, const Tensor& mask) {
  if (mask.dtype == DType::kBool) return b.where(mask, scores, b.constant(-kInf, scores.dtype));
  return b.binary("Add", scores, b.cast(mask, scores.dtype));
}

Tensor softmax(OpBuilder& b, const Tensor& scores) { return b.unary("Softmax", scores, {{"axis", std::int64_t{-1}}}); }

/// Softmax over the last dimension; a row in which nothing takes part becomes zeros, not NaN.
Tensor softmax_or_zero(OpBuilder& b, const Tensor& scores) {
  const Tensor nothing = compare_number(b, "Equal", b.reduce("ReduceMax", scores, {-1}, true), -kInf);
  return b.where(nothing, b.constant(0.0, scores.dtype), softmax(b, scores));
}

/// Heads of key and value that several heads of the query share, as one wider matrix of queries each.
Tensor grouped(OpBuilder& b, const Tensor& x, std::int64_t heads) {
  Shape shape = x.shape;
  const std::size_t head = shape.size() - 3;
  shape[head + 1] *= shape[head] / heads;
  shape[head] = heads;
  return b.reshape(x, shape);
}

bool shares_heads(const Attention& a) {
  return a.query.rank() > 2 && a.key.rank() == a.query.rank() && a.key.size(-3) != a.query.size(-3) &&
         a.key.size(-3) != 1;
}

Tensor product_with(OpBuilder& b, const Tensor& x, const Tensor& shared, const Attention& a) {
  if (!shares_heads(a)) return b.matmul(x, shared);
  const Tensor product = b.matmul(grouped(b, x, shared.size(-3)), shared);
  Shape shape = x.shape;
  shape.back() = product.size(-1);
  return b.reshape(product, shape);
}

Tensor scaled_query(OpBuilder& b, const Attention& a) {
  if (a.scale == 1) return a.query;
  if (a.query.dtype != DType::kFloat64) return with_number(b, "Mul", a.query, a.scale);
  // Not one number: ONNX Runtime would move it into the product, where it is a float32 attribute.
  const std::vector<Scalar> each(static_cast<std::size_t>(a.query.size(-1)), a.scale);
  return b.binary("Mul", a.query, b.constant(each, {a.query.dtype, {a.query.size(-1)}}));
}

Attended attend(OpBuilder& b, const Attention& a) {
  Attended made;
  made.scores = product_with(b, scaled_query(b, a), b.swap_dims(a.key, -2, -1), a);
  if (a.causal) made.scores = with_mask(b, made.scores, causal_mask(b, a.query.size(-2), a.key.size(-2)));
  const bool masked = a.mask.present();
  if (masked) made.scores = with_mask(b, made.scores, a.mask);
  const bool safe = !masked || (every_row_has_some(b, a.mask) && !a.causal);
  made.weights = safe ? softmax(b, made.scores) : softmax_or_zero(b, made.scores);
  made.output = product_with(b, dropped(b, made.weights, a.dropout), a.value, a);
  return made;
}

// ---- scaled_dot_product_attention ----

Attention attention_arguments(OpBuilder& b, std::string_view mask) {
  const DType dtype = statistics_dtype(b.result().dtype);
  Attention a;
  a.query = b.operand("query", dtype);
  a.key = b.operand("key", dtype);
  a.value = b.operand("value", dtype);
  if (b.has(mask)) a.mask = b.tensor(mask);
  a.causal = b.flag("is_causal");
  a.scale = b.has("scale") ? b.number("scale") : 1 / std::sqrt(static_cast<double>(a.query.size(-1)));
  a.dropout = b.number("dropout_p");
  return a;
}

void sdpa(OpBuilder& b) {
  const Attention a = attention_arguments(b, "attn_mask");
  if (!b.ok()) return;
  if (a.query.elements() == 0 || a.key.elements() == 0) return b.bind(b.full(0.0, b.result()));
  b.bind(b.cast(attend(b, a).output, b.result().dtype));
}

void sdpa_math(OpBuilder& b) {
  if (b.has("dropout_mask")) return b.refuse("a dropout mask has no ONNX form");
  const Attention a = attention_arguments(b, "attn_mask");
  if (a.dropout != 0) b.refuse("dropout_p other than 0 is random; put the module in eval mode");
  if (!b.ok()) return;
  const Attended made = attend(b, a);
  b.bind(0, b.cast(made.output, b.result().dtype));
  if (!b.node().result(1)->unused()) b.bind(1, b.cast(made.weights, b.result(1).dtype));
}

void sdpa_flash(OpBuilder& b) {
  const Attention a = attention_arguments(b, "attn_mask");
  if (a.dropout != 0) b.refuse("dropout_p other than 0 is random; put the module in eval mode");
  if (!b.ok()) return;
  const Attended made = attend(b, a);
  b.bind(0, b.cast(made.output, b.result().dtype));
  if (b.node().result(1)->unused()) return;
  b.bind(1, b.cast(b.reduce("ReduceLogSumExp", made.scores, {-1}, false), b.result(1).dtype));
}

// ---- multi-head attention ----

/// x @ weight^T + bias over the last dimension.
Tensor linear(OpBuilder& b, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const std::int64_t width = x.size(-1);
  const Tensor rows = b.reshape(x, {x.elements() / width, width});
  Shape shape = x.shape;
  shape.back() = weight.size(0);
  return b.reshape(gemm(b, rows, weight, bias), shape);
}

struct MultiHead {
  std::int64_t heads = 1;
  Tensor input_weight;  // [3 E, E]
  Tensor input_bias;
  Tensor output_weight;
  Tensor output_bias;
  Tensor mask;  // bool: true is left out; may be absent
};

MultiHead multi_head_arguments(OpBuilder& b, std::string_view heads, DType dtype) {
  MultiHead m{b.integer(heads),
              b.operand("qkv_weight", dtype),
              b.operand("qkv_bias", dtype),
              b.operand("proj_weight", dtype),
              b.operand("proj_bias", dtype),
              {}};
  if (b.has("mask")) m.mask = b.operand("mask", DType::kBool);
  return m;
}

/// [B, L, E] to [B, heads, L, E / heads]
Tensor split_heads(OpBuilder& b, const Tensor& x, std::int64_t heads) {
  return b.transpose(b.reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), {0, 2, 1, 3});
}

/// A mask as [.., L, S] that broadcasts against the scores. torch's types: 0 is [L, S], 1 is [B, S], 2 is all.
Tensor broadcast_mask(OpBuilder& b, const Tensor& mask) {
  const std::int64_t type = b.has("mask_type") ? b.integer("mask_type") : 2;
  if (type != 1) return mask;
  return b.reshape(mask, {mask.size(0), 1, 1, mask.size(-1)});
}

struct Sources {
  Tensor query;
  Tensor key;
  Tensor value;
};

Tensors project_inputs(OpBuilder& b, const MultiHead& m, const Sources& from) {
  const std::int64_t width = from.query.size(-1);
  const Ints thirds = {width, width, width};
  if (from.query.id == from.key.id && from.query.id == from.value.id) {
    return b.split(linear(b, from.query, m.input_weight, m.input_bias), -1, thirds);
  }
  const Tensors weights = b.split(m.input_weight, 0, thirds);
  const Tensors biases = b.split(m.input_bias, 0, thirds);
  return {linear(b, from.query, weights[0], biases[0]), linear(b, from.key, weights[1], biases[1]),
          linear(b, from.value, weights[2], biases[2])};
}

Attended multi_head(OpBuilder& b, const MultiHead& m, const Sources& from) {
  const Tensors projected = project_inputs(b, m, from);
  const std::int64_t head_size = projected[0].size(-1) / m.heads;
  Attention a{.query = split_heads(b, projected[0], m.heads),
              .key = split_heads(b, projected[1], m.heads),
              .value = split_heads(b, projected[2], m.heads),
              .mask = {},
              .scale = 1 / std::sqrt(static_cast<double>(head_size)),
              .causal = false,
              .dropout = 0};
  if (m.mask.present()) a.mask = broadcast_mask(b, b.logical_not(m.mask));
  Attended made = attend(b, a);
  const Tensor joined = b.reshape(b.transpose(made.output, {0, 2, 1, 3}), from.query.shape);
  made.output = linear(b, joined, m.output_weight, m.output_bias);
  return made;
}

void native_multi_head(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const MultiHead m = multi_head_arguments(b, "num_head", dtype);
  const Sources from{b.operand("query", dtype), b.operand("key", dtype), b.operand("value", dtype)};
  if (!b.ok()) return;
  const Attended made = multi_head(b, m, from);
  b.bind(0, b.cast(made.output, b.result().dtype));
  if (b.node().result(1)->unused()) return;
  if (!b.flag("need_weights")) return b.bind(1, b.full(0.0, b.result(1)));
  const Tensor weights =
      b.flag("average_attn_weights") ? b.reduce("ReduceMean", made.weights, {1}, false) : made.weights;
  b.bind(1, b.cast(weights, b.result(1).dtype));
}

// ---- a whole encoder layer ----

Tensor gelu(OpBuilder& b, const Tensor& x) {
  if (b.opset() >= 20 && x.dtype == DType::kFloat32) return b.unary("Gelu", x);
  const Tensor gate = with_number(b, "Add", b.unary("Erf", with_number(b, "Mul", x, std::numbers::sqrt2 / 2)), 1);
  return b.binary("Mul", with_number(b, "Mul", x, 0.5), gate);
}

Tensor feed_forward(OpBuilder& b, const Tensor& x, DType dtype) {
  const Tensor inner = linear(b, x, b.operand("ffn_weight_1", dtype), b.operand("ffn_bias_1", dtype));
  const Tensor active = b.flag("use_gelu") ? gelu(b, inner) : b.unary("Relu", inner);
  return linear(b, active, b.operand("ffn_weight_2", dtype), b.operand("ffn_bias_2", dtype));
}

void encoder_layer(OpBuilder& b) {
  const DType dtype = statistics_dtype(b.result().dtype);
  const Tensor source = b.operand("src", dtype);
  const bool norm_first = b.flag("norm_first");
  const double eps = b.number("eps");
  const LayerNormOptions first{1, b.operand("norm_weight_1", dtype), b.operand("norm_bias_1", dtype), eps};
  const LayerNormOptions second{1, b.operand("norm_weight_2", dtype), b.operand("norm_bias_2", dtype), eps};
  const MultiHead m = multi_head_arguments(b, "num_heads", dtype);
  if (!b.ok()) return;
  const Tensor seen = norm_first ? layer_norm(b, source, first) : source;
  Tensor x = b.binary("Add", source, multi_head(b, m, {seen, seen, seen}).output);
  if (!norm_first) x = layer_norm(b, x, first);
  const Tensor fed = feed_forward(b, norm_first ? layer_norm(b, x, second) : x, dtype);
  x = b.binary("Add", x, fed);
  if (!norm_first) x = layer_norm(b, x, second);
  b.bind(b.cast(x, b.result().dtype));
}

constexpr std::array kAttentionOps = {
    EmitEntry{"aten::_native_multi_head_attention", native_multi_head},
    EmitEntry{"aten::_scaled_dot_product_attention_math", sdpa_math},
    EmitEntry{"aten::_scaled_dot_product_flash_attention_for_cpu", sdpa_flash},
    EmitEntry{"aten::_transformer_encoder_layer_fwd", encoder_layer},
    EmitEntry{"aten::scaled_dot_product_attention", sdpa},
};

}  // namespace

EmitEntries attention_ops() { return kAttentionOps; }

}  // namespace leapp::onnx_ops
