// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The innermost loop of matrix products and convolutions, once per instruction set: some rows times a panel of 16
// columns, sums in registers. A panel holds 16 numbers for each k, one k after the other.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(LEAPP_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LEAPP_KERNELS_TILE_INL_H_
#undef LEAPP_KERNELS_TILE_INL_H_
#else
#define LEAPP_KERNELS_TILE_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int kPanel = 16;

using PanelTag = hn::CappedTag<float, kPanel>;
using PanelVector = hn::Vec<PanelTag>;

/// Vectors in 16 columns, and the rows whose sums fit into the registers beside what is multiplied.
inline constexpr int kVectors = static_cast<int>(kPanel / hn::MaxLanes(PanelTag()));
#if HWY_TARGET == HWY_AVX2
inline constexpr int kTileRows = 6;
#elif HWY_TARGET == HWY_AVX3
inline constexpr int kTileRows = 12;
#elif HWY_TARGET == HWY_NEON
inline constexpr int kTileRows = 6;
#elif HWY_TARGET == HWY_SCALAR
inline constexpr int kTileRows = 1;
#else
inline constexpr int kTileRows = 3;
#endif

/// float16 bits in the low halves, widened exactly; for instruction sets that cannot.
template <class D, class VI>
HWY_INLINE hn::Vec<D> widen_half_bits(D d, VI bits) {
  const hn::RebindToSigned<D> di;
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(di, 0x8000)));
  const auto exponent = hn::And(bits, hn::Set(di, 0x7c00));
  const auto mantissa = hn::And(bits, hn::Set(di, 0x3ff));
  const auto rest = hn::ShiftLeft<13>(hn::And(bits, hn::Set(di, 0x7fff)));
  const auto normal = hn::Add(rest, hn::Set(di, 112 << 23));
  const auto end = hn::Or(rest, hn::Set(di, 0x7f800000));
  const auto small = hn::BitCast(di, hn::Mul(hn::ConvertTo(d, mantissa), hn::Set(d, 5.9604644775390625e-8F)));
  const auto large = hn::IfThenElse(hn::Eq(exponent, hn::Set(di, 0x7c00)), end, normal);
  return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(hn::Eq(exponent, hn::Zero(di)), small, large)));
}

/// How the numbers of a panel lie in memory; `vector` gives those from an element on as float32.
struct Float32Panel {
  using Element = float;
  static HWY_INLINE PanelVector vector(const float* at) { return hn::LoadU(PanelTag(), at); }
};
struct Float16Panel {
  using Element = std::uint16_t;
  static HWY_INLINE PanelVector vector(const std::uint16_t* at) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
    const hn::Rebind<hwy::float16_t, PanelTag> dh;
    return hn::PromoteTo(PanelTag(), hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(at)));
#else
    const hn::Rebind<std::uint16_t, PanelTag> du;
    const hn::RebindToSigned<PanelTag> di;
    return widen_half_bits(PanelTag(), hn::PromoteTo(di, hn::LoadU(du, at)));
#endif
  }
};
struct BFloat16Panel {
  using Element = std::uint16_t;
  static HWY_INLINE PanelVector vector(const std::uint16_t* at) {
    const hn::Rebind<std::uint16_t, PanelTag> du;
    const hn::RebindToSigned<PanelTag> di;
    return hn::BitCast(PanelTag(), hn::ShiftLeft<16>(hn::PromoteTo(di, hn::LoadU(du, at))));
  }
};

/// Where in a row its k-th number is.
struct Dense {
  HWY_INLINE std::int64_t operator()(std::int64_t k) const { return k; }
};
struct StridedIndex {
  std::int64_t stride;
  HWY_INLINE std::int64_t operator()(std::int64_t k) const { return k * stride; }
};
struct Packed {
  HWY_INLINE std::int64_t operator()(std::int64_t k) const { return k * kPanel; }
};
struct Listed {
  const std::int32_t* offsets;
  HWY_INLINE std::int64_t operator()(std::int64_t k) const { return offsets[k]; }
};

/// Sums over k of rows[row][place(k)] * panel[panel_place(k) + column], given to take(row, vector of columns, sums)
/// from the registers. Few rows are summed in several parts, so that an addition need not wait for the one before.
template <class Panel, int kRows, class Place, class PanelPlace, class Take>
HWY_INLINE void multiply_tile_into(const float* const* rows, Place place, const typename Panel::Element* panel,
                                   PanelPlace panel_place, std::int64_t depth, Take take) {
  constexpr PanelTag d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(PanelTag()));
  constexpr int kParts = kRows * kVectors >= 6 ? 1 : kRows * kVectors >= 4 ? 2 : 8 / (kRows * kVectors);
  PanelVector parts[kParts][kRows][kVectors];
#pragma GCC unroll 32
  for (int i = 0; i < kParts * kRows * kVectors; ++i) {
    parts[i / (kRows * kVectors)][i / kVectors % kRows][i % kVectors] = hn::Zero(d);
  }
  const float* row[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) row[r] = rows[r];
  const auto step = [&](std::int64_t k, PanelVector(&to)[kRows][kVectors]) HWY_ATTR {
    PanelVector column[kVectors];
    const typename Panel::Element* from = panel + panel_place(k);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) column[v] = Panel::vector(from + v * kLanes);
    const std::int64_t at = place(k);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const PanelVector factor = hn::Set(d, row[r][at]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) to[r][v] = hn::MulAdd(factor, column[v], to[r][v]);
    }
  };
  std::int64_t k = 0;
  for (; k + kParts <= depth; k += kParts) {
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p) step(k + p, parts[p]);
  }
  for (; k < depth; ++k) step(k, parts[0]);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      PanelVector sum = parts[0][r][v];
#pragma GCC unroll 8
      for (int p = 1; p < kParts; ++p) sum = hn::Add(sum, parts[p][r][v]);
      take(r, v, sum);
    }
  }
}

/// The same into sums[16 * row + column], aligned.
template <class Panel, int kRows, class Place, class PanelPlace>
HWY_INLINE void multiply_tile(const float* const* rows, Place place, const typename Panel::Element* panel,
                              PanelPlace panel_place, std::int64_t depth, float* sums) {
  multiply_tile_into<Panel, kRows>(
      rows, place, panel, panel_place, depth, [sums](int row, int vector, PanelVector sum) HWY_ATTR {
        constexpr int kLanes = static_cast<int>(hn::MaxLanes(PanelTag()));
        hn::Store(sum, PanelTag(), sums + std::ptrdiff_t{row} * kPanel + std::ptrdiff_t{vector} * kLanes);
      });
}

/// Goes through `count` rows in tiles: f(first row, std::integral_constant<int, rows>). Beyond 6 rows not every number
/// is worth code of its own.
template <int kRows = kTileRows, class F>
HWY_INLINE void for_each_tile(std::int64_t row, std::int64_t count, F f) {
  for (; row + kRows <= count; row += kRows) f(row, std::integral_constant<int, kRows>());
  if constexpr (kRows > 1) for_each_tile<(kRows > 6 ? 6 : kRows - 1)>(row, count, f);
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#endif
