// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/heap.h"

#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace leapp::capture {

#if defined(__GLIBC__)
// The end of the session cannot bring the adaptive limit back, only the value it adapts towards.
HeapWithoutHoles::HeapWithoutHoles() { mallopt(M_MMAP_THRESHOLD, 128 << 10); }
HeapWithoutHoles::~HeapWithoutHoles() { mallopt(M_MMAP_THRESHOLD, 32 << 20); }
#else
HeapWithoutHoles::HeapWithoutHoles() = default;
HeapWithoutHoles::~HeapWithoutHoles() = default;
#endif

}  // namespace leapp::capture
