// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// ONNX Runtime takes as much memory as a model asks for, and what a model asks for may depend on its data. Here it has
// to ask us: each request is booked to the pipeline it is for, and one too many is an error of the load or of the run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

namespace leapp::engine::ort {

/// What the sessions of one engine may have together, for weights, results and what kernels put aside. Memory that is
/// given back is kept for the next run, as ONNX Runtime's own arena does it: a run that asks for what the one before it
/// asked for costs no malloc. Any thread.
class MemoryAccount {
 public:
  /// Lives until its last block is given back, should ONNX Runtime keep one. `limit`: bytes; 0: any.
  static std::shared_ptr<MemoryAccount> open(std::uint64_t limit);

  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  /// Aligned to 64 bytes. Throws std::bad_alloc, whose text begins as kRefused does if it is the limit's doing.
  void* take(std::size_t size);
  /// Of a block that any account gave out, or none.
  static void give_back(void* memory) noexcept;
  /// The same for who has no account: nothing is counted.
  static void* take_uncounted(std::size_t size);

  /// Gives the system what is kept.
  void trim() noexcept;

  [[nodiscard]] std::uint64_t in_use() const;
  [[nodiscard]] std::uint64_t kept() const;

 private:
  struct Block;
  static constexpr std::size_t kClasses = 352;

  explicit MemoryAccount(std::uint64_t limit) : limit_(limit) {}
  ~MemoryAccount() = default;

  static std::size_t class_of(std::size_t size);
  static Block* make(std::size_t size) noexcept;
  void close() noexcept;
  Block* find_kept(std::size_t size) noexcept;
  void drop_kept() noexcept;

  mutable std::mutex mutex_;
  std::uint64_t limit_;
  std::uint64_t in_use_ = 0;
  std::uint64_t most_ = 0;  ///< that was in use
  std::uint64_t kept_ = 0;
  std::uint64_t blocks_ = 0;  ///< in use
  bool closed_ = false;
  std::array<Block*, kClasses> free_{};  ///< lists of blocks that are kept, by size
};

/// What the text of such an exception begins with, which ONNX Runtime puts into its messages.
inline constexpr std::string_view kRefused = "more memory than the option memory_limit allows";

/// While there is one, what ONNX Runtime asks for in this thread is booked to `account`.
class Booking {
 public:
  explicit Booking(MemoryAccount* account) noexcept;
  ~Booking();
  Booking(const Booking&) = delete;
  Booking& operator=(const Booking&) = delete;

  /// Memory that is booked so; MemoryAccount::give_back takes it back.
  static void* take(std::size_t size);

 private:
  MemoryAccount* before_;
};

}  // namespace leapp::engine::ort
