// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/lanes/lanes.h"

#include <algorithm>
#include <cmath>

#include "engine/native/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/lanes/lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace leapp::runtime::lanes {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Of a code: the element is in the second vector.
constexpr std::uint8_t kInLast = 0x40;

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
HWY_INLINE auto convert_doubles(D d, V values, const double* factors, std::size_t size) {
  const hn::Rebind<double, D> wide;
  const auto x = hn::PromoteTo(wide, values);
  const auto factor = hn::LoadU(wide, factors);
  const auto offset = hn::LoadU(wide, factors + size);
  return hn::DemoteTo(
      d, kFormula == Formula::kForward ? hn::Add(hn::Mul(x, factor), offset) : hn::Mul(hn::Sub(x, offset), factor));
}

/// A vector of floats by what is `at` in the tables.
template <Formula kFormula, class D>
HWY_INLINE hn::Vec<D> convert_floats(D d, const Mapping& m, std::size_t at, hn::Vec<D> values) {
  const double* factors = m.numbers + at;
  if constexpr (kFormula == Formula::kNone) {
    return values;
  } else if constexpr (hn::MaxLanes(hn::ScalableTag<double>()) >= hn::MaxLanes(d)) {
    return convert_doubles<kFormula>(d, values, factors, m.size);
  } else {
    const hn::Half<D> half;
    const auto low = convert_doubles<kFormula>(half, hn::LowerHalf(half, values), factors, m.size);
    const auto high =
        convert_doubles<kFormula>(half, hn::UpperHalf(half, values), factors + hn::MaxLanes(half), m.size);
    return hn::Combine(d, high, low);
  }
}

