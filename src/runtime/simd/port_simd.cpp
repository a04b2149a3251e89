// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/simd/port_simd.h"

#include <algorithm>
#include <cmath>

#include "engine/native/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/simd/port_simd.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace leapp::runtime::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Joints are a dozen or two: longer vectors than these would mostly be empty.
using Eight = hn::CappedTag<float, 8>;
using Four = hn::CappedTag<float, 4>;

// Vectors of one element, and those that are loops in truth: what does not fit they convert in a way of their own.
#undef LEAPP_LANES_ARE_VECTORS
#define LEAPP_LANES_ARE_VECTORS (HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR)

/// Which of the two formulas, if any: as they are, x * factor + offset, (x - offset) * factor.
enum class Formula { kNone, kForward, kBackward };

template <Formula kFormula>
HWY_INLINE float convert(double x, double factor, double offset) {
  return static_cast<float>(kFormula == Formula::kForward ? x * factor + offset : (x - offset) * factor);
}

template <Formula kFormula>
void map_singly(const Mapping& m, const float* from, float* to) noexcept {
  for (const float* end = from + std::size_t{m.rows} * m.size; from != end; from += m.size, to += m.size) {
    for (std::size_t i = 0; i < m.size; ++i) {
      const float value = from[m.places[i]];
      to[i] = kFormula == Formula::kNone ? value : convert<kFormula>(value, m.numbers[i], m.numbers[m.size + i]);
    }
  }
}

#if LEAPP_LANES_ARE_VECTORS

template <Formula kFormula, class D, class V>
HWY_INLINE auto convert_doubles(D d, V values, const double* factors, const double* offsets) {
  const hn::Rebind<double, D> wide;
  const auto x = hn::PromoteTo(wide, values);
  const auto factor = hn::LoadU(wide, factors);
  const auto offset = hn::LoadU(wide, offsets);
  return hn::DemoteTo(
      d, kFormula == Formula::kForward ? hn::Add(hn::Mul(x, factor), offset) : hn::Mul(hn::Sub(x, offset), factor));
}

template <Formula kFormula, class D>
HWY_INLINE hn::Vec<D> convert_floats(D d, hn::Vec<D> values, const double* factors, const double* offsets) {
  if constexpr (kFormula == Formula::kNone) {
    return values;
  } else if constexpr (hn::MaxLanes(hn::ScalableTag<double>()) >= hn::MaxLanes(d)) {
    return convert_doubles<kFormula>(d, values, factors, offsets);
  } else {
    const hn::Half<D> half;
    constexpr std::size_t kHalf = hn::MaxLanes(half);
    const auto low = convert_doubles<kFormula>(half, hn::LowerHalf(half, values), factors, offsets);
    const auto high = convert_doubles<kFormula>(half, hn::UpperHalf(half, values), factors + kHalf, offsets + kHalf);
    return hn::Combine(d, high, low);
  }
}

/// Vectors of the first and of the last elements of a row.
template <class D>
struct Ends {
  hn::Vec<D> first;
  hn::Vec<D> last;
};

/// A code counts the lanes of both.
template <class D>
HWY_INLINE Ends<D> pick(D d, Ends<D> from, const std::uint8_t* codes) {
  constexpr std::size_t kCount = hn::MaxLanes(d);
  if constexpr (hn::MaxLanes(hn::ScalableTag<float>()) >= 2 * kCount) {
    const hn::Twice<D> both;
    const hn::RebindToSigned<hn::Twice<D>> places;
    const hn::Rebind<std::uint8_t, hn::Twice<D>> bytes;
    const auto code = hn::IndicesFromVec(both, hn::PromoteTo(places, hn::LoadU(bytes, codes)));
    const auto picked = hn::TableLookupLanes(hn::Combine(both, from.last, from.first), code);
    return {hn::LowerHalf(d, picked), hn::UpperHalf(d, picked)};
  } else {
    const hn::RebindToSigned<D> places;
    const hn::Rebind<std::uint8_t, D> bytes;
    const auto one = [&](const std::uint8_t* at) HWY_ATTR {
      const auto code = hn::PromoteTo(places, hn::LoadU(bytes, at));
      const auto lane = hn::IndicesFromVec(d, hn::And(code, hn::Set(places, kCount - 1)));
      const auto in_last = hn::RebindMask(d, hn::Gt(code, hn::Set(places, kCount - 1)));
      return hn::IfThenElse(in_last, hn::TableLookupLanes(from.last, lane), hn::TableLookupLanes(from.first, lane));
    };
    return {one(codes), one(codes + kCount)};
  }
}

