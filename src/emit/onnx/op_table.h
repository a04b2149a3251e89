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
using Handler = void (*)(OpBuilder& b);

struct OpEntry {
  std::string_view name;  ///< "aten::add.Tensor"; "aten::sin" where the overload is empty
  Handler handler = nullptr;
  std::string_view onnx_op = {};  ///< what b.onnx_op() says, for handlers that serve many operators
};

/// In the place of `onnx_op`: the handler is asked even if all results were empty when captured, for what depends on
/// data need not be.
inline constexpr std::string_view kEvenWhenEmpty = "even when empty";

using OpEntries = std::span<const OpEntry>;

/// The rows of each family: ops/<family>.cpp.
[[nodiscard]] OpEntries activation_ops();
[[nodiscard]] OpEntries arithmetic_ops();
[[nodiscard]] OpEntries attention_ops();
[[nodiscard]] OpEntries calculus_ops();
[[nodiscard]] OpEntries casting_ops();
[[nodiscard]] OpEntries comparison_ops();
[[nodiscard]] OpEntries complex_einsum_ops();
[[nodiscard]] OpEntries complex_ops();
[[nodiscard]] OpEntries convolution_ops();
[[nodiscard]] OpEntries creation_ops();
[[nodiscard]] OpEntries ctc_ops();
[[nodiscard]] OpEntries einsum_ops();
[[nodiscard]] OpEntries elementwise_ops();
[[nodiscard]] OpEntries factorisation_ops();
[[nodiscard]] OpEntries float_bit_ops();
[[nodiscard]] OpEntries fourier_ops();
[[nodiscard]] OpEntries fractional_pooling_ops();
[[nodiscard]] OpEntries grouped_product_ops();
[[nodiscard]] OpEntries indexing_ops();
[[nodiscard]] OpEntries joining_ops();
[[nodiscard]] OpEntries ldl_ops();
[[nodiscard]] OpEntries linear_algebra_ops();
[[nodiscard]] OpEntries loss_ops();
[[nodiscard]] OpEntries norm_ops();
[[nodiscard]] OpEntries normalisation_ops();
[[nodiscard]] OpEntries pooling_ops();
[[nodiscard]] OpEntries random_ops();
[[nodiscard]] OpEntries recurrent_ops();
[[nodiscard]] OpEntries reduction_ops();
[[nodiscard]] OpEntries scatter_ops();
[[nodiscard]] OpEntries shape_ops();
[[nodiscard]] OpEntries solver_ops();
[[nodiscard]] OpEntries sorting_ops();
[[nodiscard]] OpEntries special_airy_ops();
[[nodiscard]] OpEntries special_bessel_ops();
[[nodiscard]] OpEntries special_error_ops();
[[nodiscard]] OpEntries special_gamma_ops();
[[nodiscard]] OpEntries special_incomplete_gamma_ops();
[[nodiscard]] OpEntries special_polynomial_ops();
[[nodiscard]] OpEntries spectral_ops();
[[nodiscard]] OpEntries vision_ops();

/// The row of `name` ("aten::add.Tensor"), or nullptr. Any thread.
[[nodiscard]] const OpEntry* find_op(std::string_view name);
/// The same for nodes that take or give complex tensors.
[[nodiscard]] const OpEntry* find_complex_op(std::string_view name);
/// Whether the handler for real tensors may be asked once for the real and once for the imaginary parts.
[[nodiscard]] bool is_part_by_part(std::string_view name);

}  // namespace leapp::onnx_ops
