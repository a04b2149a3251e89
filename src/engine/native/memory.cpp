// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "engine/native/free_list.h"

namespace leapp::native {
namespace {

/// Comparing each value with all others takes least memory, and too long for more than these.
constexpr std::size_t kMostCompared = 4096;

/// From when to when memory is used, in calls; inner blocks are counted where they stand.
struct Life {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = -1;

  void add(std::int64_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
  [[nodiscard]] bool used() const { return last >= 0; }
  [[nodiscard]] bool overlaps(const Life& other) const { return first <= other.last && other.first <= last; }
};

class Planner {
 public:
  Planner(Plan& plan, Arenas arenas)
      : plan_(plan), arenas_(arenas), lives_(plan.values.size()), shares_(plan.values.size(), kNoValue) {}

  Status run() {
    visit(plan_.calls);
    extend_lives();
    time_ = 0;
    share(plan_.calls);
    LEAPP_RETURN_IF_ERROR(place_constants());
    LEAPP_RETURN_IF_ERROR(place_arena());
    place_views();
    return {};
  }

 private:
  // Of one type, what is whole is aligned.
  [[nodiscard]] std::size_t aligned(std::size_t bytes) const {
    return arenas_ == Arenas::kByType ? bytes : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  [[nodiscard]] std::uint32_t arena_of(ValueId value) const {
    return arenas_ == Arenas::kByType ? static_cast<std::uint32_t>(plan_.values[value].dtype) : 0;
  }

  void tick() {
    block_at_.push_back(block_);
    ++time_;
  }

  // The number of a call is the time at which it begins; what is inside comes after it.
  void visit(const Block& block) {
    for (const KernelCall& call : block) {
      for (const Operand& operand : call.operands) lives_[plan_.root(operand.value).value].add(time_);
      tick();
      for (const Block& inner : call.blocks) visit_inner(inner);
      if (call.blocks.empty()) continue;
      // A call with blocks reads its operands between the rounds as well.
      for (const Operand& operand : call.operands) lives_[plan_.root(operand.value).value].add(time_ - 1);
    }
  }

  void visit_inner(const Block& block) {
    const std::size_t inner = blocks_.size();
    blocks_.push_back({{time_, time_}, block_, blocks_[block_].depth + 1});
    const std::size_t outer = std::exchange(block_, inner);
    tick();
    visit(block);
    blocks_[inner].life.add(time_);
    tick();
    block_ = outer;
  }

  // What is used inside and outside of a block is alive for as long as the block is: a later round may read or write
  // it.
  void extend_lives() {
    for (Life& life : lives_) {
      if (!life.used()) continue;
      std::size_t first = block_at_[static_cast<std::size_t>(life.first)];
      std::size_t last = block_at_[static_cast<std::size_t>(life.last)];
      while (first != last) {
        std::size_t& inner = blocks_[first].depth >= blocks_[last].depth ? first : last;
        life.add(blocks_[inner].life.first);
        life.add(blocks_[inner].life.last);
        inner = blocks_[inner].outer;
      }
    }
  }

  void share(const Block& block) {
    for (const KernelCall& call : block) {
      share_operands(call, time_);
      ++time_;
      for (const Block& inner : call.blocks) {
        ++time_;
        share(inner);
        ++time_;
      }
    }
  }

  [[nodiscard]] bool in_arena(ValueId value) const {
    const PlanValue& v = plan_.values[value];
    return !v.input && !v.output && !v.constant;
  }

  [[nodiscard]] ValueId holder(ValueId value) const {
    while (shares_[value] != kNoValue) value = shares_[value];
    return value;
  }

  void share_operands(const KernelCall& call, std::int64_t now) {
    ValueId taken = kNoValue;
    for (const Operand& result : call.operands) {
      if (!result.in_place || result.access != Access::kWrite) continue;
      const Plan::Root to = plan_.root(result.value);
      if (!in_arena(to.value) || to.offset != 0 || lives_[to.value].first != now) continue;
      if (plan_.values[to.value].bytes != plan_.values[result.value].bytes || shares_[to.value] != kNoValue) continue;
      for (const Operand& operand : call.operands) {
        if (operand.access != Access::kRead) continue;
        const ValueId from = holder(plan_.root(operand.value).value);
        if (arena_of(from) != arena_of(to.value)) continue;
        if (from == taken || from == to.value || !may_hold(call, from, plan_.values[to.value].bytes, now)) continue;
        shares_[to.value] = from;
        lives_[from].add(lives_[to.value].last);
        taken = from;
        break;
      }
    }
  }

  // The operand dies here, and the call sees it whole and only so.
  [[nodiscard]] bool may_hold(const KernelCall& call, ValueId from, std::size_t bytes, std::int64_t now) const {
    if (!in_arena(from) || lives_[from].last != now || lives_[from].first == now) return false;
    return std::all_of(call.operands.begin(), call.operands.end(), [&](const Operand& operand) {
      const Plan::Root root = plan_.root(operand.value);
      if (holder(root.value) != from) return true;
      return root.offset == 0 && plan_.values[operand.value].bytes == bytes && plan_.values[from].bytes == bytes;
    });
  }

  Status grow(std::size_t& total, std::size_t bytes) const {
    if (bytes > kLargestMemory || total + aligned(bytes) > kLargestMemory) return too_large();
    total += aligned(bytes);
    return {};
  }

  static Status too_large() {
    return unimplemented(fmt::format("the model needs more than {} bytes of memory to work in", kLargestMemory));
  }

  Status place_constants() {
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      PlanValue& value = plan_.values[i];
      if (value.input) value.place = {MemorySpace::kInput, *value.input, 0};
      if (value.output) value.place = {MemorySpace::kOutput, *value.output, 0};
      if (!value.constant || value.view_of != kNoValue || !lives_[i].used()) continue;
      value.place = {MemorySpace::kConstant, 0, plan_.constant_bytes};
      LEAPP_RETURN_IF_ERROR(grow(plan_.constant_bytes, value.bytes));
    }
    return {};
  }

