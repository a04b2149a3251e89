// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace leapp::capture {

/// While one exists, tensors above 128 kB get memory of their own from the system. Otherwise glibc, once it has seen a
/// large block freed, takes them from its heap, where our small records settle in the holes they leave and the next
/// tensor does not fit any more: peak memory was measured at up to twenty times that without capture.
///
/// Afterwards the limit is what it was, as far as malloc lets it be seen: free memory at the end of the heap hides it,
/// and then it is the highest that glibc adapts to. What glibc cannot be given back is that it goes on adapting.
class HeapLimits {
 public:
  HeapLimits();
  ~HeapLimits();
  HeapLimits(const HeapLimits&) = delete;
  HeapLimits& operator=(const HeapLimits&) = delete;

  /// Whether malloc takes a block of this size from the system, not from its heap. False where that cannot be told.
  static bool is_mapped(std::size_t bytes);

 private:
  std::size_t mapped_above_ = 0;  // before; 0: not known
};

}  // namespace leapp::capture
