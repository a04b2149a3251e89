// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/op_table.h"

#include <array>
#include <unordered_map>

namespace leapp::onnx_ops {
namespace {

using Family = EmitEntries (*)();

constexpr std::array kFamilies = std::to_array<Family>({
    activation_ops,
    arithmetic_ops,
    attention_ops,
    calculus_ops,
    casting_ops,
    comparison_ops,
    convolution_ops,
    creation_ops,
    ctc_ops,
    einsum_ops,
    elementwise_ops,
    factorisation_ops,
    float_bit_ops,
    fourier_ops,
    fractional_pooling_ops,
    grouped_product_ops,
    indexing_ops,
    joining_ops,
    ldl_ops,
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
    solver_ops,
    sorting_ops,
    special_airy_ops,
    special_bessel_ops,
    special_error_ops,
    special_gamma_ops,
    special_incomplete_gamma_ops,
    special_polynomial_ops,
    spectral_ops,
    vision_ops,
});

constexpr std::array kComplexFamilies = std::to_array<Family>({complex_einsum_ops, complex_ops, fourier_ops});

using Index = std::unordered_map<std::string_view, const EmitEntry*>;

Index index_of(std::span<const Family> families) {
  Index index;
  for (const Family family : families) {
    for (const EmitEntry& entry : family()) index.emplace(entry.name, &entry);
  }
  return index;
}

const EmitEntry* find_in(const Index& index, std::string_view name) {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace

const EmitEntry* find_emitter(std::string_view name) {
  static const Index index = index_of(kFamilies);  // at the first call, not before main
  return find_in(index, name);
}

const EmitEntry* find_complex_op(std::string_view name) {
  static const Index index = index_of(kComplexFamilies);
  return find_in(index, name);
}

}  // namespace leapp::onnx_ops
