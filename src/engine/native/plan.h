// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the native engine runs: a list of calls of kernels on memory whose place is fixed. Plain data: lowering makes it
// from an ONNX graph, passes rewrite it, the memory plan gives every value its place, and a program binds it to
// addresses.
//
// Values are written by one call each, but for those that a loop carries, which are written again at the end of each
// round. A value is a dense row-major tensor, or a row of bytes that only kernels understand (packed weights, memory to
// work in). A value may be a part of another one (a view): it then has no memory of its own.
//
// The calls of a block run in order. A call may own further blocks, the body of a loop or the sides of a branch, which
// it runs as often as it decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/shape.h"
#include "leapp/base/dtype.h"
#include "onnx_proto/messages.h"

namespace leapp::native {

using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = ~ValueId{0};

/// Where memory is fixed for the whole life of a program.
enum class MemorySpace : std::uint8_t {
  kArena,     ///< lives during a step
  kConstant,  ///< weights, and what was worked out from them when loading
  kInput,     ///< the caller's buffer number `PlannedAddress::port`
  kOutput,
};

struct PlannedAddress {
  MemorySpace space = MemorySpace::kArena;
  std::uint32_t port = 0;
  std::uint64_t offset = 0;  ///< bytes
};

struct PlanValue {
  std::string name;  ///< the model's, where it has one
  DType dtype = DType::kUInt8;
  Shape shape;
  std::size_t bytes = 0;
  ValueId view_of = kNoValue;  ///< a part of that value, `view_offset` bytes into it
  std::uint64_t view_offset = 0;
  /// What it holds, if that is known when loading. Bytes of the model's file have no owner: needed until loaded.
  std::optional<onnx::Bytes> constant;
  std::optional<std::uint32_t> input;   ///< a port
  std::optional<std::uint32_t> output;  ///< a port
  PlannedAddress place;                 ///< since the memory plan

  /// Weights that were packed: the constant they were made of. Element (row, column) of a matrix is there at offset +
  /// row * row_stride + column * column_stride; those of a convolution are as they were. For the source form.
  struct Packed {
    ValueId from = kNoValue;
    std::int64_t offset = 0;
    std::int64_t row_stride = 0;
    std::int64_t column_stride = 0;
  };
  std::optional<Packed> packed;
};

/// What a kernel does with the memory a pointer of its arguments leads to.
enum class Access : std::uint8_t { kRead, kWrite, kUpdate, kScratch };

/// A pointer in the arguments of a call.
struct Operand {
  std::uint16_t field = 0;  ///< bytes into the arguments
  Access access = Access::kRead;
  bool in_place = false;  ///< written: may be the memory of an operand of the same size that this call reads last
  ValueId value = kNoValue;
};

struct BoundBlock;  // program.h

/// A kernel, in the form that a program calls. False: the data is such that it has no result, see `fault`.
struct Kernel {
  const char* name = "";
  bool (*run)(const void* args) noexcept = nullptr;
  const char* fault = "";  ///< why run() says false
};

struct KernelCall;
using Block = std::vector<KernelCall>;

struct KernelCall {
  const Kernel* kernel = nullptr;
  std::vector<std::max_align_t> args;  ///< the kernel's struct, with null pointers
  std::size_t args_size = 0;
  std::vector<Operand> operands;
  std::vector<Block> blocks;
  std::vector<std::uint16_t> block_fields;  ///< where in the arguments the pointers to the bound blocks are
  std::string node;                         ///< of the model: "Gemm policy/linear_1", for messages
  std::string source;                       ///< what the model says of where that comes from: the user's line

  template <typename Args>
  [[nodiscard]] Args& as() {
    return *reinterpret_cast<Args*>(args.data());
  }
  template <typename Args>
  [[nodiscard]] const Args& as() const {
    return *reinterpret_cast<const Args*>(args.data());
  }
};

struct Plan {
  std::deque<PlanValue> values;  ///< references stay good while more are added
  Block calls;
  std::size_t arena_bytes = 0;
  std::size_t constant_bytes = 0;

  /// The value whose memory `value` is in, and how far in.
  struct Root {
    ValueId value = kNoValue;
    std::uint64_t offset = 0;
  };
  [[nodiscard]] Root root(ValueId value) const {
    Root root{value, 0};
    while (values[root.value].view_of != kNoValue) {
      root.offset += values[root.value].view_offset;
      root.value = values[root.value].view_of;
    }
    return root;
  }
};

/// One line per call, with its operands and their places, after one per value that is a port.
[[nodiscard]] std::string print_plan(const Plan& plan);

/// A kernel that cannot fail, or may (F returns bool), as a program calls it.
template <auto F>
struct KernelOf;
template <typename Args, void (*F)(const Args&) noexcept>
struct KernelOf<F> {
  using Arguments = Args;
  static bool run(const void* args) noexcept {
    F(*static_cast<const Args*>(args));
    return true;
  }
};
template <typename Args, bool (*F)(const Args&) noexcept>
struct KernelOf<F> {
  using Arguments = Args;
  static bool run(const void* args) noexcept { return F(*static_cast<const Args*>(args)); }
};

/// The kernel of a function: `inline constexpr Kernel kSoftmax = kernel_of<&kernels::softmax>("softmax");`.
template <auto F>
constexpr Kernel kernel_of(const char* name, const char* fault = "") {
  return {name, &KernelOf<F>::run, fault};
}

/// Puts a call together: `CallMaker make(kSoftmax, args); make.read(args.x, value)...`.
template <typename Args>
class CallMaker {
  static_assert(std::is_trivially_copyable_v<Args>);

 public:
  CallMaker(const Kernel& kernel, const Args& args) : args_(&args) {
    call_.kernel = &kernel;
    call_.args_size = sizeof(Args);
    call_.args.resize((sizeof(Args) + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
    std::memcpy(call_.args.data(), static_cast<const void*>(&args), sizeof(Args));
  }
  template <typename T>
  CallMaker& read(T* const& field, ValueId value) {
    return add(&field, Access::kRead, value, false);
  }
  template <typename T>
  CallMaker& write(T* const& field, ValueId value, bool in_place = false) {
    return add(&field, Access::kWrite, value, in_place);
  }
  template <typename T>
  CallMaker& update(T* const& field, ValueId value) {
    return add(&field, Access::kUpdate, value, false);
  }
  template <typename T>
  CallMaker& scratch(T* const& field, ValueId value) {
    return add(&field, Access::kScratch, value, false);
  }
  CallMaker& block(const BoundBlock* const& field, Block block) {
    call_.blocks.push_back(std::move(block));
    call_.block_fields.push_back(field_of(&field));
    return *this;
  }
  [[nodiscard]] KernelCall take() { return std::move(call_); }

 private:
  [[nodiscard]] std::uint16_t field_of(const void* field) const {
    return static_cast<std::uint16_t>(static_cast<const std::byte*>(field) - reinterpret_cast<const std::byte*>(args_));
  }
  CallMaker& add(const void* field, Access access, ValueId value, bool in_place) {
    if (value != kNoValue) call_.operands.push_back({field_of(field), access, in_place, value});
    return *this;
  }

  const Args* args_;
  KernelCall call_;
};

}  // namespace leapp::native
