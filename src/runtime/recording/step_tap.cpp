// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/step_tap.h"

#include "runtime/robot/guard_set.h"

namespace leapp::runtime {

void StepTap::begin(const Guards& guards) noexcept {
  gap_ = gap_ || pending_;
  pending_ = true;
  ++number_;
  slot_ = stopped.load(std::memory_order_relaxed) ? nullptr : ring->acquire();
  if (slot_ == nullptr) return;
  head_.number = number_ - 1;
  head_.begin = monotonic_now();
  head_.has_before = false;
  head_.guards_changed = guards.rules != rules;
  head_.has_memory = !head_.guards_changed && memory_size != 0 && (gap_ || guards.memory != seen_memory_);
  if (head_.has_memory) {
    guards.set->save_memory(slot_ + memory_at);
    seen_memory_ = guards.memory;
  }
  stream_(inputs, slot_);
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
  stream_(outputs, slot_);
  stream_(states_after[end.parity], slot_);
  head_.end = monotonic_now();
  head_.dropped = dropped.load(std::memory_order_relaxed);
  head_.deadline = end.deadline;
  head_.woken = end.woken;
  head_.input = end.input;
  head_.result = end.result;
  head_.guard_events = end.guard_events;
  *reinterpret_cast<SlotHead*>(slot_) = head_;  // not streamed: the fence would wait for it
  simd::end_stream();
  ring->publish();
  slot_ = nullptr;
  gap_ = false;
  return true;
}

}  // namespace leapp::runtime
