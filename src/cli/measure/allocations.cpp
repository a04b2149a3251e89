// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <utility>

#if defined(__GLIBC__) && !defined(LEAPP_SANITIZED)
#define LEAPP_COUNTS_ALLOCATIONS 1
#endif

namespace leapp::cli {
namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> ours{0};
std::atomic<std::uint64_t> engines{0};
thread_local bool ours_here = false;

#ifdef LEAPP_COUNTS_ALLOCATIONS
void count() {
  if (!counting.load(std::memory_order_relaxed)) return;
  (ours_here ? ours : engines).fetch_add(1, std::memory_order_relaxed);
}
#endif

}  // namespace

bool can_count_allocations() {
#ifdef LEAPP_COUNTS_ALLOCATIONS
  return true;
#else
  return false;
#endif
}

AllocationScope::AllocationScope() {
  ours = 0;
  engines = 0;
  ours_here = true;
  counting = true;
}

AllocationScope::~AllocationScope() {
  counting = false;
  ours_here = false;
}

AllocationCounts AllocationScope::counts() const { return {ours.load(), engines.load()}; }

EngineScope::EngineScope() noexcept : before_(std::exchange(ours_here, false)) {}

EngineScope::~EngineScope() { ours_here = before_; }

}  // namespace leapp::cli

#ifdef LEAPP_COUNTS_ALLOCATIONS

#define LEAPP_IN_PLACE_OF_LIBC extern "C" __attribute__((visibility("default")))

// NOLINTBEGIN(bugprone-reserved-identifier): names of the C library
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}
// NOLINTEND(bugprone-reserved-identifier)

LEAPP_IN_PLACE_OF_LIBC void* malloc(std::size_t size) {
  leapp::cli::count();
  return __libc_malloc(size);
}

LEAPP_IN_PLACE_OF_LIBC void* calloc(std::size_t number, std::size_t size) {
  leapp::cli::count();
  return __libc_calloc(number, size);
}

LEAPP_IN_PLACE_OF_LIBC void* realloc(void* memory, std::size_t size) {
  leapp::cli::count();
  return __libc_realloc(memory, size);
}

LEAPP_IN_PLACE_OF_LIBC void* memalign(std::size_t alignment, std::size_t size) {
  leapp::cli::count();
  return __libc_memalign(alignment, size);
}

LEAPP_IN_PLACE_OF_LIBC void* aligned_alloc(std::size_t alignment, std::size_t size) {
  leapp::cli::count();
  return __libc_memalign(alignment, size);
}

LEAPP_IN_PLACE_OF_LIBC int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  leapp::cli::count();
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* block = __libc_memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *memory = block;
  return 0;
}

#endif
