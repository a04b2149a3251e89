// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/pipeline/buffers.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/engine.h"

namespace leapp::runtime {
namespace {

// At least one byte: an engine wants an address, also for an empty tensor.
std::size_t padded(std::size_t size) {
  return (size + Buffers::kAlignment) / Buffers::kAlignment * Buffers::kAlignment;
}

// The bits of a one.
std::uint64_t one_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x3c00;
    case DType::kBFloat16:
      return 0x3f80;
    case DType::kFloat32:
      return 0x3f800000;
    case DType::kFloat64:
      return 0x3ff0000000000000;
    default:
      return 1;
  }
}

}  // namespace

std::uint64_t Buffers::needed(const std::vector<BufferPlan>& plans) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  std::uint64_t sum = 0;
  for (const BufferPlan& plan : plans) {
    const auto size = engine::buffer_size(plan.dtype, plan.shape);
    if (!size || *size > kMost / 4) return kMost;
    if (__builtin_add_overflow(sum, padded(*size) * (plan.doubled ? 2 : 1), &sum)) return kMost;
  }
  return sum;
}

Result<Buffers> Buffers::allocate(const std::vector<BufferPlan>& plans) {
  Buffers buffers;
  std::vector<std::size_t> offsets;
  std::size_t total = 0;
  for (const BufferPlan& plan : plans) {
    const auto size = engine::buffer_size(plan.dtype, plan.shape);
    const std::size_t wanted = size ? padded(*size) * (plan.doubled ? 2 : 1) : kLargest;
    if (!size || *size > kLargest || wanted > kLargest - total) {
      return invalid_argument(fmt::format("the pipeline's ports need more than {} bytes", kLargest));
    }
    offsets.push_back(total);
    buffers.sizes_.push_back(*size);
    total += wanted;
  }
  // Straight from the system: zero, and no page is used before it is touched.
  if (total == 0) total = kAlignment;
  void* memory = ::mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return out_of_memory(fmt::format("no memory for {} bytes of ports", total));
  buffers.memory_ = std::shared_ptr<void>(memory, [total](void* mapped) { ::munmap(mapped, total); });
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::byte* first = static_cast<std::byte*>(memory) + offsets[i];
    buffers.halves_.push_back({first, plans[i].doubled ? first + padded(buffers.sizes_[i]) : first});
  }
  return buffers;
}

void Buffers::fill(std::size_t buffer, DType dtype, bool one) const {
  const std::uint64_t bits = one ? one_of(dtype) : 0;
  const std::size_t width = dtype_size(dtype);
  for (std::byte* half : halves_[buffer]) {
    for (std::size_t at = 0; at < sizes_[buffer]; at += width) std::memcpy(half + at, &bits, width);
  }
}

}  // namespace leapp::runtime
