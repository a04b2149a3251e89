// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/recording/step_ring.h"
#include "runtime/simd/port_simd.h"

namespace leapp::runtime {

class GuardSet;

/// What a slot begins with: a line of the cache. Times are nanoseconds of the monotonic clock.
struct alignas(64) SlotHead {
  std::uint64_t number = 0;
  std::uint64_t dropped = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t deadline = 0;
  std::int64_t woken = 0;
  std::int64_t input = 0;
  std::uint32_t guard_events = 0;
  std::uint8_t result = 0;
  bool has_before = false;  ///< the step got as far as the models; else the state before it is that after it
  bool has_memory = false;
  bool guards_changed = false;
};
static_assert(sizeof(SlotHead) == 64);

/// What a step does beside its work when it is recorded: copies what it begins with into a slot of the ring, and with
/// record() what it ends with. Belongs to the pipeline's thread. Nothing here allocates or waits.
///
/// All of it is streamed past the caches: the slot was last in those of the thread that writes the file, and getting
/// its lines from there would cost more than all the rest.
class StepTap {
 public:
  using Strips = std::vector<simd::CopySpan>;

  /// What the pipeline's guards are; it changes with them.
  struct Guards {
    const GuardSet* set = nullptr;
    std::uint64_t rules = 0;   ///< how often they were set
    std::uint64_t memory = 0;  ///< how often what they remember was changed from outside
  };

  StepTap() = default;
  StepTap(const StepTap&) = delete;
  StepTap& operator=(const StepTap&) = delete;

  /// A step begins; the inputs are as the caller gave them.
  void begin(const Guards& guards) noexcept;
  /// Its models are about to run and read the state.
  void read_state(unsigned parity) noexcept {
    if (slot_ == nullptr) return;
    stream_(states_before[parity], slot_);
    head_.has_before = true;
  }

  struct End {
    unsigned parity = 0;  ///< of the next step
    std::uint8_t result = 0;
    std::uint32_t guard_events = 0;
    std::int64_t deadline = 0;
    std::int64_t woken = 0;
    std::int64_t input = 0;
  };
  /// False: there was no step, or it is not in the ring.
  bool record(const End& end) noexcept;

  // Set before the first step.
  StepRing* ring = nullptr;
  Strips inputs;
  Strips outputs;
  std::array<Strips, 2> states_before;  ///< by the parity of the step that reads them
  std::array<Strips, 2> states_after;   ///< likewise, so that of the next step
  std::size_t memory_at = 0;            ///< of what the guards remember, in the slot
  std::size_t memory_size = 0;          ///< 0: nothing
  std::uint64_t rules = 0;              ///< Guards::rules of the guards that the file has

  std::atomic<bool> stopped{false};  ///< nothing more is written
  std::atomic<std::uint64_t> steps{0};
  std::atomic<std::uint64_t> dropped{0};
  bool detached = false;             ///< the pipeline is gone, or runs another bundle
  std::atomic<bool> swapped{false};  ///< detached because of the latter

 private:
  SlotHead head_;
  const simd::Stream stream_ = simd::stream();
  std::byte* slot_ = nullptr;
  std::uint64_t number_ = 0;
  std::uint64_t seen_memory_ = 0;
  bool pending_ = false;  ///< a step was begun that record() has not taken down
  bool gap_ = true;       ///< the step before is not in the ring, so what the guards remember has to be
};

/// What a pipeline has of it. Tells it when the pipeline is gone.
struct StepTapHandle {
  StepTapHandle() = default;
  ~StepTapHandle() {
    if (tap != nullptr) tap->detached = true;
  }
  StepTapHandle(const StepTapHandle&) = delete;
  StepTapHandle& operator=(const StepTapHandle&) = delete;

  /// Another bundle is swapped in: a recording is of one, and ends here.
  void end_for_swap() noexcept {
    if (tap == nullptr) return;
    tap->swapped.store(true, std::memory_order_relaxed);
    tap->detached = true;
    tap = nullptr;
  }

  StepTap* tap = nullptr;
};

[[nodiscard]] inline std::int64_t monotonic_now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace leapp::runtime