/// Rows of one to two vectors: all of a row is in registers, and what is written overlaps.
template <Formula kFormula, class D>
void map_short(const Mapping& m, const float* from, float* to) noexcept {
  constexpr D d;
  constexpr std::size_t kCount = hn::MaxLanes(d);
  const double* const factors = m.lane_numbers;
  const double* const offsets = factors + 2 * kCount;
  const std::size_t size = m.size;
  const std::size_t last = size - kCount;
  for (std::size_t left = m.rows; left > 0; --left, from += size, to += size) {
    const Ends<D> ends = pick(d, Ends<D>{hn::LoadU(d, from), hn::LoadU(d, from + last)}, m.codes.data());
    hn::StoreU(convert_floats<kFormula>(d, ends.first, factors, offsets), d, to);
    hn::StoreU(convert_floats<kFormula>(d, ends.last, factors + kCount, offsets + kCount), d, to + last);
  }
}

/// Rows of a vector or more.
template <Formula kFormula, class D>
void map_long(const Mapping& m, const float* from, float* to) noexcept {
  constexpr D d;
  const hn::RebindToSigned<D> places;
  for (std::size_t row = 0; row < m.rows; ++row, from += m.size, to += m.size) {
    for (std::size_t i = 0; i < m.size; i += hn::MaxLanes(d)) {
      const std::size_t at = std::min(i, m.size - hn::MaxLanes(d));
      const auto values = hn::GatherIndex(d, from, hn::LoadU(places, m.places + at));
      hn::StoreU(convert_floats<kFormula>(d, values, m.numbers + at, m.numbers + m.size + at), d, to + at);
    }
  }
}

template <Formula kFormula>
MapFloats map_of(std::size_t size) noexcept {
  constexpr std::size_t kEight = hn::MaxLanes(Eight());
  static_assert(2 * kEight <= Mapping::kShort);
  if (size < hn::MaxLanes(Four())) return &map_singly<kFormula>;
  if (size < kEight) return &map_short<kFormula, Four>;
  return size <= 2 * kEight ? &map_short<kFormula, Eight> : &map_long<kFormula, Eight>;
}

#else

template <Formula kFormula>
MapFloats map_of(std::size_t /*size*/) noexcept {
  return &map_singly<kFormula>;
}

#endif

MapFloats find_map(std::size_t size, bool converts, bool forward) noexcept {
  if (!converts) return map_of<Formula::kNone>(size);
  return forward ? map_of<Formula::kForward>(size) : map_of<Formula::kBackward>(size);
}

/// What a port's elements are compared with.
template <typename Number>
struct Sides {
  const Number* from;
  const Number* last;
  Number* next;  ///< null: nothing is kept
};

/// How many lanes the two vectors have that a row of that size is read into; 0: it is no short one.
std::size_t lanes_for(std::size_t size) noexcept {
  constexpr std::size_t kEight = hn::MaxLanes(Eight());
  if (!LEAPP_LANES_ARE_VECTORS || size < hn::MaxLanes(Four()) || size > 2 * kEight) return 0;
  return size < kEight ? hn::MaxLanes(Four()) : kEight;
}

template <typename Number>
HWY_INLINE bool is_within(const Watched<Number>& w, const Sides<Number>& sides, std::size_t i) {
  const std::size_t pitch = Watched<Number>::pitch_of(w.size);
  const Number* limits = w.table + 2 * pitch + i;
  const Number value = sides.from[i];
  if (sides.next != nullptr) sides.next[i] = value;
  if (!(value >= (w.uniform ? w.lower : limits[0]) && value <= (w.uniform ? w.upper : limits[pitch]))) return false;
  return !w.limited || std::abs(value - sides.last[i]) <= (w.uniform ? w.rate : limits[2 * pitch]);
}

