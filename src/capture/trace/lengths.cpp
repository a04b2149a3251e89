// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/lengths.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "capture/hook/arguments.h"
#include "capture/hook/op_info.h"
#include "capture/recorder/escapes.h"
#include "capture/trace/record.h"
#include "capture/trace/slice.h"

namespace leapp::capture {

std::size_t length_dim(const TraceOp& op) {
  if (op.info->name() != "aten::index") return 0;
  std::size_t dim = 0;
  for (const ValuePtr& index : op.arguments[1].list) {
    if (index) break;
    ++dim;
  }
  return dim;
}

std::set<std::int64_t> data_lengths(const ValuePtr& value) {
  std::set<std::int64_t> lengths;
  for (const TraceOp* op : slice_of({value}).ops) {
    if (!shape_depends_on_data(*op) || op->results.empty()) continue;
    const auto& sizes = op->results[0].sizes;
    const std::size_t dim = length_dim(*op);
    if (dim < sizes.size()) lengths.insert(sizes[dim]);
  }
  return lengths;
}

const ValuePtr& with_its_row(const ValuePtr& value) {
  static const OpInfo* const reshape = op_info("aten::reshape", "");
  if (value->kind != TracedKind::kResult || value->op->info != reshape) return value;
  const ValuePtr& whole = value->op->arguments[0].tensor;
  const auto& before = whole->type.sizes;
  const auto& after = value->type.sizes;
  if (after.size() >= before.size()) return value;
  const auto rest = before.end() - static_cast<std::ptrdiff_t>(after.size());
  const bool ones = std::all_of(before.begin(), rest, [](std::int64_t size) { return size == 1; });
  return ones && std::equal(rest, before.end(), after.begin()) ? whole : value;
}

std::optional<std::pair<ValuePtr, ValuePtr>> with_their_rows(const TraceOp& op, const ValuePtr& first,
                                                             const ValuePtr& now) {
  static const OpInfo* const put = op_info("aten::index_put", "");
  if (op.info != put) return std::nullopt;
  const ValuePtr& before = with_its_row(first);
  const ValuePtr& after = with_its_row(now);
  if ((before == first) == (after == now)) return std::nullopt;
  return std::pair(before, after);
}

void report_lengths(Escapes& escapes, CaptureResult& recording) {
  if (escapes.lengths().empty()) return;
  std::vector<Escapes::Length> needed;
  for (const auto& node : recording.nodes) {
    for (const TraceOp* op : slice_of(node->output_values).ops) {
      if (shape_depends_on_data(*op)) needed.push_back({node->name, op->info->qualified_name(), op->location});
    }
  }
  const std::vector<Escapes::Length> all = escapes.lengths();
  for (const Escapes::Length& length : all) {
    if (std::find(needed.begin(), needed.end(), length) == needed.end()) escapes.length_left(length);
  }
  for (Note& note : escapes.take_notes()) recording.notes.push_back(std::move(note));
}

void FollowedLengths::set_roots(const ValuePtr& first, const ValuePtr& now) {
  first_ = first;
  now_ = now;
  looked_ = false;
}

void FollowedLengths::look() {
  if (looked_) return;
  looked_ = true;
  in_first_ = data_lengths(first_);
  in_now_ = in_first_.empty() ? std::set<std::int64_t>() : data_lengths(now_);
}

bool FollowedLengths::is_followed(std::int64_t first, std::int64_t now) const {
  if (first == now) return true;
  for (const std::int64_t before : in_first_) {
    for (const std::int64_t after : in_now_) {
      const bool whole = before == 0 ? first == 0 : first % before == 0;
      const bool other = after == 0 ? now == 0 : now % after == 0;
      const bool same = before == 0 || after == 0 || first / before == now / after;
      if (whole && other && same) return true;
    }
  }
  return false;
}

bool FollowedLengths::follow(const c10::IValue& first, const c10::IValue& now) {
  if (!first.isIntList() || !now.isIntList()) return false;
  const std::vector<std::int64_t> before = first.toIntVector();
  const std::vector<std::int64_t> after = now.toIntVector();
  if (before.size() != after.size()) return false;
  look();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!is_followed(before[i], after[i])) return false;
  }
  return true;
}

}  // namespace leapp::capture
