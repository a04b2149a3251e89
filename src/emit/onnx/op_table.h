// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Which operators the ONNX emitter knows: one row each, by family.
#pragma once

#include <span>
#include <string_view>

#include "emit/onnx/builder.h"

namespace leapp::onnx_ops {

/// Expresses b.node() in ONNX nodes and binds its results.
using EmitFunction = void (*)(OpBuilder& b);

struct EmitEntry {
  std::string_view name;  ///< "aten::add.Tensor"; "aten::sin" where the overload is empty
  EmitFunction handler = nullptr;
  std::string_view onnx_op = {};  ///< what b.onnx_op() says, for handlers that serve many operators
};

/// In the place of `onnx_op`: the handler is asked even if all results were empty when captured, for what depends on
/// data need not be.
inline constexpr std::string_view kEvenWhenEmpty = "even when empty";

using EmitEntries = std::span<const EmitEntry>;

/// The rows of each family: ops/<family>.cpp.
[[nodiscard]] EmitEntries activation_ops();
[[nodiscard]] EmitEntries arithmetic_ops();
[[nodiscard]] EmitEntries attention_ops();
[[nodiscard]] EmitEntries calculus_ops();
[[nodiscard]] EmitEntries casting_ops();
[[nodiscard]] EmitEntries comparison_ops();
[[nodiscard]] EmitEntries complex_einsum_ops();
[[nodiscard]] EmitEntries complex_ops();
[[nodiscard]] EmitEntries convolution_ops();
[[nodiscard]] EmitEntries creation_ops();
[[nodiscard]] EmitEntries ctc_ops();
[[nodiscard]] EmitEntries einsum_ops();
[[nodiscard]] EmitEntries elementwise_ops();
[[nodiscard]] EmitEntries factorisation_ops();
[[nodiscard]] EmitEntries float_bit_ops();
[[nodiscard]] EmitEntries fourier_ops();
[[nodiscard]] EmitEntries fractional_pooling_ops();
[[nodiscard]] EmitEntries grouped_product_ops();
[[nodiscard]] EmitEntries indexing_ops();
[[nodiscard]] EmitEntries joining_ops();
[[nodiscard]] EmitEntries ldl_ops();
[[nodiscard]] EmitEntries linear_algebra_ops();
[[nodiscard]] EmitEntries loss_ops();
[[nodiscard]] EmitEntries norm_ops();
[[nodiscard]] EmitEntries normalisation_ops();
[[nodiscard]] EmitEntries pooling_ops();
[[nodiscard]] EmitEntries random_ops();
[[nodiscard]] EmitEntries recurrent_ops();
[[nodiscard]] EmitEntries reduction_ops();
[[nodiscard]] EmitEntries scatter_ops();
[[nodiscard]] EmitEntries shape_ops();
[[nodiscard]] EmitEntries solver_ops();
[[nodiscard]] EmitEntries sorting_ops();
[[nodiscard]] EmitEntries special_airy_ops();
[[nodiscard]] EmitEntries special_bessel_ops();
[[nodiscard]] EmitEntries special_error_ops();
[[nodiscard]] EmitEntries special_gamma_ops();
[[nodiscard]] EmitEntries special_incomplete_gamma_ops();
[[nodiscard]] EmitEntries special_polynomial_ops();
[[nodiscard]] EmitEntries spectral_ops();
[[nodiscard]] EmitEntries vision_ops();

/// The row of `name` ("aten::add.Tensor"), or nullptr. Any thread.
[[nodiscard]] const EmitEntry* find_emitter(std::string_view name);
/// The same for nodes that take or give complex tensors.
[[nodiscard]] const EmitEntry* find_complex_op(std::string_view name);
/// Whether the handler for real tensors may be asked once for the real and once for the imaginary parts.
[[nodiscard]] bool is_part_by_part(std::string_view name);

}  // namespace leapp::onnx_ops
