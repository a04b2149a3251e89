// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/masks/sources.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "graph/masks/handlers.h"

namespace leapp::graph::masks {
namespace {

constexpr std::array<std::string_view, 12> kAlways = {
    "aten::nonzero",
    "aten::nonzero_numpy",
    "aten::argwhere",
    "aten::unique_dim",
    "aten::masked_select",
    "aten::_unique2",
    "aten::_unique",
    "aten::unique_dim_consecutive",
    "aten::unique_consecutive",
    "aten::bincount",
    "aten::_ctc_loss",
    "aten::unique",
};

bool is_live(const Value* value) { return value != nullptr && value->kind() != ValueKind::kConstant; }

bool all_are(const std::vector<Node*>& users, std::string_view op) {
  return std::all_of(users.begin(), users.end(), [&](const Node* user) { return user->op() == op; });
}

/// What is left of it once its rows are written densely (suppress.cpp): of a length nobody sees.
bool asks_only_nms_keep_mask(const Node& node) {
  const std::vector<Node*>& users = node.result()->users();
  if (node.result()->is_output() || users.empty() || !all_are(users, "aten::eq")) return false;
  return std::all_of(users.begin(), users.end(),
                     [](const Node* equal) { return all_are(equal->result()->users(), "aten::any"); });
}

bool by_argument(const Node& node) {
  const Attribute* size = node.find("output_size");
  const bool given = size != nullptr && !std::holds_alternative<std::monostate>(*size);
  if (node.op() == "aten::repeat_interleave") return !given && is_live(tensor(node, "repeats"));
  return node.overload() == "tensor_indices_or_sections" && is_live(tensor(node, "tensor_indices_or_sections"));
}

}  // namespace

bool is_mask(const Value* index) {
  return index != nullptr && (index->dtype() == DType::kBool || index->dtype() == DType::kUInt8);
}

bool depends_on_data(const Node& node) {
  const std::string& op = node.op();
  if (std::find(kAlways.begin(), kAlways.end(), op) != kAlways.end()) return true;
  if (op == "aten::where") return node.overload().empty();
  if (op == "torchvision::nms") return !asks_only_nms_keep_mask(node);
  if (op == "aten::one_hot") return integer(node, "num_classes", -1) < 0;
  if (op == "aten::index") {
    const std::vector<Value*> indices = tensors(node, "indices");
    return std::any_of(indices.begin(), indices.end(),
                       [](const Value* index) { return is_mask(index) && is_live(index); });
  }
  return by_argument(node);
}

namespace {

Status positions_in(Rewriter& writer, RowSpace& space, const RowSpace* within) {
  const Node& node = writer.node();
  const bool columns = node.op() == "aten::nonzero_numpy" || node.op() == "aten::where";
  if (within != nullptr) {
    Value* rank = writer.rank(*within);
    if (!columns) rank = writer.reshape(rank, {space.count, 1});
    writer.bind(0, {.space = &space, .dense = rank, .rank_in = within});
    return {};
  }
  if (!columns) {
    const bool one = space.frame.size() == 1;
    writer.bind(0, {.space = &space,
                    .dense = writer.positions(space),
                    .column = one ? std::optional<std::size_t>(0) : std::nullopt,
                    .positions = true});
    return {};
  }
  for (std::size_t dim = 0; dim < node.results().size(); ++dim)
    writer.bind(dim, {.space = &space, .dense = writer.column(space, dim), .column = dim});
  return {};
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    shape[shape.size() - 1 - i] = left == 1 ? right : left;
  }
  return shape;
}

Status select_by_mask(Rewriter& writer) {
  const Node& node = writer.node();
  Value* self = tensor(node, "self");
  Value* mask = tensor(node, "mask");
  const std::int64_t length = size_at(node.result(), 0);
  const MaskedRows* chosen = writer.rows(mask);
  if (chosen != nullptr) {
    const MaskedRows* from = writer.rows(self);
    const bool lines = from != nullptr && from->space == chosen->space && self->shape() == mask->shape();
    if (!lines || rank_of(mask) != 1) return unimplemented("it chooses single elements of rows");
    MaskedRows kept = *from;
    kept.space = &writer.space_within(mask, length);
    writer.bind(0, kept);
    return {};
  }
  if (writer.rows(self) != nullptr) return unimplemented("a mask that has other rows chooses among these");
  const Shape frame = broadcast(self->shape(), mask->shape());
  if (element_count(frame) == 0 || frame.empty()) return unimplemented("there is nothing to choose from");
  RowSpace& space = writer.space_of(mask, frame, length);
  writer.bind(0, {.space = &space, .dense = writer.reshape(writer.expand(self, frame), {space.count})});
  return {};
}

}  // namespace

Status choose_rows(Rewriter& writer) {
  const Node& node = writer.node();
  const std::string& op = node.op();
  if (op == "aten::masked_select") return select_by_mask(writer);
  const bool known =
      op == "aten::nonzero" || op == "aten::nonzero_numpy" || op == "aten::argwhere" || op == "aten::where";
  if (!known) return unimplemented("it has no form of fixed length");
  Value* mask = tensor(node, op == "aten::where" ? "condition" : "self");
  const std::int64_t length = size_at(node.result(), 0);
  if (const MaskedRows* chosen = writer.rows(mask)) {
    if (rank_of(mask) != 1) return unimplemented("it chooses single elements of rows");
    const RowSpace* within = chosen->space;
    return positions_in(writer, writer.space_within(mask, length), within);
  }
  if (mask->shape().empty() || element_count(mask->shape()) == 0)
    return unimplemented("there is nothing to choose from");
  return positions_in(writer, writer.space_of(mask, mask->shape(), length), nullptr);
}

}  // namespace leapp::graph::masks
