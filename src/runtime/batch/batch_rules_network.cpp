// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices, convolutions, normalisation, recurrent layers.
#include <algorithm>
#include <array>

#include "runtime/batch/batch_node.h"

namespace leapp::runtime {
namespace {

Status gemm(RowNode& n) {
  if (!n.wide(0) || n.wide(1)) return mixes_rows("its weights are not the same for all rows");
  if (n.axis(0) != (n.integer("transA", 0) != 0 ? 1 : 0)) return mixes_rows("it sums along the axis of the rows");
  if (n.wide(2) && (n.rank(2) != 2 || n.axis(2) != 0 || !n.alike(0, 2)))
    return mixes_rows("its inputs have rows in different places");
  if (n.has(2) && !n.wide(2) && n.rank(2) == 2 && n.shape(2)[0] != 1)
    return mixes_rows("its bias is longer than a row");
  n.rows_at(0, 0);
  return {};
}

/// One factor has rows and the other is a constant.
Status product_with_constant(RowNode& n, std::size_t wide) {
  const std::size_t other = 1 - wide;
  const std::int64_t place = n.rank(wide) - 1 - n.axis(wide);  // from the last axis
  const std::int64_t summed = wide == 0 ? 0 : 1;
  if (n.rank(wide) == 1 || n.rank(other) == 0 || place == summed)
    return mixes_rows("it sums along the axis of the rows");
  const bool in_matrix = place < 2;
  if (!in_matrix && n.rank(other) > place && n.shape(other)[static_cast<std::size_t>(n.rank(other) - 1 - place)] != 1) {
    return mixes_rows("a constant has more than one entry where the rows are");
  }
  // A vector loses its axis in the result.
  const std::int64_t lost = n.rank(other) == 1 ? 1 : 0;
  const std::int64_t at = wide == 0 ? place - lost : place == 0 ? 0 : place - lost;
  n.rows_at(0, n.result_rank(0) - 1 - at);
  return {};
}

Status matmul(RowNode& n) {
  if (n.inputs() > 2 && (n.wide(2) || n.wide(3))) return mixes_rows("its zero points are not the same for all rows");
  if (!n.wide(0) || !n.wide(1)) return product_with_constant(n, n.wide(0) ? 0 : 1);
  const std::int64_t place = n.rank(0) - 1 - n.axis(0);
  if (place != n.rank(1) - 1 - n.axis(1) || !n.alike(0, 1))
    return mixes_rows("its inputs have rows in different places");
  if (place < 2) return mixes_rows("it multiplies rows with each other");
  n.rows_at(0, n.result_rank(0) - 1 - place);
  return {};
}

/// One letter stands for the rows: in every input that has them, in no other, and in the result.
Status einsum(RowNode& n) {
  std::string equation = n.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos) {
    return mixes_rows("its equation has no result or an ellipsis");
  }
  std::vector<std::string> terms(1);
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  if (terms.size() != n.inputs()) return mixes_rows("its equation has another number of inputs");
  char letter = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (std::ssize(terms[i]) != n.rank(i)) return mixes_rows("its equation does not fit its inputs");
    if (!n.wide(i)) continue;
    const char found = terms[i][static_cast<std::size_t>(n.axis(i))];
    if (letter != 0 && letter != found) return mixes_rows("its inputs have rows in different places");
    letter = found;
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto uses = std::count(terms[i].begin(), terms[i].end(), letter);
    if (uses != (n.wide(i) ? 1 : 0)) return mixes_rows("its equation uses the axis of the rows for something else");
  }
  const std::size_t at = equation.substr(arrow + 2).find(letter);
  if (at == std::string::npos) return mixes_rows("it sums along the axis of the rows");
  n.rows_at(0, static_cast<std::int64_t>(at));
  return {};
}

/// What comes as [batch, channels, ...]. Everything but the first input is a constant.
Status images(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (n.axis(0) != 0) return mixes_rows("the axis of the rows is not its batch");
  if (n.integer("training_mode", 0) != 0) return mixes_rows("it takes the mean over all rows");
  if (n.op() == "MaxPool" && n.outputs() > 1) return mixes_rows("its indices count the elements of all rows");
  n.all_rows_at(0);
  return {};
}

