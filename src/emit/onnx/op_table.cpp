// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/op_table.h"

#include <array>
#include <unordered_map>

namespace leapp::onnx_ops {
namespace {

using Family = OpEntries (*)();

constexpr std::array kFamilies = {
    activation_ops,
    arithmetic_ops,
    attention_ops,
    calculus_ops,
    casting_ops,
    comparison_ops,
    convolution_ops,
    creation_ops,
    ctc_ops,
    elementwise_ops,
    float_bit_ops,
    fractional_pooling_ops,
    indexing_ops,
    joining_ops,
    linear_algebra_ops,
    loss_ops,
    norm_ops,
    normalisation_ops,
    pooling_ops,
    random_ops,
    recurrent_ops,
    reduction_ops,
    scatter_ops,
    shape_ops,
    small_matrix_ops,
    sorting_ops,
    special_airy_ops,
    special_bessel_ops,
    special_error_ops,
    special_gamma_ops,
    special_incomplete_gamma_ops,
    special_polynomial_ops,
};

std::unordered_map<std::string_view, const OpEntry*> make_index() {
  std::unordered_map<std::string_view, const OpEntry*> index;
  for (const Family family : kFamilies) {
    for (const OpEntry& entry : family()) index.emplace(entry.name, &entry);
  }
  return index;
}

}  // namespace

const OpEntry* find_op(std::string_view name) {
  static const auto index = make_index();  // at the first call, not before main
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace leapp::onnx_ops