/// Whether `values`, which are those at `i`, are as they should be. Without rates `last` does not matter.
template <bool kUniform, typename Number, class D>
HWY_INLINE hn::Mask<D> compare(D d, const Watched<Number>& w, hn::Vec<D> values, hn::Vec<D> last, std::size_t i) {
  const std::size_t pitch = Watched<Number>::pitch_of(w.size);
  const Number* limits = w.table + 2 * pitch + i;
  const auto lower = kUniform ? hn::Set(d, w.lower) : hn::LoadU(d, limits);
  const auto upper = kUniform ? hn::Set(d, w.upper) : hn::LoadU(d, limits + pitch);
  const auto fine = hn::And(hn::Ge(values, lower), hn::Le(values, upper));
  if (!w.limited) return fine;
  const auto rate = kUniform ? hn::Set(d, w.rate) : hn::LoadU(d, limits + 2 * pitch);
  return hn::And(fine, hn::Le(hn::Abs(hn::Sub(values, last)), rate));
}

/// Vectors one after the other. The last overlaps the one before.
template <bool kUniform, typename Number, class D>
HWY_INLINE hn::Mask<D> compare_long(D d, const Watched<Number>& w, const Sides<Number>& sides) {
  const auto at = [&](std::size_t i) HWY_ATTR {
    const auto values = hn::LoadU(d, sides.from + i);
    if (sides.next != nullptr) hn::StoreU(values, d, sides.next + i);
    return compare<kUniform>(d, w, values, hn::LoadU(d, sides.last + i), i);
  };
  const std::size_t last = w.size - hn::MaxLanes(d);
  auto fine = at(last);
  for (std::size_t i = 0; i < last; i += hn::MaxLanes(d)) fine = hn::And(fine, at(i));
  return fine;
}

// Registers of masks, and vectors of a whole line: what is shorter is looked at in one go.
#undef LEAPP_LANES_HAVE_MASKS
#define LEAPP_LANES_HAVE_MASKS (HWY_TARGET <= HWY_AVX3)

#if LEAPP_LANES_HAVE_MASKS

template <typename Number>
using Line = hn::CappedTag<Number, 64 / sizeof(Number)>;

/// No more than a line. Tables have whole ones; of what is not ours only the elements are read.
template <bool kUniform, typename Number, class D>
HWY_INLINE hn::Mask<D> compare_short(D d, const Watched<Number>& w, const Sides<Number>& sides) {
  const auto there = hn::FirstN(d, w.size);
  const auto values = hn::MaskedLoad(there, d, sides.from);
  if (sides.next != nullptr) hn::Store(values, d, sides.next);
  return hn::Or(hn::Not(there), compare<kUniform>(d, w, values, hn::MaskedLoad(there, d, sides.last), 0));
}

/// The same for what is usual.
template <typename Number, class D>
HWY_INLINE hn::Mask<D> compare_usual(D d, const Watched<Number>& w, Turn turn) {
  constexpr std::size_t kLine = Watched<Number>::kLine;
  const auto there = hn::FirstN(d, w.size);
  const auto values = hn::MaskedLoad(there, d, w.from[turn.parity]);
  const auto last = hn::Load(d, w.table + turn.last * kLine);
  hn::Store(values, d, w.table + (1 - turn.last) * kLine);
  const auto bounds = hn::And(hn::Ge(values, hn::Set(d, w.lower)), hn::Le(values, hn::Set(d, w.upper)));
  return hn::Or(hn::Not(there), hn::And(bounds, hn::Le(hn::Abs(hn::Sub(values, last)), hn::Set(d, w.rate))));
}

#else

template <typename Number>
using Line = hn::CappedTag<Number, 32 / sizeof(Number)>;

#endif

