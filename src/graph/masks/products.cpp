// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of products, and what looks at the last dimensions only.
#include <algorithm>

#include "graph/masks/handlers.h"

namespace leapp::graph::masks {
namespace {

struct Factors {
  std::string_view left;
  std::string_view right;
  std::string_view added;  ///< empty: nothing is
};

Factors factors_of(const std::string& op) {
  if (op == "aten::linear") return {"input", "weight", "bias"};
  if (op == "aten::addmm") return {"mat1", "mat2", "self"};
  if (op == "aten::baddbmm") return {"batch1", "batch2", "self"};
  if (op == "aten::addmv") return {"mat", "vec", "self"};
  if (op == "aten::mv") return {"self", "vec", ""};
  if (op == "aten::dot") return {"self", "tensor", ""};
  if (op == "aten::mm" || op == "aten::bmm") return {"self", "mat2", ""};
  return {"self", "other", ""};
}

/// Dimensions of a factor counted from the end of the result: -1 the last, -2 the one before, and `kSummed` the one
/// that goes.
constexpr std::int64_t kSummed = 1;

/// `linear` has its weight turned.
std::int64_t role(const Value* factor, std::int64_t dim, bool left, bool turned) {
  const std::int64_t rank = rank_of(factor);
  if (rank == 1) return kSummed;
  const std::int64_t from_end = dim - rank;
  if (left) return from_end == -1 ? kSummed : from_end;
  if (from_end < -2) return from_end;
  return (from_end == -2) != turned ? kSummed : -1;
}

/// Where in the result a role is; a vector as factor leaves no dimension of its own.
std::int64_t axis_of(std::int64_t role, const Node& node, const Value* left, const Value* right) {
  const std::int64_t rank = rank_of(node.result());
  if (role == -1) return rank - 1;
  const bool narrow = rank_of(right) == 1 && rank_of(left) > 1;
  const bool flat = rank_of(left) == 1 && rank_of(right) > 1;
  return rank + role + (narrow || flat ? 1 : 0);
}

/// MaskedRows that are summed over: those that do not count must be zero on both sides, as garbage times zero may be
/// NaN.
Status sum_over_rows(Rewriter& writer, const Factors& names, Value* left, Value* right) {
  const MaskedRows* a = writer.rows(left);
  const MaskedRows* b = writer.rows(right);
  std::vector<Argument> arguments = writer.dense_arguments();
  if (a == nullptr || b == nullptr) return unimplemented("it multiplies rows with what has as many in the first call");
  if (a->space != b->space) return unimplemented("it combines rows that different masks chose");
  set(arguments, names.left, writer.filled(*a, 0));
  set(arguments, names.right, writer.filled(*b, 0));
  writer.replace(0, writer.again(std::move(arguments), -1, 0)[0]);
  return {};
}

}  // namespace

Status product(Rewriter& writer) {
  const Node& node = writer.node();
  const Factors names = factors_of(node.op());
  Value* left = tensor(node, names.left);
  Value* right = tensor(node, names.right);
  const bool turned = names.right == "weight";
  const MaskedRows* a = writer.rows(left);
  const MaskedRows* b = writer.rows(right);
  const bool left_sums = a != nullptr && role(left, a->axis, true, turned) == kSummed;
  const bool right_sums = b != nullptr && role(right, b->axis, false, turned) == kSummed;
  RowSpace& space = writer.space();
  if (left_sums != right_sums && a != nullptr && b != nullptr)
    return unimplemented("it combines every row with every row");
  const Value* added = names.added.empty() ? nullptr : tensor(node, names.added);
  if (left_sums || right_sums) {
    if (added != nullptr && writer.rows(added) != nullptr) return unimplemented("it combines every row with every row");
    return sum_over_rows(writer, names, left, right);
  }
  std::int64_t axis = -1;
  if (a != nullptr) axis = axis_of(role(left, a->axis, true, turned), node, left, right);
  if (b != nullptr) {
    const std::int64_t other = axis_of(role(right, b->axis, false, turned), node, left, right);
    if (axis >= 0 && other != axis) return unimplemented("it combines every row with every row");
    axis = other;
  }
  if (axis < 0) return unimplemented("it adds rows to a product that has none");
  std::vector<Argument> arguments = writer.dense_arguments();
  const auto batched = [&](Value* factor) {
    const std::int64_t dim = rank_of(factor) - (rank_of(node.result()) - axis);
    return rank_of(factor) > 2 && dim >= 0 && dim < rank_of(factor) - 2 ? dim : -1;
  };
  for (const auto& [name, factor] : {std::pair{names.left, left}, std::pair{names.right, right}}) {
    if (writer.rows(factor) != nullptr) continue;
    const bool strict = node.op() == "aten::bmm" || node.op() == "aten::baddbmm";
    LEAPP_ASSIGN_OR_RETURN(Value * beside, strict ? writer.all_beside(factor, batched(factor), space)
                                                  : writer.beside(factor, batched(factor), space));
    set(arguments, name, beside);
  }
  if (added != nullptr) {
    const MaskedRows* of = writer.rows(added);
    const std::int64_t dim = axis - (rank_of(node.result()) - rank_of(added));
    if (of != nullptr && of->axis != dim) return unimplemented("rows stand in different dimensions");
    if (of == nullptr) {
      LEAPP_ASSIGN_OR_RETURN(Value * beside, writer.beside(tensor(node, names.added), dim, space));
      set(arguments, names.added, beside);
    }
  }
  Value* made = writer.again(std::move(arguments), axis, space.count)[0];
  writer.bind(0, {.space = &space, .axis = axis, .dense = made});
  return {};
}

Status last_dims(Rewriter& writer) {
  const Node& node = writer.node();
  Value* input = tensor(node, "input");
  const MaskedRows* from = input != nullptr ? writer.rows(input) : nullptr;
  const Dims* last = list(node, "normalized_shape");
  if (from == nullptr || last == nullptr || from->axis >= rank_of(input) - std::ssize(*last))
    return unimplemented("it looks at all rows together");
  for (const Value* other : node.inputs()) {
    if (other != input && writer.rows(other) != nullptr) return unimplemented("its weights are rows");
  }
  Value* made = writer.again(writer.dense_arguments(), from->axis, from->space->count)[0];
  writer.bind(0, {.space = from->space, .axis = from->axis, .dense = made});
  return {};
}

}  // namespace leapp::graph::masks
