// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/heap.h"

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace leapp::capture {

#if defined(__GLIBC__)
namespace {

// A fixed limit for mappings also fixes the one for giving memory back, at a value that makes every growing trace ask
// the system for the same pages again and again.
void set_limits(int mapped_above) {
  mallopt(M_MMAP_THRESHOLD, mapped_above);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

}  // namespace

// The end of the session cannot bring the adaptive limit back, only the value it adapts towards.
HeapWithoutHoles::HeapWithoutHoles() { set_limits(128 << 10); }
HeapWithoutHoles::~HeapWithoutHoles() { set_limits(32 << 20); }
#else
HeapWithoutHoles::HeapWithoutHoles() = default;
HeapWithoutHoles::~HeapWithoutHoles() = default;
#endif

}  // namespace leapp::capture
