// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/reentry.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"
#include "capture/state/draws.h"
#include "capture/trace/record.h"
#include "capture/trace/value_key.h"

namespace leapp::capture {
namespace {

std::string text_of(const ValuePtr& value) {
  switch (value->kind) {
    case TracedKind::kInput:
      return fmt::format("input '{}'", value->origin->port);
    case TracedKind::kResult:
      return fmt::format("{}{}", value->op->info->qualified_name(), at_line(value->op->location));
    case TracedKind::kConstant:
      return value->cell->name.empty()
                 ? fmt::format("a constant {}{}{}", type_text(value->type), value->cell->location == 0 ? "" : " read",
                               at_line(value->cell->location))
                 : fmt::format("the constant '{}'", value->cell->name);
    default:
      return "another value";
  }
}

std::string argument_text(const TraceArgument& argument) {
  if (argument.kind == TraceArgument::Kind::kTensor) return "a value that was computed";
  return attribute_text(argument.attribute);
}

/// Rows of a number that depends on data, filled up to the same number in both calls.
bool fill_up_alike(const TraceOp& first, const TraceOp& now) {
  const std::string& name = first.info->name();
  if (name != "aten::pad" && name != "aten::constant_pad_nd") return false;
  return !first.results.empty() && !now.results.empty() && first.results[0].sizes == now.results[0].sizes;
}

LocationId location_of(const ValuePtr& value) {
  if (value->kind == TracedKind::kResult) return value->op->location;
  return value->kind == TracedKind::kConstant ? value->cell->location : 0;
}

}  // namespace

Divergence& CallComparison::diverge(const Use& use, std::uint64_t order, const std::string& text) {
  Divergence divergence;
  divergence.use = use;
  divergence.call = call_;
  divergence.text = fmt::format("call {} differs from call {}: {}", call_, record_.first_call, text);
  divergence.of_guard = guards_;
  divergence.order = order;
  divergence.location = use.op ? use.op->location : 0;
  return found_.emplace_back(std::move(divergence));
}

void CallComparison::diverge_at(const Use& use, const ValuePtr& first, const ValuePtr& now) {
  const std::string where =
      use.op ? fmt::format("{}{} uses ", use.op->info->qualified_name(), at_line(use.op->location)) : "";
  Divergence& found = diverge(
      {}, use.op ? use.op->sequence : 0,
      fmt::format("{}{} in call {}, {} in call {}", where, text_of(first), record_.first_call, text_of(now), call_));
  found.location = use.op ? use.op->location : location_of(first);
  const auto earlier = now->kind == TracedKind::kConstant ? source_of(*now->cell, pass_) : std::nullopt;
  if (earlier && earlier->node == record_.name) {
    found.kind = Divergence::Kind::kEarlier;
    found.text +=
        ": an earlier call computed it. The program decides without the model's knowledge when to compute and "
        "when to take what is left";
  }
  const bool both = first->kind == TracedKind::kResult && now->kind == TracedKind::kResult;
  if (!both) return;
  found.kind = Divergence::Kind::kBranch;
  found.location = first->op->location;
  found.other = now->op->location;
}

void CallComparison::compare(const std::string& what, const ValuePtr& first, const ValuePtr& now) {
  if (!now) {
    diverge({}, 0, fmt::format("{} is computed in call {} and not in call {}", what, record_.first_call, call_))
        .location = location_of(first);
    return;
  }
  lengths_.set_roots(first, now);
  const bool apart = is_set_apart(*first) && is_set_apart(*now);
  apart ? match({}, first, now) : match({}, bare(first), bare(now));
  while (!pending_.empty()) {
    const auto [op, other] = pending_.back();
    pending_.pop_back();
    match_ops(*op, *other);
  }
}

void CallComparison::compare_guard(const BranchCondition& first, const BranchCondition& now) {
  guards_ = true;
  compare("", first.value, now.value);
  guards_ = false;
}

void CallComparison::compare_kept(const ValuePtr& first, const ValuePtr& now) {
  const std::size_t before = found_.size();
  compare("", first, now);
  found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(before), found_.end());
}

Leak* CallComparison::leak_at(const Use& use) {
  if (!use.op) return nullptr;
  const auto found = std::find_if(record_.leaks.begin(), record_.leaks.end(),
                                  [&](const Leak& leak) { return leak.uses.contains(use); });
  return found == record_.leaks.end() ? nullptr : &*found;
}

