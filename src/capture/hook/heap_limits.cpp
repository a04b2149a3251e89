// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/heap_limits.h"

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>

#include <memory>
#endif

namespace leapp::capture {

#if defined(__GLIBC__)
namespace {

constexpr std::size_t kLowest = std::size_t{128} << 10;  // where glibc begins
constexpr std::size_t kHighest = std::size_t{32} << 20;  // up to where it adapts
constexpr std::size_t kTrimmed = std::size_t{64} << 20;

// A fixed limit for mappings also fixes the one for giving memory back, at a value that makes every growing trace ask
// the system for the same pages again and again.
void set_limits(std::size_t mapped_above, std::size_t trimmed_above) {
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(mapped_above));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(trimmed_above));
}

using Block = std::unique_ptr<void, decltype(&std::free)>;

// The second lowest bit of the size that stands before a block says so.
bool is_mapped_block(const void* block) {
  const auto size = static_cast<const std::size_t*>(block)[-1];
  return (size & 2U) != 0;
}

}  // namespace

bool HeapLimits::is_mapped(std::size_t bytes) {
  const Block block(std::malloc(bytes), &std::free);
  return block && is_mapped_block(block.get());
}

HeapLimits::HeapLimits() {
  // Upwards, and kept until the limit is fixed: to free a mapped block moves a limit that adapts.
  Block first_mapped(nullptr, &std::free);
  for (std::size_t bytes = kLowest; bytes <= kHighest && !first_mapped; bytes += bytes / 16) {
    Block block(std::malloc(bytes), &std::free);
    if (!block || !is_mapped_block(block.get())) continue;
    mapped_above_ = bytes;
    first_mapped = std::move(block);
  }
  if (mapped_above_ == 0) mapped_above_ = kHighest;
  set_limits(kLowest, kTrimmed);
}

// glibc's own rule for what it gives back goes with the limit.
HeapLimits::~HeapLimits() { set_limits(mapped_above_, mapped_above_ == kLowest ? kLowest : 2 * mapped_above_); }
#else
HeapLimits::HeapLimits() = default;
HeapLimits::~HeapLimits() = default;
bool HeapLimits::is_mapped(std::size_t) { return false; }
#endif

}  // namespace leapp::capture
