// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/ort/memory_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/text.h"

namespace leapp::engine::ort {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kBeyond = 64;  // kernels read up to so many bytes past the end

thread_local MemoryAccount* t_account = nullptr;

/// ONNX Runtime hands on what it says.
class Refused final : public std::bad_alloc {
 public:
  Refused(std::uint64_t size, std::uint64_t in_use, std::uint64_t limit) noexcept {
    try {
      auto* const end = fmt::format_to_n(text_.data(), text_.size() - 1, "{}: {} beside the {} it has, the limit is {}",
                                         kRefused, bytes_text(size), bytes_text(in_use), bytes_text(limit))
                            .out;
      *end = '\0';
    } catch (...) {
      std::copy(kRefused.begin(), kRefused.end(), text_.begin());
    }
  }
  [[nodiscard]] const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 160> text_{};
};

}  // namespace

/// What stands in front of the memory that is handed out.
struct alignas(kAlignment) MemoryAccount::Block {
  MemoryAccount* account = nullptr;
  std::size_t size = 0;  ///< with this
  Block* next = nullptr;
};

std::shared_ptr<MemoryAccount> MemoryAccount::open(std::uint64_t limit) {
  return {new MemoryAccount(limit), [](MemoryAccount* account) { account->close(); }};
}

void MemoryAccount::close() noexcept {
  std::unique_lock lock(mutex_);
  drop_kept();
  closed_ = true;
  if (blocks_ > 0) return;
  lock.unlock();
  delete this;
}

// Lists of 64 bytes, 128, ... up to 1 KiB, then eight for each power of two.
std::size_t MemoryAccount::class_of(std::size_t size) {
  constexpr std::size_t kSmall = 1024 / kAlignment;
  if (size < 1024) return size / kAlignment;
  const auto power = static_cast<std::size_t>(std::bit_width(size)) - 1;
  return std::min(kClasses - 1, kSmall + (power - 10) * 8 + ((size >> (power - 3)) & 7U));
}

MemoryAccount::Block* MemoryAccount::make(std::size_t size) noexcept {
  void* const memory = std::aligned_alloc(kAlignment, size);
  return memory == nullptr ? nullptr : new (memory) Block{.account = nullptr, .size = size, .next = nullptr};
}

// One of this size, or a little larger.
MemoryAccount::Block* MemoryAccount::find_kept(std::size_t size) noexcept {
  constexpr int kLooks = 8;
  const std::size_t own = class_of(size);
  for (std::size_t list = own; list <= own + 1 && list < kClasses; ++list) {
    Block** at = &free_[list];
    for (int look = 0; look < kLooks && *at != nullptr; ++look, at = &(*at)->next) {
      if ((*at)->size < size) continue;
      Block* const found = *at;
      *at = found->next;
      kept_ -= found->size;
      return found;
    }
  }
  return nullptr;
}

void MemoryAccount::drop_kept() noexcept {
  if (kept_ == 0) return;
  for (Block*& list : free_) {
    while (list != nullptr) std::free(std::exchange(list, list->next));
  }
  kept_ = 0;
}

void* MemoryAccount::take(std::size_t size) {
  if (size == 0) return nullptr;
  if (limit_ != 0 && size > limit_) throw Refused(size, in_use(), limit_);
  std::size_t whole = 0;
  if (__builtin_add_overflow(size, sizeof(Block) + kBeyond + kAlignment - 1, &whole)) throw std::bad_alloc();
  whole &= ~(kAlignment - 1);
  const std::lock_guard lock(mutex_);
  Block* block = find_kept(whole);
  if (block == nullptr) {
    if (limit_ != 0 && in_use_ + kept_ + whole > limit_) drop_kept();
    if (limit_ != 0 && in_use_ + whole > limit_) throw Refused(size, in_use_, limit_);
    block = make(whole);
    if (block == nullptr) {
      drop_kept();
      block = make(whole);
    }
    if (block == nullptr) throw std::bad_alloc();
  }
  block->account = this;
  in_use_ += block->size;
  most_ = std::max(most_, in_use_);
  ++blocks_;
  return block + 1;
}

void* MemoryAccount::take_uncounted(std::size_t size) {
  if (size == 0) return nullptr;
  std::size_t whole = 0;
  if (__builtin_add_overflow(size, sizeof(Block) + kBeyond + kAlignment - 1, &whole)) throw std::bad_alloc();
  Block* const block = make(whole & ~(kAlignment - 1));
  if (block == nullptr) throw std::bad_alloc();
  return block + 1;
}

void MemoryAccount::give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  Block* const block = static_cast<Block*>(memory) - 1;
  MemoryAccount* const account = block->account;
  if (account == nullptr) return std::free(block);
  std::unique_lock lock(account->mutex_);
  account->in_use_ -= block->size;
  --account->blocks_;
  // Not more than was needed at a time: sizes that never come again would pile up.
  if (account->closed_ || account->kept_ + block->size > account->most_) {
    std::free(block);
  } else {
    Block*& list = account->free_[class_of(block->size)];
    block->next = list;
    list = block;
    account->kept_ += block->size;
  }
  const bool last = account->closed_ && account->blocks_ == 0;
  lock.unlock();
  if (last) delete account;
}

void MemoryAccount::trim() noexcept {
  const std::lock_guard lock(mutex_);
  drop_kept();
}

std::uint64_t MemoryAccount::in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

std::uint64_t MemoryAccount::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

Booking::Booking(MemoryAccount* account) noexcept : before_(std::exchange(t_account, account)) {}

Booking::~Booking() { t_account = before_; }

void* Booking::take(std::size_t size) {
  return t_account == nullptr ? MemoryAccount::take_uncounted(size) : t_account->take(size);
}

}  // namespace leapp::engine::ort