void CallComparison::match(const Use& use, const ValuePtr& first, const ValuePtr& now) {
  if (const auto rows = use.op ? with_their_rows(*use.op, first, now) : std::nullopt)
    return match(use, rows->first, rows->second);
  const bool leaks = now->kind == TracedKind::kConstant && source_of(*now->cell, pass_);
  if (leaks && use.op && !leak_at(use) && is_kept(first, *now->cell)) return;
  if (leaks && use.op && !leak_at(use) && is_read_in_place(first, *now->cell)) return match_constants(use, first, now);
  if (leaks && use.op) return note_leak(use, first, now);
  if (Leak* known = leak_at(use)) {
    // Set to something fresh, or still what it was at first: that never conflicts.
    if (!is_constant(*now)) return diverge_at(use, first, now);
    reads_[use] = now;
    if (follows_ways()) known->seen.push_back({call_, pass_, {}, now});
    return;
  }
  if (is_constant(*first) && is_constant(*now)) return match_constants(use, first, now);
  if (first->kind != now->kind || is_constant(*first) != is_constant(*now)) return diverge_at(use, first, now);
  if (first->kind == TracedKind::kInput) {
    if (first->origin->port != now->origin->port) diverge_at(use, first, now);
    return;
  }
  if (first->index != now->index) return diverge_at(use, first, now);
  pending_.emplace_back(first->op.get(), now->op.get());
}

bool CallComparison::same_form(const TraceOp& first, const TraceOp& now) {
  if (first.info != now.info || first.arguments.size() != now.arguments.size()) {
    Divergence& found =
        diverge({}, first.sequence,
                fmt::format("{}{} in call {}, {}{} in call {}. A branch on data, or on a number that changes, "
                            "is exported as it was taken first",
                            first.info->qualified_name(), at_line(first.location), record_.first_call,
                            now.info->qualified_name(), at_line(now.location), call_));
    found.kind = Divergence::Kind::kBranch;
    found.location = first.location;
    found.other = now.location;
    return false;
  }
  for (std::size_t i = 0; i < first.arguments.size(); ++i) {
    const TraceArgument& a = first.arguments[i];
    const TraceArgument& b = now.arguments[i];
    if (a.kind == b.kind && a.list.size() == b.list.size() && same_attribute(a.attribute, b.attribute)) continue;
    if (a.kind == b.kind && lengths_.follow(a.attribute, b.attribute)) continue;
    if (a.kind == b.kind && a.attribute.isIntList() && fill_up_alike(first, now)) continue;
    if (first.info->name() == "leapp::control") {
      Divergence& found = diverge(
          {}, first.sequence,
          fmt::format(
              "the scripted code{} holds other operators in call {} than in call {}: a number that it is given, "
              "or a choice that no value of the node decides, is another one. It is exported as it was first",
              at_line(first.location), call_, record_.first_call));
      found.kind = Divergence::Kind::kBranch;
      found.location = first.location;
      found.other = now.location;
      return false;
    }
    const std::string& name = first.info->schema().arguments()[i].name();
    Divergence& found = diverge({}, first.sequence,
                                fmt::format("{}{}: '{}' is {} in call {} and {} in call {}. It is exported as it "
                                            "was first; make it a tensor and an input, or state, to have it change",
                                            first.info->qualified_name(), at_line(first.location), name,
                                            argument_text(a), record_.first_call, argument_text(b), call_));
    found.kind = Divergence::Kind::kNumber;
    found.location = first.location;
    found.name = name;
    return false;
  }
  return true;
}

void CallComparison::match_ops(TraceOp& first, TraceOp& now) {
  const auto [position, added] = paired_.try_emplace(&first, &now);
  if (!added) return;
  if (!same_form(first, now)) return;
  if (!note_draw(first, now)) {
    diverge({}, first.sequence,
            fmt::format("{}{} draws other numbers in call {}, and those of call {} were read again before. They are "
                        "exported as a constant; announce them with input_tensors to have them change",
                        first.info->qualified_name(), at_line(first.location), call_, record_.first_call))
        .location = first.location;
  }
  std::vector<ValuePtr> others;
  for_each_operand(now, [&](const ValuePtr& value) { others.push_back(value); });
  std::size_t operand = 0;
  for_each_operand(first, [&](const ValuePtr& value) {
    if (operand < others.size()) match({&first, operand}, value, others[operand]);
    ++operand;
  });
}