/// Rows of one to two vectors: all of a row is in registers, and what is written overlaps.
template <Formula kFormula, class D>
void map_short(const Mapping& m, const float* from, float* to) noexcept {
  constexpr D d;
  const hn::RebindToSigned<D> places;
  const hn::Rebind<std::uint8_t, D> bytes;
  const std::size_t last = m.size - hn::MaxLanes(d);
  for (std::size_t row = 0; row < m.rows; ++row, from += m.size, to += m.size) {
    const auto first_values = hn::LoadU(d, from);
    const auto last_values = hn::LoadU(d, from + last);
    const auto one = [&](std::size_t at) HWY_ATTR {
      const auto code = hn::PromoteTo(places, hn::LoadU(bytes, m.codes.data() + at));
      const auto lane = hn::IndicesFromVec(d, hn::And(code, hn::Set(places, kInLast - 1)));
      const auto in_last = hn::RebindMask(d, hn::Gt(code, hn::Set(places, kInLast - 1)));
      const auto values =
          hn::IfThenElse(in_last, hn::TableLookupLanes(last_values, lane), hn::TableLookupLanes(first_values, lane));
      return convert_floats<kFormula>(d, m, at, values);
    };
    const auto low = one(0);
    const auto high = one(last);
    hn::StoreU(low, d, to);
    hn::StoreU(high, d, to + last);
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
      hn::StoreU(convert_floats<kFormula>(d, m, at, values), d, to + at);
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
  const Number* last;  ///< null: no rates
  Number* next;        ///< null: nothing is kept
};

/// Whether a vector at `i` is as it should be.
template <bool kUniform, typename Number, class D>
HWY_INLINE hn::Mask<D> look_at(D d, const Watched<Number>& w, const Sides<Number>& sides, std::size_t i) {
  const Number* limits = w.table + 2 * w.size + i;
  const auto lower = kUniform ? hn::Set(d, w.lower) : hn::LoadU(d, limits);
  const auto upper = kUniform ? hn::Set(d, w.upper) : hn::LoadU(d, limits + w.size);
  const auto values = hn::LoadU(d, sides.from + i);
  if (sides.next != nullptr) hn::StoreU(values, d, sides.next + i);
  const auto fine = hn::And(hn::Ge(values, lower), hn::Le(values, upper));
  if (sides.last == nullptr) return fine;
  const auto rate = kUniform ? hn::Set(d, w.rate) : hn::LoadU(d, limits + 2 * w.size);
  return hn::And(fine, hn::Le(hn::Abs(hn::Sub(values, hn::LoadU(d, sides.last + i))), rate));
}

std::uint8_t code_for(std::size_t place, std::size_t size) noexcept {
  const std::size_t eight = hn::MaxLanes(Eight());
  if (!LEAPP_LANES_ARE_VECTORS || size < hn::MaxLanes(Four()) || size > 2 * eight) return 0;
  const std::size_t count = size < eight ? hn::MaxLanes(Four()) : eight;
  return static_cast<std::uint8_t>(place < count ? place : kInLast + place - (size - count));
}

template <typename Number>
HWY_INLINE bool is_within(const Watched<Number>& w, const Sides<Number>& sides, std::size_t i) {
  const Number* limits = w.table + 2 * w.size + i;
  const Number value = sides.from[i];
  if (sides.next != nullptr) sides.next[i] = value;
  if (!(value >= (w.uniform ? w.lower : limits[0]) && value <= (w.uniform ? w.upper : limits[w.size]))) return false;
  return sides.last == nullptr || std::abs(value - sides.last[i]) <= (w.uniform ? w.rate : limits[2 * w.size]);
}

/// The last vector overlaps the one before.
template <bool kUniform, typename Number, class D>
HWY_INLINE hn::Mask<D> look_at_all(D d, const Watched<Number>& w, const Sides<Number>& sides) {
  const std::size_t last = w.size - hn::MaxLanes(d);
  auto fine = look_at<kUniform>(d, w, sides, last);
  for (std::size_t i = 0; i < last; i += hn::MaxLanes(d)) fine = hn::And(fine, look_at<kUniform>(d, w, sides, i));
  return fine;
}

/// Short ports one by one, the others by vectors.
template <typename Number>
HWY_INLINE bool all_within(std::span<const Watched<Number>> all, Turn turn) {
  constexpr hn::CappedTag<Number, 32 / sizeof(Number)> d;
  bool few_fine = true;
  auto fine = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (const Watched<Number>& w : all) {
    const std::size_t size = w.size;
    const Number* before = w.state[turn.parity] != nullptr ? w.state[turn.parity] : w.table + turn.last * size;
    const Sides<Number> sides{.from = w.from[turn.parity],
                              .last = w.limited ? before : nullptr,
                              .next = w.keeps ? w.table + (1 - turn.last) * size : nullptr};
    if (size < hn::MaxLanes(d)) {
      for (std::size_t i = 0; i < size; ++i) few_fine = is_within(w, sides, i) && few_fine;
    } else {
      fine = hn::And(fine, w.uniform ? look_at_all<true>(d, w, sides) : look_at_all<false>(d, w, sides));
    }
  }
  return few_fine && hn::AllTrue(d, fine);
}

bool are_floats_within(std::span<const Watched<float>> all, Turn turn) noexcept { return all_within(all, turn); }
bool are_doubles_within(std::span<const Watched<double>> all, Turn turn) noexcept { return all_within(all, turn); }

}  // namespace HWY_NAMESPACE
}  // namespace leapp::runtime::lanes
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::runtime::lanes {

LEAPP_KERNEL_TABLE(find_map);
LEAPP_KERNEL_TABLE(code_for);
LEAPP_KERNEL_TABLE(are_floats_within);
LEAPP_KERNEL_TABLE(are_doubles_within);

std::uint8_t code_of(std::size_t place, std::size_t size) noexcept { return LEAPP_KERNEL(code_for)(place, size); }
MapFloats forward_map(const Mapping& mapping) noexcept {
  return LEAPP_KERNEL(find_map)(mapping.size, mapping.numbers != nullptr, true);
}
MapFloats backward_map(const Mapping& mapping) noexcept {
  return LEAPP_KERNEL(find_map)(mapping.size, mapping.numbers != nullptr, false);
}
AreWithin<float> floats_within() noexcept { return LEAPP_KERNEL(are_floats_within); }
AreWithin<double> doubles_within() noexcept { return LEAPP_KERNEL(are_doubles_within); }

}  // namespace leapp::runtime::lanes
#endif
