// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices. A constant right side lies in panels of 16 columns: for one row it is read once from start to
// end, at the speed of the memory; for many, tiles of some rows by 16 columns keep their sums in registers.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/dispatch.h"
#include "engine/native/kernels/kernels.h"
#include "engine/native/kernels/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/kernels/matmul.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/native/kernels/tile_inl.h"

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

/// What is done to sums before they are written.
struct Ending {
  const float* bias;
  const float* addend;
  float* y;
  std::int64_t stride;
  float scale;
  float least;  ///< what is below is this (ReLU); minus infinity: nothing
};

/// 16 columns, of which `width` exist.
HWY_NOINLINE void finish(const float* sums, const Ending& ending, std::int64_t row, std::int64_t column,
                         std::int64_t width) {
  constexpr PanelTag d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(PanelTag()));
  float* y = ending.y + row * ending.stride + column;
  const float* addend = ending.addend == nullptr ? nullptr : ending.addend + row * ending.stride + column;
  const float* bias = ending.bias == nullptr ? nullptr : ending.bias + column;
  alignas(64) float part[3][kPanel];
  const bool whole = width == kPanel;
  if (!whole) {
    if (bias != nullptr) std::memcpy(part[1], bias, static_cast<std::size_t>(width) * sizeof(float)), bias = part[1];
    if (addend != nullptr) {
      std::memcpy(part[2], addend, static_cast<std::size_t>(width) * sizeof(float));
      addend = part[2];
    }
  }
  float* to = whole ? y : part[0];
  const PanelVector least = hn::Set(d, ending.least);
  const PanelVector scale = hn::Set(d, ending.scale);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    PanelVector sum = hn::Mul(hn::Load(d, sums + v * kLanes), scale);
    if (bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, bias + v * kLanes));
    if (addend != nullptr) sum = hn::Add(sum, hn::LoadU(d, addend + v * kLanes));
    hn::StoreU(hn::IfThenElse(hn::Lt(sum, least), least, sum), d, to + v * kLanes);
  }
  if (!whole) std::memcpy(y, part[0], static_cast<std::size_t>(width) * sizeof(float));
}

/// The rows of the left side.
template <class Place>
struct Left {
  const float* data;
  std::int64_t stride;
  std::int64_t rows;
  std::int64_t depth;
  Place place;
};

/// Every row times 16 columns.
template <class Panel, class Place, class PanelPlace>
HWY_INLINE void multiply_panel(const Left<Place>& left, const typename Panel::Element* panel, PanelPlace panel_place,
                               const Ending& ending, std::int64_t column, std::int64_t width) {
  for_each_tile(0, left.rows, [&](std::int64_t row, auto rows) HWY_ATTR {
    constexpr int kRows = decltype(rows)::value;
    const float* pointers[kRows];
    for (int r = 0; r < kRows; ++r) pointers[r] = left.data + (row + r) * left.stride;
    alignas(64) float sums[kRows * kPanel];
    multiply_tile<Panel, kRows>(pointers, left.place, panel, panel_place, left.depth, sums);
    for (int r = 0; r < kRows; ++r) finish(sums + r * kPanel, ending, row + r, column, width);
  });
}

template <class Panel>
HWY_NOINLINE void multiply_packed(const MatMulPacked& args, const Ending& ending) {
  const auto* panels = static_cast<const typename Panel::Element*>(args.packed);
  // So many rows that they stay in the second cache while the panels pass by.
  const std::int64_t fitting = 32768 / std::max<std::int64_t>(args.k, 1) / kTileRows * kTileRows;
  const std::int64_t block = std::max<std::int64_t>(fitting, kTileRows);
  for (std::int64_t row = 0; row < args.m; row += block) {
    const Left<Dense> left{args.x + row * args.x_stride, args.x_stride, std::min(block, args.m - row), args.k, {}};
    Ending of_block = ending;
    of_block.y += row * ending.stride;
    if (ending.addend != nullptr) of_block.addend += row * ending.stride;
    for (std::int64_t column = 0; column < args.n; column += kPanel) {
      multiply_panel<Panel>(left, panels + column * args.k, Packed(), of_block, column,
                            std::min<std::int64_t>(kPanel, args.n - column));
    }
  }
}

void matmul_packed_rows(const MatMulPacked& args, float least) {
  const Ending ending{args.bias, args.addend, args.y, args.y_stride, 1.0F, least};
  switch (args.storage) {
    case Storage::kFloat16:
      multiply_packed<Float16Panel>(args, ending);
      return;
    case Storage::kBFloat16:
      multiply_packed<BFloat16Panel>(args, ending);
      return;
    default:
      multiply_packed<Float32Panel>(args, ending);
  }
}

