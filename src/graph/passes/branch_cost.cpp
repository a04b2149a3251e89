// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/branch_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/dtype_kind.h"
#include "graph/conditional.h"
#include "graph/division.h"
#include "graph/loop.h"

namespace leapp::graph {
namespace {

// They look at the values of their operands and may refuse them, or give as many results as these say.
constexpr auto kCanFail = std::to_array<std::string_view>({
    "_assert_async",
    "_cholesky_solve_helper",
    "_ctc_loss",
    "_unique",
    "_unique2",
    "argwhere",
    "bernoulli",
    "binomial",
    "bincount",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "ctc_loss",
    "histc",
    "histogram",
    "inverse",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_cond",
    "linalg_eig",
    "linalg_eigh",
    "linalg_eigvals",
    "linalg_eigvalsh",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_ldl_factor",
    "linalg_ldl_factor_ex",
    "linalg_ldl_solve",
    "linalg_lstsq",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_lu_solve",
    "linalg_matrix_power",
    "linalg_matrix_rank",
    "linalg_pinv",
    "linalg_qr",
    "linalg_solve",
    "linalg_solve_ex",
    "linalg_solve_triangular",
    "linalg_svd",
    "linalg_svdvals",
    "linalg_tensorinv",
    "linalg_tensorsolve",
    "lu_solve",
    "lu_unpack",
    "masked_scatter",
    "masked_select",
    "matrix_power",
    "multinomial",
    "nonzero",
    "nonzero_numpy",
    "normal",
    "pinverse",
    "poisson",
    "qr",
    "svd",
    "triangular_solve",
    "unique_consecutive",
    "unique_dim",
    "unique_dim_consecutive",
});

// They fail, or give another length, where these operands say so.
struct Indexed {
  std::string_view op;
  std::string_view argument;
};
constexpr auto kIndexed = std::to_array<Indexed>({
    {"_unsafe_index", "indices"},
    {"_unsafe_index_put", "indices"},
    {"cross_entropy_loss", "target"},
    {"embedding", "indices"},
    {"embedding_bag", "indices"},
    {"gather", "index"},
    {"index", "indices"},
    {"index_add", "index"},
    {"index_copy", "index"},
    {"index_fill", "index"},
    {"index_put", "indices"},
    {"index_reduce", "index"},
    {"index_select", "index"},
    {"max_unpool2d", "indices"},
    {"max_unpool3d", "indices"},
    {"nll_loss", "target"},
    {"nll_loss2d", "target"},
    {"nll_loss_nd", "target"},
    {"one_hot", "self"},
    {"put", "index"},
    {"quantile", "q"},
    {"nanquantile", "q"},
    {"repeat_interleave", "repeats"},
    {"scatter", "index"},
    {"scatter_add", "index"},
    {"scatter_reduce", "index"},
    {"take", "index"},
    {"take_along_dim", "indices"},
    {"tensor_split", "tensor_indices_or_sections"},
});

bool is_computed(const Value* value) { return value != nullptr && value->kind() != ValueKind::kConstant; }

bool is_computed(const Node& node, std::string_view argument) {
  const Attribute* found = node.find(argument);
  if (found == nullptr) return false;
  if (const auto* one = std::get_if<Value*>(found)) return is_computed(*one);
  const auto* several = std::get_if<std::vector<Value*>>(found);
  return several != nullptr &&
         std::any_of(several->begin(), several->end(), [](const Value* v) { return is_computed(v); });
}

template <typename Table>
bool has(const Table& table, std::string_view op) {
  return std::find(table.begin(), table.end(), op) != table.end();
}

std::string_view plain_name(const Node& node) {
  std::string_view op = node.op();
  constexpr std::string_view kSpace = "aten::";
  if (op.starts_with(kSpace)) op.remove_prefix(kSpace.size());
  return op;
}

// Calling an operator costs an engine about as much, however small it is.
constexpr double kCall = 1000;
constexpr double kGuessedRounds = 8;  // of a loop: nobody knows

double elements(const Value* value) { return static_cast<double>(element_count(value->shape())); }

double extent(const Value* value, std::size_t from_the_end) {
  const Shape& shape = value->shape();
  return shape.size() < from_the_end ? 1.0 : static_cast<double>(shape[shape.size() - from_the_end]);
}

double result_elements(const Node& node) {
  double count = 0;
  for (const auto& result : node.results()) count += elements(result.get());
  return count;
}

const Value* operand(const Node& node, std::string_view name) {
  const Attribute* found = node.find(name);
  const auto* value = found == nullptr ? nullptr : std::get_if<Value*>(found);
  return value == nullptr ? nullptr : *value;
}

// Every element of a product of matrices is a sum over the last dimension of its left factor.
double product_work(const Node& node) {
  const auto times = [&](std::string_view left) {
    const Value* factor = operand(node, left);
    return factor == nullptr ? 0.0 : elements(node.result()) * extent(factor, 1);
  };
  const std::string_view op = plain_name(node);
  if (op == "linear") return times("input");
  if (op == "matmul" || op == "mm" || op == "bmm" || op == "mv") return times("self");
  if (op == "addmm" || op == "_addmm_activation") return times("mat1");
  if (op == "baddbmm") return times("batch1");
  if (op == "addmv") return times("mat");
  if (op != "einsum") return 0;
  // Exact for a product of two matrices: the root of m·k times k·n times m·n.
  double all = elements(node.result());
  for (const Value* value : node.inputs()) all *= elements(value);
  return std::sqrt(all);
}

double convolution_work(const Node& node) {
  const Value* weight = operand(node, "weight");
  if (weight == nullptr || weight->shape().empty() || plain_name(node).find("conv") == std::string_view::npos) return 0;
  const double outputs = static_cast<double>(std::max<std::int64_t>(weight->shape()[0], 1));
  return elements(node.result()) * elements(weight) / outputs;
}

// Each step of a sequence takes every weight once.
double recurrent_work(const Node& node) {
  const std::string_view op = plain_name(node);
  const bool cell = op.ends_with("_cell");
  const bool layer = op == "gru" || op == "lstm" || op == "rnn_tanh" || op == "rnn_relu";
  const Value* input = operand(node, "input");
  if ((!cell && !layer) || input == nullptr) return 0;
  double weights = 0;
  for (const Value* value : node.inputs()) weights += value->shape().size() == 2 ? elements(value) : 0.0;
  const double rows = elements(input) / std::max(extent(input, 1), 1.0);
  return weights * rows;
}

double attention_work(const Node& node) {
  if (plain_name(node).find("scaled_dot_product") == std::string_view::npos) return 0;
  const Value* query = operand(node, "query");
  const Value* key = operand(node, "key");
  return query == nullptr || key == nullptr ? 0.0 : 2 * elements(query) * extent(key, 2);
}

double side_work(const Graph& graph) {
  double work = 0;
  for (const auto& node : graph.nodes()) work += work_of(*node);
  return work;
}

}  // namespace

bool can_fail(const Node& node) {
  if (is_conditional(node)) return false;
  if (is_loop(node)) {
    const auto& inside = loop_of(node).body->nodes();
    return std::any_of(inside.begin(), inside.end(), [](const auto& each) { return can_fail(*each); });
  }
  const std::string_view op = plain_name(node);
  if (has(kCanFail, op)) return true;
  for (const Indexed& entry : kIndexed) {
    if (entry.op == op && is_computed(node, entry.argument)) return true;
  }
  const bool integers = !node.results().empty() && is_integer(node.result()->dtype());
  const std::string_view divisor = divisor_of(node.op());
  return integers && !divisor.empty() && is_computed(node, divisor);
}

double work_of(const Node& node) {
  if (is_conditional(node)) {
    const Conditional conditional = conditional_of(node);
    return std::max(side_work(*conditional.then_side), side_work(*conditional.else_side));
  }
  if (is_loop(node)) return kGuessedRounds * side_work(*loop_of(node).body);
  // What reduces or moves reads more than it makes; a quarter of a multiply-add an element is about what that costs.
  double read = 0;
  for (const Value* value : node.inputs()) read += elements(value);
  const double simple = result_elements(node) + read / 4;
  return kCall +
         std::max({simple, product_work(node), convolution_work(node), recurrent_work(node), attention_work(node)});
}

}  // namespace leapp::graph
