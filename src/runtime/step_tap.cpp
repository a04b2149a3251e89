// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/step_tap.h"

#include "runtime/guard_set.h"

namespace leapp::runtime {

void StepTap::begin(const Guards& guards) noexcept {
  gap_ = gap_ || pending_;
  pending_ = true;
  ++number_;
  slot_ = stopped.load(std::memory_order_relaxed) ? nullptr : ring->acquire();
  if (slot_ == nullptr) return;
  SlotHead& head = this->head();
  head.number = number_ - 1;
  head.begin = monotonic_now();
  head.has_before = false;
  head.guards_changed = guards.rules != rules;
  head.has_memory = !head.guards_changed && memory_size != 0 && (gap_ || guards.memory != seen_memory_);
  if (head.has_memory) {
    guards.set->save_memory(slot_ + memory_at);
    seen_memory_ = guards.memory;
  }
  for (const Copy& copy : inputs) std::memcpy(slot_ + copy.to, copy.from, copy.size);
}

bool StepTap::record(const End& end) noexcept {
  if (!pending_) return false;
  pending_ = false;
  steps.store(steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (slot_ == nullptr) {
    dropped.fetch_add(1, std::memory_order_relaxed);
    gap_ = true;
    return false;
  }
  SlotHead& head = this->head();
  head.end = monotonic_now();
  head.dropped = dropped.load(std::memory_order_relaxed);
  head.deadline = end.deadline;
  head.woken = end.woken;
  head.input = end.input;
  head.result = end.result;
  head.guard_events = end.guard_events;
  for (const Copy& copy : outputs) std::memcpy(slot_ + copy.to, copy.from, copy.size);
  for (const StateCopy& copy : states) std::memcpy(slot_ + copy.after, copy.from[end.parity], copy.size);
  ring->publish();
  slot_ = nullptr;
  gap_ = false;
  return true;
}

}  // namespace leapp::runtime
