// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/native/plan.h"
#include "leapp/engine/stop.h"

namespace leapp::native {

struct BoundCall {
  bool (*run)(const void* args) noexcept = nullptr;
  const void* args = nullptr;
  const KernelCall* call = nullptr;  ///< of the plan: for messages
};

/// The calls of a block with every address in place.
struct BoundBlock {
  const BoundCall* begin = nullptr;
  const BoundCall* end = nullptr;
  const BoundCall** failed = nullptr;  ///< where the call that fails is noted
  const engine::Stop* stop = nullptr;  ///< asked before each call; may be null
};

/// Runs the calls one after the other; stops at the first that fails, and when it is told to.
[[nodiscard]] inline bool run_block(const BoundBlock& block) noexcept {
  for (const BoundCall* call = block.begin; call != block.end; ++call) {
    if (block.stop != nullptr && block.stop->requested()) [[unlikely]]
      return false;
    if (call->run(call->args)) [[likely]]
      continue;
    // The innermost call is the one to tell of: outer ones fail because of it.
    if (*block.failed == nullptr) *block.failed = call;
    return false;
  }
  return true;
}

/// Memory of one size, aligned to 64 bytes, zero at first.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  enum class Content { kZero, kAnything };
  explicit AlignedMemory(std::size_t bytes, Content content = Content::kZero);
  [[nodiscard]] std::byte* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
};

/// The memory a plan is bound to.
struct Addresses {
  std::byte* arena = nullptr;
  std::byte* constants = nullptr;
  std::vector<std::byte*> inputs;
  std::vector<std::byte*> outputs;

  [[nodiscard]] std::byte* operator()(const PlannedAddress& place) const;
};

/// Where the memory of a value is.
using AddressOf = std::function<std::byte*(ValueId)>;

/// Calls on addresses. Needs the calls and the memory for as long as it lives.
class Program {
 public:
  /// `stop`, which may be null, outlives it.
  Program(const Block& calls, const AddressOf& address, const engine::Stop* stop = nullptr) : stop_(stop) {
    top_ = bind(calls, address);
  }
  Program(Program&&) = delete;

  [[nodiscard]] bool run() noexcept {
    failed_ = nullptr;
    return run_block(*top_);
  }
  /// The call that the last run ended at, or null.
  [[nodiscard]] const KernelCall* failed() const { return failed_ == nullptr ? nullptr : failed_->call; }

 private:
  const BoundBlock* bind(const Block& block, const AddressOf& address);
  void* bind_args(const KernelCall& call, const AddressOf& address);

  std::vector<std::unique_ptr<std::max_align_t[]>> args_;
  std::vector<std::unique_ptr<BoundCall[]>> calls_;
  std::vector<std::unique_ptr<BoundBlock>> blocks_;
  const engine::Stop* stop_ = nullptr;
  const BoundBlock* top_ = nullptr;
  const BoundCall* failed_ = nullptr;
};

/// Copies the constants of a plan to where they belong. The plan forgets each of them at once, and the bytes of the
/// model's file may go: those that were made for it are never there twice. All of `constants` is written.
void move_constants(Plan& plan, std::byte* constants);

}  // namespace leapp::native
