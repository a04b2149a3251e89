// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// How operators on rows are written densely, one function a family.
#pragma once

#include <string_view>

#include "graph/masks/rewriter.h"

namespace leapp::graph::masks {

/// Writes the dense form of writer.node(), an operand of which has rows. kUnimplemented says why there is none.
using MaskFunction = Status (*)(Rewriter& writer);

/// nullptr: an operator that nothing is known about.
[[nodiscard]] MaskFunction find_handler(const Node& node);

/// Whether it treats every element by itself, after broadcasting.
[[nodiscard]] bool is_elementwise_aten(std::string_view op);

Status choose_rows(Rewriter& writer);  ///< nonzero, masked_select: what makes rows
Status suppress(Rewriter& writer);     ///< torchvision's nms: boxes that stay, best first
Status elementwise(Rewriter& writer);
Status rearrange(Rewriter& writer);  ///< another shape, another order of dimensions
Status part(Rewriter& writer);       ///< select, slice, split: one piece or several along a dimension
Status join(Rewriter& writer);       ///< cat, stack
Status put_part(Rewriter& writer);   ///< select_scatter, slice_scatter
Status pad(Rewriter& writer);        ///< to a fixed number of rows
Status reduce(Rewriter& writer);
Status along_dim(Rewriter& writer);   ///< softmax, cumsum, sort: every line along a dimension by itself
Status product(Rewriter& writer);     ///< linear, matmul
Status last_dims(Rewriter& writer);   ///< layer_norm
Status look_up(Rewriter& writer);     ///< embedding, one_hot, gather
Status read_rows(Rewriter& writer);   ///< index, index_select
Status write_rows(Rewriter& writer);  ///< index_put, index_copy, index_add, index_fill, scatter, masked_scatter

}  // namespace leapp::graph::masks
