// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/value_numbers.h"

#include <utility>

#include "capture/trace/slice.h"
#include "capture/trace/value_key.h"

namespace leapp::capture {
void ValueNumbers::add(const std::vector<ValuePtr>& roots) {
  draws_.clear();
  const Slice slice = slice_of(roots);
  const auto note = [&](const ValuePtr& value) {
    if (value->kind == TracedKind::kResult) results_.try_emplace({value->op.get(), value->index}, value);
  };
  for (const TraceOp* op : slice.ops) for_each_operand(*op, note);
  for (const ValuePtr& root : roots) note(root);
  for (const auto& [result, value] : results_) holders_.try_emplace(result.first, value->op);
  for (const TraceOp* op : slice.ops) add(*holders_.at(op));
}

std::uint64_t ValueNumbers::constant(const ConstantCell& cell) {
  const auto known = known_cells_.find(&cell);
  if (known != known_cells_.end()) return constants_[known->second].first;
  return 0;
}

std::uint64_t ValueNumbers::leaf(const ValuePtr& value) {
  if (value->kind == TracedKind::kInput) {
    inputs_.try_emplace(value->origin->port, value);
    const auto [at, added] = names_.try_emplace("input " + value->origin->port, next_);
    if (added) ++next_;
    return at->second;
  }
  if (const std::uint64_t known = constant(*value->cell)) return known;
  // Memory that is still where it was need not be read to be told apart.
  const bool shared = value->cell->by_reference && value->cell->storage();
  const std::uint64_t hash =
      shared ? mix_hash(1, reinterpret_cast<std::uintptr_t>(value->cell->storage())) : mix_hash(2, value->cell->hash());
  const auto [begin, end] = cells_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const ValuePtr& other = constants_[at->second].second;
    const bool same = shared ? other->cell->is_same_memory(*value->cell)
                             : other->type == value->type && other->cell->hash() == value->cell->hash();
    if (!same || other->cell->is_random() != value->cell->is_random()) continue;
    known_cells_.emplace(value->cell.get(), at->second);
    return constants_[at->second].first;
  }
  cells_.emplace(hash, constants_.size());
  known_cells_.emplace(value->cell.get(), constants_.size());
  constants_.emplace_back(next_, value);
  return next_++;
}

std::uint64_t ValueNumbers::number(const ValuePtr& value) {
  if (value->kind != TracedKind::kResult) return leaf(value);
  return mix_hash(numbers_.at(ops_.at(value->op.get())), value->index);
}

ValuePtr ValueNumbers::of(const ValuePtr& value) {
  if (value->kind == TracedKind::kInput) {
    leaf(value);
    return inputs_.at(value->origin->port);
  }
  if (value->kind == TracedKind::kConstant) {
    leaf(value);
    return constants_[known_cells_.at(value->cell.get())].second;
  }
  const TraceOp* op = ops_.at(value->op.get());
  ValuePtr& made = results_[{op, value->index}];
  if (made) return made;
  // A result that nobody read where the operator was found first.
  made = std::make_shared<TracedValue>();
  made->owner = value->owner;
  made->index = value->index;
  made->type = value->type;
  made->drawn = value->drawn;
  made->op = holders_.at(op);
  return made;
}

std::vector<ValuePtr> ValueNumbers::results() const {
  std::vector<ValuePtr> found;
  for (const auto& [result, value] : results_) found.push_back(value);
  return found;
}

bool ValueNumbers::alike(const TraceOp& first, const TraceOp& now) const {
  if (first.info != now.info || first.random != now.random || first.arguments.size() != now.arguments.size())
    return false;
  if (first.results != now.results || operands_.at(&first) != operands_.at(&now)) return false;
  if (first.random && (first.location != now.location || draw_of_.at(&first) != draw_of_.at(&now))) return false;
  for (std::size_t i = 0; i < first.arguments.size(); ++i) {
    const TraceArgument& a = first.arguments[i];
    const TraceArgument& b = now.arguments[i];
    if (a.kind != b.kind || a.list.size() != b.list.size() || !same_attribute(a.attribute, b.attribute)) return false;
  }
  return true;
}

void ValueNumbers::add(TraceOp& added) {
  TraceOp* op = &added;
  if (ops_.contains(op)) return;
  std::vector<std::uint64_t>& operands = operands_[op];
  std::uint64_t form = reinterpret_cast<std::uintptr_t>(op->info);
  std::size_t at = 0;
  for_each_operand(*op, [&](ValuePtr& operand) {
    const auto state = states_.find({op, at++});
    if (state != states_.end()) {
      const auto [known, is_new] = names_.try_emplace("state " + state->second, next_);
      if (is_new) ++next_;
      operands.push_back(known->second);
    } else {
      operands.push_back(number(operand));
      operand = of(operand);
    }
    form = mix_hash(form, operands.back());
  });
  if (op->random) draw_of_[op] = draws_[{op->info, op->location}]++;
  for (const TraceArgument& argument : op->arguments) form = mix_hash(form, hash_attribute(argument.attribute));
  const auto [begin, end] = by_form_.equal_range(form);
  for (auto known = begin; known != end; ++known) {
    if (!alike(*known->second, *op)) continue;
    ops_[op] = known->second;
    return;
  }
  by_form_.emplace(form, op);
  ops_[op] = op;
  numbers_[op] = next_++;
}

}  // namespace leapp::capture