void CallComparison::match_constants(const Use& use, const ValuePtr& first, const ValuePtr& now) {
  if (first == now) return;
  if (first->kind == TracedKind::kResult && now->kind == TracedKind::kResult && first->op->info == now->op->info &&
      first->index == now->index) {
    pending_.emplace_back(first->op.get(), now->op.get());
    return;
  }
  const bool cells = first->kind == TracedKind::kConstant && now->kind == TracedKind::kConstant;
  if (cells && (first->cell == now->cell || first->cell->is_same_memory(*now->cell))) return;
  if (cells && (first->cell->is_random() || now->cell->is_random())) return;  // reported as such
  const ContentPtr before = evaluator_.value_of(first);
  const ContentPtr after = evaluator_.value_of(now);
  if (same_content(*before, *after)) return note_kept(first);
  if (use.op) reads_[use] = now;
  Divergence& found =
      diverge(use, use.op ? use.op->sequence : 0,
              fmt::format("{}{} is {} in call {} and {} in call {}. It is exported as it was first; announce it with "
                          "input_tensors, or as state, to have it change",
                          use.op ? fmt::format("{}{}: ", use.op->info->qualified_name(), at_line(use.op->location))
                                 : std::string(),
                          text_of(first), before->text(), record_.first_call, after->text(), call_));
  found.kind = Divergence::Kind::kConstant;
  if (found.location == 0) found.location = location_of(first);
  found.name = cells ? first->cell->name : "";
  found.now = now;
}

// What the first call made from nothing live and kept (a cache that it filled) is read again as it was: a constant.
bool CallComparison::is_kept(const ValuePtr& first, const ConstantCell& cell) {
  if (first->kind != TracedKind::kResult || !is_constant(*first)) return false;
  if (cell.provenance->kind != TracedKind::kFormer) return false;
  if (cell.provenance->origin->key != ValueKeys().of(first)) return false;
  const ContentPtr before = evaluator_.value_of(first);
  if (before->type() != cell.type() || before->hash() != cell.hash()) return false;
  note_kept(first);
  return true;
}

// Which path wrote to the memory that this one only reads is found out when all are known (state_slots.h).
bool CallComparison::is_read_in_place(const ValuePtr& first, const ConstantCell& cell) const {
  if (!follows_ways() || first->kind != TracedKind::kConstant) return false;
  if (cell.provenance->kind != TracedKind::kFormer || cell.provenance->origin->node != record_.name) return false;
  const auto memory = cell.home.lock();
  return memory && first->cell->home.lock() == memory && first->cell->place == cell.place;
}

bool CallComparison::is_memory_of(const Leak& leak, const ConstantCell& cell) const {
  return leak.in_place && cell.home.lock() == leak.memory && contains(leak.place, cell.place);
}

void CallComparison::note_seen(Leak& leak, const LeakSource& source, const ValuePtr& now, bool elsewhere) const {
  constexpr std::size_t kMostOfPlain = 4096;  // of a node without ways, should any come
  if (!follows_ways() && leak.seen.size() >= kMostOfPlain) return;
  leak.seen.push_back({call_, pass_, source, nullptr, now->cell->home, elsewhere});
  if (record_.is_variant) leak.values.emplace(std::pair(source.port, source.key), now);
}

void CallComparison::note_leak(const Use& use, const ValuePtr& first, const ValuePtr& now) {
  const LeakSource source = source_of(*now->cell, pass_).value();
  if (Leak* known = leak_at(use)) {
    reads_[use] = now;
    const bool elsewhere = known->in_place && !is_memory_of(*known, *now->cell);
    note_seen(*known, source, now, elsewhere);
    // A leak that was known only by its memory, or not at all, takes the source that is seen.
    if (known->source == source || is_memory_of(*known, *now->cell)) return;
    diverge({}, use.op->sequence,
            fmt::format("{}{}: what it reads came from {}{}{} before and comes from {}{}{} in call {}",
                        use.op->info->qualified_name(), at_line(use.op->location), known->source.node,
                        known->source.port.empty() ? "" : "/", known->source.port, source.node,
                        source.port.empty() ? "" : "/", source.port, call_))
        .location = use.op->location;
    if (!follows_ways() || source.node != record_.name) return;
    // Another path may have left it, or left it alone.
    record_.unsettled.push_back(std::move(found_.back()));
    found_.pop_back();
    return;
  }
  // What is drawn in some calls, and read again in others, is no state.
  if (!is_constant(*first) || is_drawn_anew(first)) return diverge_at(use, first, now);
  reads_[use] = now;
  const auto found = std::find_if(record_.leaks.begin(), record_.leaks.end(),
                                  [&](const Leak& leak) { return !leak.memory && leak.source == source; });
  if (found != record_.leaks.end()) {
    found->uses.emplace(use, Geometry());
    return;
  }
  Leak leak = leak_of(source, first->type, *now->cell);
  leak.read[record_.first_call] = evaluator_.value_of(first);
  note_seen(leak, source, now, false);
  leak.uses.emplace(use, Geometry());
  record_.leaks.push_back(std::move(leak));
}

std::vector<Divergence> CallComparison::take() {
  std::sort(found_.begin(), found_.end(), [](const Divergence& a, const Divergence& b) { return a.order < b.order; });
  return std::move(found_);
}

}  // namespace leapp::capture
