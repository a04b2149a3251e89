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

/// Numbers of a row that are multiplied at a time when there are many.
inline constexpr std::int64_t kDeepSlice = 256;

/// What is done to sums before they are written.
struct Ending {
  const float* bias;
  const float* addend;
  float* y;
  std::int64_t stride;
  float scale;
  float least;  ///< what is below is this (ReLU); minus infinity: nothing

  /// Whether there is nothing to do to a sum but to add the bias.
  [[nodiscard]] HWY_INLINE bool is_plain() const {
    return addend == nullptr && bias != nullptr && scale == 1.0F && least == -std::numeric_limits<float>::infinity();
  }
};

/// One vector of sums, written to column `column` of a row.
HWY_INLINE void write(PanelVector sum, const Ending& ending, std::int64_t row, std::int64_t column) {
  constexpr PanelTag d;
  const std::int64_t at = row * ending.stride + column;
  sum = hn::Mul(sum, hn::Set(d, ending.scale));
  if (ending.bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, ending.bias + column));
  if (ending.addend != nullptr) sum = hn::Add(sum, hn::LoadU(d, ending.addend + at));
  const PanelVector least = hn::Set(d, ending.least);
  hn::StoreU(hn::IfThenElse(hn::Lt(sum, least), least, sum), d, ending.y + at);
}

#if HWY_TARGET == HWY_AVX3
/// Only the first `width` of 16 columns: this instruction set leaves the memory of others alone, at no cost.
HWY_INLINE void write_first(PanelVector sum, const Ending& ending, std::int64_t row, std::int64_t column,
                            std::int64_t width) {
  constexpr PanelTag d;
  const auto there = hn::FirstN(d, static_cast<std::size_t>(width));
  const std::int64_t at = row * ending.stride + column;
  sum = hn::Mul(sum, hn::Set(d, ending.scale));
  if (ending.bias != nullptr) sum = hn::Add(sum, hn::MaskedLoad(there, d, ending.bias + column));
  if (ending.addend != nullptr) sum = hn::Add(sum, hn::MaskedLoad(there, d, ending.addend + at));
  const PanelVector least = hn::Set(d, ending.least);
  hn::BlendedStore(hn::IfThenElse(hn::Lt(sum, least), least, sum), there, d, ending.y + at);
}
#else
/// Only the first `width` of 16 columns.
HWY_NOINLINE void write_part(const float* sums, const Ending& ending, std::int64_t row, std::int64_t column,
                             std::int64_t width) {
  alignas(64) float part[3][kPanel] = {};
  const std::int64_t at = row * ending.stride + column;
  const auto bytes = static_cast<std::size_t>(width) * sizeof(float);
  Ending inside{nullptr, nullptr, part[0], kPanel, ending.scale, ending.least};
  if (ending.bias != nullptr) std::memcpy(part[1], ending.bias + column, bytes), inside.bias = part[1];
  if (ending.addend != nullptr) std::memcpy(part[2], ending.addend + at, bytes), inside.addend = part[2];
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(PanelTag()));
  for (std::ptrdiff_t v = 0; v < kVectors; ++v) write(hn::Load(PanelTag(), sums + v * kLanes), inside, 0, v * kLanes);
  std::memcpy(ending.y + at, part[0], bytes);
}
#endif

/// The rows of the left side.
template <class Place>
struct Left {
  const float* data;
  std::int64_t stride;
  std::int64_t rows;
  std::int64_t depth;
  Place place;
};

/// Some rows times 16 columns, of which `width` exist.
template <class Panel, int kRows, class Place, class PanelPlace>
HWY_INLINE void multiply_and_write(const float* const* rows, Place place, const typename Panel::Element* panel,
                                   PanelPlace panel_place, std::int64_t depth, const Ending& ending, std::int64_t row,
                                   std::int64_t column, std::int64_t width) {
  if (width == kPanel) {
    const bool plain = ending.is_plain();
    const auto take = [&](int r, int v, PanelVector sum) HWY_ATTR {
      constexpr int kLanes = static_cast<int>(hn::MaxLanes(PanelTag()));
      const std::int64_t at = column + std::int64_t{v} * kLanes;
      if (plain) {
        hn::StoreU(hn::Add(sum, hn::LoadU(PanelTag(), ending.bias + at)), PanelTag(),
                   ending.y + (row + r) * ending.stride + at);
      } else {
        write(sum, ending, row + r, at);
      }
    };
    multiply_tile_into<Panel, kRows>(rows, place, panel, panel_place, depth, take);
    return;
  }
#if HWY_TARGET == HWY_AVX3
  const auto take = [&](int r, int, PanelVector sum) HWY_ATTR { write_first(sum, ending, row + r, column, width); };
  multiply_tile_into<Panel, kRows>(rows, place, panel, panel_place, depth, take);
#else
  alignas(64) float sums[kRows * kPanel];
  multiply_tile<Panel, kRows>(rows, place, panel, panel_place, depth, sums);
  for (int r = 0; r < kRows; ++r) write_part(sums + r * kPanel, ending, row + r, column, width);
#endif
}