  Status place_arena() {
    std::vector<ValueId> order;
    for (ValueId i = 0; i < plan_.values.size(); ++i) {
      const bool own = plan_.values[i].view_of == kNoValue && shares_[i] == kNoValue;
      if (!own || !lives_[i].used() || !in_arena(i)) continue;
      if (plan_.values[i].bytes > kLargestMemory) return too_large();
      order.push_back(i);
    }
    return order.size() <= kMostCompared ? place_largest_first(std::move(order)) : place_in_order(std::move(order));
  }

  Status place(ValueId value, std::uint64_t at) {
    const std::size_t bytes = plan_.values[value].bytes;
    if (at + bytes > kLargestMemory) return too_large();
    plan_.values[value].place = {MemorySpace::kArena, arena_of(value), at};
    plan_.arena_bytes = std::max<std::size_t>(plan_.arena_bytes, at + aligned(bytes));
    return {};
  }

  // Each at the lowest place that nothing alive at the same time has.
  Status place_largest_first(std::vector<ValueId> order) {
    std::stable_sort(order.begin(), order.end(),
                     [&](ValueId a, ValueId b) { return plan_.values[a].bytes > plan_.values[b].bytes; });
    std::vector<ValueId> placed;  // by offset
    for (const ValueId value : order) {
      std::uint64_t at = 0;
      for (const ValueId other : placed) {
        if (arena_of(value) != arena_of(other) || !lives_[value].overlaps(lives_[other])) continue;
        const std::uint64_t begin = plan_.values[other].place.offset;
        if (at + aligned(plan_.values[value].bytes) <= begin) break;
        at = std::max(at, begin + aligned(plan_.values[other].bytes));
      }
      LEAPP_RETURN_IF_ERROR(place(value, at));
      placed.insert(std::upper_bound(placed.begin(), placed.end(), value,
                                     [&](ValueId a, ValueId b) {
                                       return plan_.values[a].place.offset < plan_.values[b].place.offset;
                                     }),
                    value);
    }
    return {};
  }

  // As they come to life, in what those that are dead by then had.
  Status place_in_order(std::vector<ValueId> order) {
    std::stable_sort(order.begin(), order.end(),
                     [&](ValueId a, ValueId b) { return lives_[a].first < lives_[b].first; });
    std::map<std::uint32_t, FreeList> arenas;
    using Death = std::pair<std::int64_t, ValueId>;
    std::priority_queue<Death, std::vector<Death>, std::greater<>> alive;
    for (const ValueId value : order) {
      for (; !alive.empty() && alive.top().first < lives_[value].first; alive.pop()) {
        const PlanValue& dead = plan_.values[alive.top().second];
        arenas[dead.place.port].give_back(dead.place.offset, aligned(dead.bytes));
      }
      LEAPP_RETURN_IF_ERROR(place(value, arenas[arena_of(value)].take(aligned(plan_.values[value].bytes))));
      alive.emplace(lives_[value].last, value);
    }
    return {};
  }

  void place_views() {
    for (ValueId i = 0; i < plan_.values.size(); ++i) {
      const Plan::Root root = plan_.root(i);
      const ValueId held = holder(root.value);
      if (held == i) continue;
      plan_.values[i].place = plan_.values[held].place;
      plan_.values[i].place.offset += root.offset;
    }
  }

  struct BlockLife {
    Life life;
    std::size_t outer = 0;
    std::size_t depth = 0;
  };

  Plan& plan_;
  Arenas arenas_;
  std::vector<Life> lives_;
  std::vector<BlockLife> blocks_ = std::vector<BlockLife>(1);  ///< the first is all
  std::vector<std::size_t> block_at_;                          ///< by time: the innermost
  std::vector<ValueId> shares_;                                ///< the value whose memory a result takes over
  std::int64_t time_ = 0;
  std::size_t block_ = 0;
};

}  // namespace

Status plan_memory(Plan& plan, Arenas arenas) { return Planner(plan, arenas).run(); }

}  // namespace leapp::native
