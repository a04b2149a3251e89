// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests for memory. Standard headers that declare these functions are not included: they are defined here.
#include <cerrno>
#include <cstddef>

#include "plan.h"

// glibc's own, by the names under which it keeps them for this purpose: dlsym would ask for memory itself.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

using leapp::faults::Call;
using leapp::faults::Verdict;

bool fails() {
  return leapp::faults::armed() &&
         leapp::faults::decide(Call::kAlloc, static_cast<const char*>(nullptr)) != Verdict::kGo;
}

}  // namespace

LEAPP_FAULTS_EXPORT void* malloc(std::size_t size) { return fails() ? nullptr : __libc_malloc(size); }

LEAPP_FAULTS_EXPORT void* calloc(std::size_t count, std::size_t size) {
  return fails() ? nullptr : __libc_calloc(count, size);
}

LEAPP_FAULTS_EXPORT void* realloc(void* block, std::size_t size) {
  // To give memory back, or to make a block smaller, does not fail; the latter cannot be told from here.
  return size != 0 && fails() ? nullptr : __libc_realloc(block, size);
}

LEAPP_FAULTS_EXPORT void* memalign(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

LEAPP_FAULTS_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}

LEAPP_FAULTS_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  const int before = errno;
  void* got = fails() ? nullptr : __libc_memalign(alignment, size);
  errno = before;
  if (got == nullptr) return ENOMEM;
  *block = got;
  return 0;
}
