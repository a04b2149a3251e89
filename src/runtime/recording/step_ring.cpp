// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/step_ring.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

namespace leapp::runtime {

Result<std::unique_ptr<StepRing>> StepRing::make(std::size_t slot_bytes, std::size_t bytes) {
  constexpr std::size_t kLargest = std::size_t{1} << 36U;
  std::unique_ptr<StepRing> ring(new StepRing);
  ring->slot_bytes_ = (slot_bytes + 63) / 64 * 64;
  ring->count_ = std::max(kFewest, bytes / std::max<std::size_t>(ring->slot_bytes_, 1));
  if (slot_bytes > kLargest / kFewest || ring->count_ > kLargest / ring->slot_bytes_) {
    return invalid_argument(
        fmt::format("expected at most {} bytes between the loop and the file, found {} for {} bytes a step", kLargest,
                    bytes, slot_bytes));
  }
  // Populated: no page is missing when the loop writes to it for the first time.
  void* memory = ::mmap(nullptr, ring->count_ * ring->slot_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) {
    return internal_error(fmt::format("no memory for {} steps of {} bytes", ring->count_, ring->slot_bytes_));
  }
  ring->memory_ = ring->next_ = static_cast<std::byte*>(memory);
  return ring;
}

StepRing::~StepRing() {
  if (memory_ != nullptr) ::munmap(memory_, count_ * slot_bytes_);
}

}  // namespace leapp::runtime
