// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/masks/handlers.h"

#include <unordered_map>

#include "graph/masks/sources.h"

namespace leapp::graph::masks {
namespace {

/// Three numbers at a time: not along the rows.
Status cross(Rewriter& writer) {
  const Node& node = writer.node();
  const std::int64_t rank = rank_of(node.result());
  const Attribute* given = node.find("dim");
  if (given == nullptr || !std::holds_alternative<std::int64_t>(*given))
    return unimplemented("it takes the first dimension of three, which the rows may be");
  const std::int64_t dim = wrapped(std::get<std::int64_t>(*given), rank);
  for (const Value* input : node.inputs()) {
    const MaskedRows* of = writer.rows(input);
    if (of != nullptr && of->axis + rank - rank_of(input) == dim) return unimplemented("it looks at all rows together");
  }
  return elementwise(writer);
}

const std::unordered_map<std::string_view, MaskFunction>& table() {
  static const std::unordered_map<std::string_view, MaskFunction> handlers = {
      {"aten::reshape", rearrange},
      {"aten::view", rearrange},
      {"aten::flatten", rearrange},
      {"aten::unflatten", rearrange},
      {"aten::ravel", rearrange},
      {"aten::squeeze", rearrange},
      {"aten::unsqueeze", rearrange},
      {"aten::permute", rearrange},
      {"aten::transpose", rearrange},
      {"aten::swapaxes", rearrange},
      {"aten::swapdims", rearrange},
      {"aten::t", rearrange},
      {"aten::numpy_T", rearrange},
      {"aten::mT", rearrange},
      {"aten::expand", rearrange},
      {"aten::expand_as", rearrange},
      {"aten::repeat", rearrange},
      {"aten::select", part},
      {"aten::slice", part},
      {"aten::narrow", part},
      {"aten::split", part},
      {"aten::split_with_sizes", part},
      {"aten::chunk", part},
      {"aten::unbind", part},
      {"aten::cat", join},
      {"aten::concat", join},
      {"aten::stack", join},
      {"aten::select_scatter", put_part},
      {"aten::slice_scatter", put_part},
      {"aten::constant_pad_nd", pad},
      {"aten::pad", pad},
      {"aten::sum", reduce},
      {"aten::nansum", reduce},
      {"aten::mean", reduce},
      {"aten::prod", reduce},
      {"aten::any", reduce},
      {"aten::all", reduce},
      {"aten::amax", reduce},
      {"aten::amin", reduce},
      {"aten::max", reduce},
      {"aten::min", reduce},
      {"aten::argmax", reduce},
      {"aten::argmin", reduce},
      {"aten::std", reduce},
      {"aten::var", reduce},
      {"aten::norm", reduce},
      {"aten::linalg_vector_norm", reduce},
      {"aten::logsumexp", reduce},
      {"aten::count_nonzero", reduce},
      {"aten::softmax", along_dim},
      {"aten::_softmax", along_dim},
      {"aten::log_softmax", along_dim},
      {"aten::cumsum", along_dim},
      {"aten::cumprod", along_dim},
      {"aten::logcumsumexp", along_dim},
      {"aten::cummax", along_dim},
      {"aten::cummin", along_dim},
      {"aten::sort", along_dim},
      {"aten::argsort", along_dim},
      {"aten::topk", along_dim},
      {"aten::flip", along_dim},
      {"aten::roll", along_dim},
      {"aten::diff", along_dim},
      {"aten::linear", product},
      {"aten::matmul", product},
      {"aten::mm", product},
      {"aten::bmm", product},
      {"aten::mv", product},
      {"aten::addmm", product},
      {"aten::baddbmm", product},
      {"aten::addmv", product},
      {"aten::dot", product},
      {"aten::layer_norm", last_dims},
      {"aten::rms_norm", last_dims},
      {"aten::embedding", look_up},
      {"aten::one_hot", look_up},
      {"aten::gather", look_up},
      {"aten::index", read_rows},
      {"aten::index_select", read_rows},
      {"aten::index_put", write_rows},
      {"aten::index_copy", write_rows},
      {"aten::index_add", write_rows},
      {"aten::index_fill", write_rows},
      {"aten::scatter", write_rows},
      {"aten::scatter_add", write_rows},
      {"aten::masked_scatter", write_rows},
      {"aten::linalg_cross", cross},
      {"aten::cross", cross},
  };
  return handlers;
}

}  // namespace

MaskFunction find_handler(const Node& node) {
  if (node.op() == "torchvision::nms") return suppress;
  if (depends_on_data(node)) return node.op() == "aten::index" ? read_rows : choose_rows;
  if (is_elementwise_aten(node.op())) return elementwise;
  const auto found = table().find(node.op());
  return found == table().end() ? nullptr : found->second;
}

}  // namespace leapp::graph::masks
