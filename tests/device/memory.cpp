// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <c10/util/Exception.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace leapp::annex {
namespace {

constexpr std::size_t kBytes = std::size_t{8} << 30U;  // of each device; pages are there once they are used
constexpr std::size_t kSmallest = 256;
constexpr int kFresh = 0xA5;
constexpr int kFreed = 0x5A;

std::byte* map(int protection, int flags, int file) {
  void* at = mmap(nullptr, kBytes, protection, flags | MAP_NORESERVE, file, 0);
  TORCH_CHECK(at != MAP_FAILED, "annex: cannot map ", kBytes, " bytes: ", std::strerror(errno));
  return static_cast<std::byte*>(at);
}

std::byte* addresses() {
  static std::byte* const begin = map(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return begin;
}

/// The memory of one device, in blocks of powers of two.
class Memory {
 public:
  Memory() : begin_(map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1)) {}

  std::size_t take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t size = block_size(bytes);
    std::vector<std::size_t>& free = free_[size];
    std::size_t at = next_;
    if (!free.empty()) {
      at = free.back();
      free.pop_back();
    } else {
      TORCH_CHECK(next_ + size <= kBytes, "annex: out of memory: ", bytes, " bytes wanted");
      next_ += size;
    }
    std::memset(begin_ + at, kFresh, size);
    return at;
  }

  void give_back(std::size_t at, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t size = block_size(bytes);
    std::memset(begin_ + at, kFreed, size);
    free_[size].push_back(at);
  }

  [[nodiscard]] std::byte* begin() const { return begin_; }

 private:
  static std::size_t block_size(std::size_t bytes) { return std::bit_ceil(std::max(bytes, kSmallest)); }

  std::byte* begin_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::map<std::size_t, std::vector<std::size_t>> free_;
};

Memory& memory_of(c10::DeviceIndex device) {
  static auto* memories = new std::array<Memory, kDevices>();
  return memories->at(static_cast<std::size_t>(device));
}

thread_local c10::DeviceIndex t_device = 0;

struct Block {
  c10::DeviceIndex device = 0;
  std::size_t at = 0;
  std::size_t bytes = 0;
};

void give_back(void* context) {
  const auto* block = static_cast<Block*>(context);
  if (!block) return;
  memory_of(block->device).give_back(block->at, block->bytes);
  delete block;
}

class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device(kType, t_device);
    if (bytes == 0) return {nullptr, nullptr, &give_back, device};
    auto* block = new Block{t_device, memory_of(t_device).take(bytes), bytes};
    return {addresses() + block->at, block, &give_back, device};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(reach(to, t_device), reach(from, t_device), bytes);
  }
};

struct Pinned {
  std::mutex mutex;
  std::map<const std::byte*, std::size_t> ranges;
};

Pinned& pinned() {
  static auto* held = new Pinned();
  return *held;
}

void unpin(void* address) {
  if (!address) return;
  const std::lock_guard lock(pinned().mutex);
  pinned().ranges.erase(static_cast<const std::byte*>(address));
  std::free(address);
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &unpin, c10::Device(c10::DeviceType::CPU)};
    void* address = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    TORCH_CHECK(address, "annex: out of memory of the CPU");
    std::memset(address, kFresh, bytes);
    const std::lock_guard lock(pinned().mutex);
    pinned().ranges.emplace(static_cast<std::byte*>(address), bytes);
    return {address, address, &unpin, c10::Device(c10::DeviceType::CPU)};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &unpin; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

struct Work {
  std::mutex mutex;
  std::deque<std::function<void()>> queue;
};

Work& work() {
  static auto* held = new Work();
  return *held;
}

}  // namespace

void* reach(const void* address, c10::DeviceIndex device) {
  if (!address) return nullptr;
  const auto* at = static_cast<const std::byte*>(address);
  TORCH_CHECK(at >= addresses() && at < addresses() + kBytes, "annex: ", address, " is no address of the device");
  return memory_of(device).begin() + (at - addresses());
}

c10::Allocator* allocator() {
  static auto* made = new Allocator();
  return made;
}

c10::Allocator* pinned_allocator() {
  static auto* made = new PinnedAllocator();
  return made;
}

bool is_pinned(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  const std::lock_guard lock(pinned().mutex);
  auto after = pinned().ranges.upper_bound(at);
  if (after == pinned().ranges.begin()) return false;
  --after;
  return at < after->first + after->second;
}

c10::DeviceIndex current_device() { return t_device; }

c10::DeviceIndex exchange_device(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < kDevices, "annex: expected a device from 0 to ", kDevices - 1, ", found ",
              static_cast<int>(device));
  return std::exchange(t_device, device);
}

void postpone(std::function<void()> todo) {
  const std::lock_guard lock(work().mutex);
  work().queue.push_back(std::move(todo));
}

void finish_work() {
  const std::lock_guard lock(work().mutex);
  while (!work().queue.empty()) {
    const std::function<void()> next = std::move(work().queue.front());
    work().queue.pop_front();
    next();
  }
}

std::size_t work_left() {
  const std::lock_guard lock(work().mutex);
  return work().queue.size();
}

}  // namespace leapp::annex
