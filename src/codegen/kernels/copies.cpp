// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Moving elements: transpose, slice, expand, tile, concat, split and pad are loops with strides.
#include "engine/native/scalar/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/functions.h"
#include "codegen/kernel_table.h"
#include "codegen/text.h"
#include "engine/native/ops/arguments.h"

namespace leapp::codegen {
namespace {

using native::DenseCopy;
using native::Fill;
using native::StridedCopy;
using native::TriluArgs;

constexpr std::array kCopySnippets = {
    Snippet{"copy", "", R"(template <typename T>
inline void copy(const T* from, T* to, int32_t count) {
  for (int32_t i = 0; i < count; ++i) to[i] = from[i];
}
)"},
    Snippet{"fill", "", R"(template <typename T>
inline void fill(T* to, int32_t count, T value) {
  for (int32_t i = 0; i < count; ++i) to[i] = value;
}
)"},
    Snippet{"triangle", "", R"(// The upper or lower triangle of matrices, from diagonal k on; the rest is 0.
template <typename T>
inline void triangle(const T* x, T* y, int32_t matrices, int32_t rows, int32_t columns, int32_t k, bool upper) {
  for (int32_t r = 0; r < matrices * rows; ++r) {
    for (int32_t column = 0; column < columns; ++column) {
      const bool kept = upper ? column >= r % rows + k : column <= r % rows + k;
      y[r * columns + column] = kept ? x[r * columns + column] : T{};
    }
  }
}
)"},
};

// Steps that move bytes move elements here: both sides are of one type.
bool same_type(Emitter& e, native::ValueId from, native::ValueId to, std::int64_t width) {
  if (e.dtype(from) == e.dtype(to) && static_cast<std::int64_t>(dtype_size(e.dtype(from))) == width) return true;
  e.refuse("elements that change their type");
  return false;
}

void emit_strided(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<StridedCopy>();
  const native::ValueId from = e.operand(call, &StridedCopy::from);
  const native::ValueId to = e.operand(call, &StridedCopy::to);
  if (!same_type(e, from, to, args.width)) return;
  std::array<std::int64_t, native::kMaxRank> from_stride{};
  std::array<std::int64_t, native::kMaxRank> to_stride{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(args.rank); ++i) {
    from_stride[i] = args.from_stride[i] / args.width;
    to_stride[i] = args.to_stride[i] / args.width;
  }
  const std::string body = fmt::format("{}to[{}] = from[{}];\n", inside(args.rank),
                                       index_text(e, to_stride.data(), args.rank, args.to_offset / args.width),
                                       index_text(e, from_stride.data(), args.rank, args.from_offset / args.width));
  const std::string_view type = c_type(e.dtype(from));
  e.call(e.add_function(fmt::format("const {0}* from, {0}* to", type), loops(e, {args.shape, args.rank}, body)),
         {e.pointer(from), e.pointer(to)});
}

void emit_dense(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<DenseCopy>();
  const native::ValueId from = e.operand(call, &DenseCopy::from);
  const native::ValueId to = e.operand(call, &DenseCopy::to);
  const auto width = static_cast<std::int64_t>(dtype_size(e.dtype(from)));
  if (!same_type(e, from, to, width)) return;
  e.need("copy");
  e.call("copy", {e.pointer(from), e.pointer(to), e.number(args.bytes / width)});
}

void emit_fill(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Fill>();
  const native::ValueId to = e.operand(call, &Fill::to);
  if (!same_type(e, to, to, args.width)) return;
  const auto bytes = std::as_bytes(std::span(args.pattern));
  e.need("fill");
  e.call("fill", {e.pointer(to), e.number(args.count),
                  fmt::format("static_cast<{}>({})", c_type(e.dtype(to)), literal(e.dtype(to), bytes, false))});
}

void emit_triangle(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<TriluArgs>();
  e.need("triangle");
  const std::int64_t k = std::clamp(args.k, -args.rows - args.columns, args.rows + args.columns);
  e.call("triangle", {e.pointer(call, &TriluArgs::x), e.pointer(call, &TriluArgs::y), e.number(args.batch),
                      e.number(args.rows), e.number(args.columns), e.number(k), args.upper ? "true" : "false"});
}

constexpr std::array kCopyKernels = {
    KernelEntry{"copy", emit_strided},
    KernelEntry{"copy dense", emit_dense},
    KernelEntry{"fill", emit_fill},
    KernelEntry{"trilu", emit_triangle},
};

}  // namespace

Family copy_family() { return {kCopyKernels, kCopySnippets}; }

}  // namespace leapp::codegen