Status resize(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(images(n));
  if (!n.has(3) || n.integers("axes")) return n.integers("axes") ? mixes_rows("it names axes") : Status();
  if (!n.numbers(3)) return mixes_rows("its sizes are not known");
  BatchExtents sizes = *n.numbers(3);
  if (sizes.empty() || sizes[0] != 1) return mixes_rows("it changes the number of rows");
  sizes[0] = n.rows();
  n.replace(3, std::move(sizes));
  return {};
}

Status sample_grid(RowNode& n) {
  if (n.wide(0) && n.axis(0) != 0) return mixes_rows("the axis of the rows is not its batch");
  if (n.wide(1) && n.axis(1) != 0) return mixes_rows("the axis of the rows is not its batch");
  for (const std::size_t i : {0U, 1U}) {
    if (!n.wide(i)) n.repeat(i, 0);
  }
  n.rows_at(0, 0);
  return {};
}

Status normalise_layers(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (from_front(n.integer("axis", -1), n.rank(0)) <= n.axis(0)) return mixes_rows("it takes the mean over rows");
  n.all_rows_at(n.axis(0));
  return {};
}

/// X, W, R, B, lengths, initial state(s), P: [steps, batch, features], state [directions, batch, hidden].
Status recurrent(RowNode& n) {
  if (n.integer("layout", 0) != 0) return mixes_rows("its layout is not the usual one");
  constexpr std::size_t kLengths = 4;
  constexpr std::size_t kHidden = 5;
  constexpr std::size_t kCell = 6;
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (!n.has(i)) continue;
    const bool state = i == 0 || i == kHidden || i == kCell;
    if (n.wide(i) && (!state || n.axis(i) != 1)) return mixes_rows("the axis of the rows is not its batch");
    if (n.wide(i) && n.wide(0) && !n.alike(0, i)) return mixes_rows("its inputs have rows in different places");
    if (!n.wide(i) && state) n.repeat(i, 1);
    if (i == kLengths) n.repeat(i, 0);
  }
  constexpr std::array<std::int64_t, 3> kAxes{2, 1, 1};
  if (n.outputs() > kAxes.size()) return mixes_rows("it has more results than it can have");
  for (std::size_t o = 0; o < n.outputs(); ++o) n.rows_at(o, kAxes.at(o));
  return {};
}

constexpr std::array kNetworkRules{
    RowRuleEntry{"AveragePool", images},
    RowRuleEntry{"BatchNormalization", images},
    RowRuleEntry{"Conv", images},
    RowRuleEntry{"ConvTranspose", images},
    RowRuleEntry{"DepthToSpace", images},
    RowRuleEntry{"Einsum", einsum},
    RowRuleEntry{"GRU", recurrent},
    RowRuleEntry{"Gemm", gemm},
    RowRuleEntry{"GlobalAveragePool", images},
    RowRuleEntry{"GlobalLpPool", images},
    RowRuleEntry{"GlobalMaxPool", images},
    RowRuleEntry{"GridSample", sample_grid},
    RowRuleEntry{"GroupNormalization", images},
    RowRuleEntry{"InstanceNormalization", images},
    RowRuleEntry{"LRN", images},
    RowRuleEntry{"LSTM", recurrent},
    RowRuleEntry{"LayerNormalization", normalise_layers},
    RowRuleEntry{"LpPool", images},
    RowRuleEntry{"MatMul", matmul},
    RowRuleEntry{"MatMulInteger", matmul},
    RowRuleEntry{"MaxPool", images},
    RowRuleEntry{"RMSNormalization", normalise_layers},
    RowRuleEntry{"RNN", recurrent},
    RowRuleEntry{"Resize", resize},
    RowRuleEntry{"SpaceToDepth", images},
};

}  // namespace

RowRule find_network_rule(std::string_view op) {
  const auto at =
      std::find_if(kNetworkRules.begin(), kNetworkRules.end(), [&](const RowRuleEntry& one) { return one.op == op; });
  return at == kNetworkRules.end() ? nullptr : at->rule;
}

}  // namespace leapp::runtime
