// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/branch_conditions.h"

#include <algorithm>
#include <utility>

#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

bool is_mask(const ValuePtr& index) {
  return index && (index->type.dtype == at::kBool || index->type.dtype == at::kByte);
}

/// Of nonzero, argwhere, where(condition), masked_select, x[mask]: what is looked for elements in.
ValuePtr searched(const TraceOp& op) {
  const std::string& name = op.info->name();
  if (name == "aten::masked_select") return op.arguments[1].tensor;
  if (name != "aten::index") return op.arguments[0].tensor;
  const auto& indices = op.arguments[1].list;
  const auto found = std::find_if(indices.begin(), indices.end(), is_mask);
  return found == indices.end() ? nullptr : *found;
}

}  // namespace

bool same_question(const BranchCondition& a, const BranchCondition& b) {
  return a.op->info == b.op->info && a.location() == b.location() && a.rows == b.rows && a.asked == b.asked;
}

bool is_decision(const TraceOp& op) {
  if (!op.info->facts().may_decide) return false;
  const std::string& name = op.info->name();
  const ValuePtr& first = op.arguments[0].tensor;
  if (!first) return false;
  // Scripted code asks with item where Python asks with is_nonzero.
  if (name == "aten::is_nonzero" || (name == "aten::item" && first->type.dtype == at::kBool)) return true;
  if (name != "aten::equal" && name != "aten::allclose") return false;
  const ValuePtr& second = op.arguments[1].tensor;
  return second && first->type.sizes == second->type.sizes;
}

bool gives_rows(const TraceOp& op) {
  if (!op.info->facts().searches) return false;
  const ValuePtr mask = searched(op);
  if (!mask) return false;
  if (op.info->name() != "aten::index") return true;
  // Several masks have to agree in more than one of them having elements.
  const auto& indices = op.arguments[1].list;
  return std::count_if(indices.begin(), indices.end(), is_mask) == 1;
}

ValuePtr predicate(const BranchCondition& guard, TraceBuilder& builder) {
  const TraceOp& op = *guard.op;
  builder.set_current(op.info, op.location);
  if (guard.rows && !guard.asked)
    return builder.unary_as("aten::any", builder.cast(searched(op), at::kBool), {at::kBool, {}});
  const std::string& name = op.info->name();
  if (name == "aten::is_nonzero" || name == "aten::item")
    return builder.cast(builder.reshape(op.arguments[0].tensor, {}), at::kBool);
  const ValueType elements{at::kBool, op.arguments[0].tensor->type.sizes};
  const auto compare = [&](const char* with, const char* overload, std::vector<TraceArgument> arguments) {
    return builder.result(builder.make(op_info(with, overload), std::move(arguments)), 0, elements);
  };
  const ValuePtr same = name == "aten::equal" ? compare("aten::eq", "Tensor", {op.arguments[0], op.arguments[1]})
                                              : compare("aten::isclose", "", op.arguments);
  return builder.unary_as("aten::all", same, {at::kBool, {}});
}

void ConditionLog::add(ActivationId activation, BranchCondition guard) {
  if (activation == 0) return;
  std::vector<BranchCondition>& guards = open_[activation];
  if (guards.size() < kMost) guards.push_back(std::move(guard));
}

std::vector<BranchCondition> ConditionLog::take(ActivationId activation) {
  const auto found = open_.find(activation);
  if (found == open_.end()) return {};
  std::vector<BranchCondition> guards = std::move(found->second);
  open_.erase(found);
  return guards;
}

}  // namespace leapp::capture