template <typename Number>
HWY_INLINE bool all_within(std::span<const Watched<Number>> all, Turn turn) {
  constexpr Line<Number> d;
  bool few_fine = true;
  auto fine = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (const Watched<Number>& w : all) {
#if LEAPP_LANES_HAVE_MASKS
    if (w.usual) {
      fine = hn::And(fine, compare_usual(d, w, turn));
      continue;
    }
#endif
    const std::size_t pitch = Watched<Number>::pitch_of(w.size);
    const Number* const state = w.state[turn.parity];
    const Sides<Number> sides{.from = w.from[turn.parity],
                              .last = state != nullptr ? state : w.table + turn.last * pitch,
                              .next = w.keeps ? w.table + (1 - turn.last) * pitch : nullptr};
#if LEAPP_LANES_HAVE_MASKS
    if (w.size <= hn::MaxLanes(d)) {
      fine = hn::And(fine, w.uniform ? compare_short<true>(d, w, sides) : compare_short<false>(d, w, sides));
      continue;
    }
#else
    if (w.size < hn::MaxLanes(d)) {
      for (std::size_t i = 0; i < w.size; ++i) few_fine = is_within(w, sides, i) && few_fine;
      continue;
    }
#endif
    fine = hn::And(fine, w.uniform ? compare_long<true>(d, w, sides) : compare_long<false>(d, w, sides));
  }
  return few_fine && hn::AllTrue(d, fine);
}

bool are_floats_within(std::span<const Watched<float>> all, Turn turn) noexcept { return all_within(all, turn); }
bool are_doubles_within(std::span<const Watched<double>> all, Turn turn) noexcept { return all_within(all, turn); }

void stream_strips(std::span<const CopySpan> strips, std::byte* to) noexcept {
  constexpr hn::CappedTag<std::uint8_t, CopySpan::kGrain> d;
  constexpr std::size_t kStep = hn::MaxLanes(d);
  for (const CopySpan& strip : strips) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(strip.from);
    auto* const at = reinterpret_cast<std::uint8_t*>(to) + strip.to;
    std::size_t i = 0;
    for (; i + 4 * kStep <= strip.size; i += 4 * kStep) {
      const auto a = hn::LoadU(d, from + i);
      const auto b = hn::LoadU(d, from + i + kStep);
      const auto c = hn::LoadU(d, from + i + 2 * kStep);
      const auto e = hn::LoadU(d, from + i + 3 * kStep);
      hn::Stream(a, d, at + i);
      hn::Stream(b, d, at + i + kStep);
      hn::Stream(c, d, at + i + 2 * kStep);
      hn::Stream(e, d, at + i + 3 * kStep);
    }
    for (; i < strip.size; i += kStep) hn::Stream(hn::LoadU(d, from + i), d, at + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::runtime::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::runtime::simd {

LEAPP_KERNEL_TABLE(find_map);
LEAPP_KERNEL_TABLE(lanes_for);
LEAPP_KERNEL_TABLE(stream_strips);
LEAPP_KERNEL_TABLE(are_floats_within);
LEAPP_KERNEL_TABLE(are_doubles_within);

void spread(Mapping& mapping, std::span<double, Mapping::kSpread> to) noexcept {
  const std::size_t count = LEAPP_KERNEL(lanes_for)(mapping.size);
  if (count == 0) return;
  const std::size_t last = mapping.size - count;
  for (std::size_t lane = 0; lane < 2 * count; ++lane) {
    const std::size_t element = lane < count ? lane : lane - count + last;
    const auto place = static_cast<std::size_t>(mapping.places[element]);
    mapping.codes[lane] = static_cast<std::uint8_t>(place < count ? place : count + place - last);
    if (mapping.numbers == nullptr) continue;
    to[lane] = mapping.numbers[element];
    to[2 * count + lane] = mapping.numbers[mapping.size + element];
  }
  mapping.lane_numbers = to.data();
}
MapFloats forward_map(const Mapping& mapping) noexcept {
  return LEAPP_KERNEL(find_map)(mapping.size, mapping.numbers != nullptr, true);
}
MapFloats backward_map(const Mapping& mapping) noexcept {
  return LEAPP_KERNEL(find_map)(mapping.size, mapping.numbers != nullptr, false);
}
AreWithin<float> floats_within() noexcept { return LEAPP_KERNEL(are_floats_within); }
AreWithin<double> doubles_within() noexcept { return LEAPP_KERNEL(are_doubles_within); }
Stream stream() noexcept { return LEAPP_KERNEL(stream_strips); }
void end_stream() noexcept { hwy::FlushStream(); }

}  // namespace leapp::runtime::simd
#endif