/// Every row times 16 columns.
template <class Panel, class Place, class PanelPlace>
HWY_INLINE void multiply_panel(const Left<Place>& left, const typename Panel::Element* panel, PanelPlace panel_place,
                               const Ending& ending, std::int64_t column, std::int64_t width) {
  for_each_tile(0, left.rows, [&](std::int64_t row, auto rows) HWY_ATTR {
    constexpr int kRows = decltype(rows)::value;
    const float* pointers[kRows];
    for (int r = 0; r < kRows; ++r) pointers[r] = left.data + (row + r) * left.stride;
    multiply_and_write<Panel, kRows>(pointers, left.place, panel, panel_place, left.depth, ending, row, column, width);
  });
}

/// Many rows of many numbers, a slice of them at a time. A slice of some panels stays in the second cache while all
/// rows pass by, so that weights come from memory once. Rows are copied together: those of a power of two of numbers
/// would fall into the same few places of the first cache.
template <class Panel>
HWY_NOINLINE void multiply_deep(const MatMulPacked& args, const Ending& ending) {
  constexpr std::int64_t kGroup = std::int64_t{16} * kPanel;
  constexpr std::int64_t kStride = kDeepSlice + kPanel;
  alignas(64) float copied[kTileRows * kStride];
  const auto* panels = static_cast<const typename Panel::Element*>(args.packed);
  for (std::int64_t group = 0; group < args.n; group += kGroup) {
    const std::int64_t end = std::min(group + kGroup, args.n);
    for (std::int64_t first = 0; first < args.k; first += kDeepSlice) {
      const std::int64_t depth = std::min(kDeepSlice, args.k - first);
      // Between slices the sums are in y.
      Ending slice = ending;
      if (first > 0) slice.addend = ending.y;
      if (first + depth < args.k) {
        slice.bias = nullptr;
        slice.least = -std::numeric_limits<float>::infinity();
      }
      for_each_tile(0, args.m, [&](std::int64_t row, auto rows) HWY_ATTR {
        constexpr int kRows = decltype(rows)::value;
        const float* pointers[kRows];
        for (int r = 0; r < kRows; ++r) {
          std::memcpy(copied + r * kStride, args.x + (row + r) * args.x_stride + first,
                      static_cast<std::size_t>(depth) * sizeof(float));
          pointers[r] = copied + r * kStride;
        }
        for (std::int64_t column = group; column < end; column += kPanel) {
          multiply_and_write<Panel, kRows>(pointers, Dense(), panels + column * args.k + first * kPanel, Packed(),
                                           depth, slice, row, column, std::min<std::int64_t>(kPanel, end - column));
        }
      });
    }
  }
}

template <class Panel>
HWY_NOINLINE void multiply_packed(const MatMulPacked& args, const Ending& ending) {
  if (args.m > 1 && args.k > 2 * kDeepSlice) {
    multiply_deep<Panel>(args, ending);
    return;
  }
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
    multiply_panel<Float32Panel>(left, panel, StridedIndex{stride}, ending, column, width);
  }
}

void matmul_one(const MatMul& args, const float* a, const float* b, float* y, float least) {
  const Ending ending{nullptr, nullptr, y, args.y_stride, args.scale, least};
  if (args.a_column_stride == 1) {
    multiply_any<Dense>(args, b, {a, args.a_row_stride, args.m, args.k, {}}, ending);
  } else {
    multiply_any<StridedIndex>(args, b, {a, args.a_row_stride, args.m, args.k, {args.a_column_stride}}, ending);
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