/// The right side as panels: it lies so already where 16 columns stand side by side; others are copied to `scratch`.
template <class Place>
HWY_INLINE void multiply_any(const MatMul& args, const float* b, const Left<Place>& left, const Ending& ending) {
  auto* scratch = static_cast<float*>(args.scratch);
  for (std::int64_t column = 0; column < args.n; column += kPanel) {
    const std::int64_t width = std::min<std::int64_t>(kPanel, args.n - column);
    const float* panel = b + column * args.b_column_stride;
    std::int64_t stride = args.b_row_stride;
    if (args.b_column_stride != 1 || width != kPanel) {
      pack_matrix({.source = panel,
                   .storage = Storage::kFloat32,
                   .k = args.k,
                   .n = width,
                   .row_stride = args.b_row_stride,
                   .column_stride = args.b_column_stride,
                   .to = scratch});
      panel = scratch;
      stride = kPanel;
    }
    multiply_panel<Float32Panel>(left, panel, Strided{stride}, ending, column, width);
  }
}

void matmul_one(const MatMul& args, const float* a, const float* b, float* y, float least) {
  const Ending ending{nullptr, nullptr, y, args.y_stride, args.scale, least};
  if (args.a_column_stride == 1) {
    multiply_any<Dense>(args, b, {a, args.a_row_stride, args.m, args.k, {}}, ending);
  } else {
    multiply_any<Strided>(args, b, {a, args.a_row_stride, args.m, args.k, {args.a_column_stride}}, ending);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::native::kernels {

LEAPP_KERNEL_TABLE(matmul_packed_rows);
LEAPP_KERNEL_TABLE(matmul_one);

namespace {

constexpr std::int64_t kPanelWidth = 16;

template <class T>
void pack(const PackMatrix& args) noexcept {
  const T* source = static_cast<const T*>(args.source);
  T* to = static_cast<T*>(args.to);
  for (std::int64_t column = 0; column < args.n; column += kPanelWidth) {
    const std::int64_t width = std::min(kPanelWidth, args.n - column);
    for (std::int64_t k = 0; k < args.k; ++k, to += kPanelWidth) {
      const T* from = source + k * args.row_stride + column * args.column_stride;
      for (std::int64_t i = 0; i < width; ++i) to[i] = from[i * args.column_stride];
      for (std::int64_t i = width; i < kPanelWidth; ++i) to[i] = T{};
    }
  }
}

/// What the kernel does itself; anything else is a second pass over rows that are in the cache.
[[nodiscard]] float least_of(const Activation& activation) noexcept {
  return activation.function == Unary::kRelu ? 0.0F : -std::numeric_limits<float>::infinity();
}

void finish_rows(const Activation& activation, float* y, std::int64_t rows, std::int64_t columns,
                 std::int64_t stride) noexcept {
  if (activation.function == Unary::kIdentity || activation.function == Unary::kRelu) return;
  if (stride == columns) {
    apply_unary(activation, y, y, static_cast<std::size_t>(rows * columns));
    return;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    apply_unary(activation, y + row * stride, y + row * stride, static_cast<std::size_t>(columns));
  }
}

}  // namespace

std::size_t packed_matrix_bytes(std::int64_t k, std::int64_t n, Storage storage) noexcept {
  const auto panels = static_cast<std::size_t>((n + kPanelWidth - 1) / kPanelWidth);
  return panels * static_cast<std::size_t>(k * kPanelWidth) * storage_size(storage);
}

void pack_matrix(const PackMatrix& args) noexcept {
  if (args.storage == Storage::kFloat32) {
    pack<float>(args);
  } else {
    pack<std::uint16_t>(args);
  }
}

void matmul_packed(const MatMulPacked& args) noexcept {
  LEAPP_KERNEL(matmul_packed_rows)(args, least_of(args.activation));
  finish_rows(args.activation, args.y, args.m, args.n, args.y_stride);
}

std::size_t matmul_scratch_bytes(std::int64_t /*m*/, std::int64_t k, std::int64_t /*n*/) noexcept {
  return static_cast<std::size_t>(k * kPanelWidth) * sizeof(float);
}

void matmul(const MatMul& args) noexcept {
  for (std::int64_t i = 0; i < args.batch; ++i) {
    float* y = args.y + i * args.y_batch_stride;
    LEAPP_KERNEL(matmul_one)
    (args, args.a + i * args.a_batch_stride, args.b + i * args.b_batch_stride, y, least_of(args.activation));
    finish_rows(args.activation, y, args.m, args.n, args.y_stride);
  }
}

}  // namespace leapp::native::kernels
#endif
