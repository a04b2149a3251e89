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

// Joints are a dozen or two: longer vectors than these would mostly be empty.
using Eight = hn::CappedTag<float, 8>;
using Four = hn::CappedTag<float, 4>;

// Vectors of one element, and those that are loops in truth: what does not fit they convert in a way of their own.
#undef LEAPP_LANES_ARE_VECTORS
#define LEAPP_LANES_ARE_VECTORS (HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR)

template <bool kForward>
HWY_INLINE float convert(double x, double factor, double offset) {
  return static_cast<float>(kForward ? x * factor + offset : (x - offset) * factor);
}

template <bool kForward>
HWY_INLINE void map_singly(const Mapping& m, const float* from, float* to) {
  if (m.factors == nullptr) {
    for (std::size_t i = 0; i < m.size; ++i) to[i] = from[m.places[i]];
    return;
  }
  for (std::size_t i = 0; i < m.size; ++i) {
    to[i] = convert<kForward>(static_cast<double>(from[m.places[i]]), m.factors[i], m.offsets[i]);
  }
}

#if LEAPP_LANES_ARE_VECTORS

/// What is `at` in the tables, of a vector of floats.
template <bool kForward, class D>
HWY_INLINE hn::Vec<D> convert_lanes(D /*d*/, const Mapping& m, std::size_t at, hn::Vec<D> values) {
  if (m.factors == nullptr) return values;
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> wide;
  const auto one = [&](auto part, std::size_t i) HWY_ATTR {
    const auto x = hn::PromoteTo(wide, part);
    const auto factor = hn::LoadU(wide, m.factors + i);
    const auto offset = hn::LoadU(wide, m.offsets + i);
    return hn::DemoteTo(half, kForward ? hn::Add(hn::Mul(x, factor), offset) : hn::Mul(hn::Sub(x, offset), factor));
  };
  constexpr D d;
  const auto low = one(hn::LowerHalf(half, values), at);
  const auto high = one(hn::UpperHalf(half, values), at + hn::Lanes(half));
  return hn::Combine(d, high, low);
}

/// Rows of one to two vectors: all of a row is in registers, and what is written overlaps.
template <bool kForward, class D>
HWY_INLINE void map_short(D d, const Mapping& m, const float* from, float* to) {
  const hn::RebindToSigned<D> places;
  const std::size_t last = m.size - hn::Lanes(d);
  const auto first_values = hn::LoadU(d, from);
  const auto last_values = hn::LoadU(d, from + last);
  const auto bound = hn::Set(places, static_cast<std::int32_t>(hn::Lanes(d)));
  const auto one = [&](std::size_t at) HWY_ATTR {
    const auto lane = hn::IndicesFromVec(d, hn::LoadU(places, m.lanes + at));
    const auto in_first = hn::RebindMask(d, hn::Lt(hn::LoadU(places, m.places + at), bound));
    const auto values =
        hn::IfThenElse(in_first, hn::TableLookupLanes(first_values, lane), hn::TableLookupLanes(last_values, lane));
    return convert_lanes<kForward>(d, m, at, values);
  };
  const auto low = one(0);
  const auto high = one(last);
  hn::StoreU(low, d, to);
  hn::StoreU(high, d, to + last);
}

/// Rows of a vector or more.
template <bool kForward, class D>
HWY_INLINE void map_long(D d, const Mapping& m, const float* from, float* to) {
  const hn::RebindToSigned<D> places;
  for (std::size_t i = 0;; i += hn::Lanes(d)) {
    const std::size_t at = std::min(i, m.size - hn::Lanes(d));
    const auto values = hn::GatherIndex(d, from, hn::LoadU(places, m.places + at));
    hn::StoreU(convert_lanes<kForward>(d, m, at, values), d, to + at);
    if (at + hn::Lanes(d) == m.size) return;
  }
}

template <bool kForward>
HWY_INLINE void map_row(const Mapping& m, const float* from, float* to) {
  constexpr std::size_t kEight = hn::MaxLanes(Eight());
  if (m.size < hn::MaxLanes(Four())) return map_singly<kForward>(m, from, to);
  if (m.size < kEight) return map_short<kForward>(Four(), m, from, to);
  if (m.size <= 2 * kEight) return map_short<kForward>(Eight(), m, from, to);
  map_long<kForward>(Eight(), m, from, to);
}

#else

template <bool kForward>
HWY_INLINE void map_row(const Mapping& m, const float* from, float* to) {
  map_singly<kForward>(m, from, to);
}

#endif

/// Whether a vector at `i` is as it should be.
template <typename Number, class D>
HWY_INLINE hn::Mask<D> look_at(D d, const Watched<Number>& w, const Number* from, const Number* last, Number* next,
                               std::size_t i) {
  const auto values = hn::LoadU(d, from + i);
  if (next != nullptr) hn::StoreU(values, d, next + i);
  auto fine = hn::And(hn::Ge(values, hn::LoadU(d, w.limits + i)), hn::Le(values, hn::LoadU(d, w.limits + w.size + i)));
  if (last != nullptr) {
    const auto change = hn::Abs(hn::Sub(values, hn::LoadU(d, last + i)));
    fine = hn::And(fine, hn::Le(change, hn::LoadU(d, w.limits + 2 * w.size + i)));
  }
  return fine;
}

template <bool kForward>
HWY_INLINE void map_rows(const Mapping& m, const float* from, float* to) {
  const Mapping mapping = m;  // no write to `to` changes it, and the compiler may know
  for (std::size_t row = 0; row < mapping.rows; ++row) {
    map_row<kForward>(mapping, from + row * mapping.size, to + row * mapping.size);
  }
}

void map_forward(const Mapping& m, const float* from, float* to) noexcept { map_rows<true>(m, from, to); }
void map_backward(const Mapping& m, const float* from, float* to) noexcept { map_rows<false>(m, from, to); }

std::int32_t lane_of(std::int32_t place, std::size_t size) noexcept {
  if (!LEAPP_LANES_ARE_VECTORS || size < hn::MaxLanes(Four()) || size > 2 * hn::MaxLanes(Eight())) return 0;
  const std::size_t count = size < hn::MaxLanes(Eight()) ? hn::MaxLanes(Four()) : hn::MaxLanes(Eight());
  const auto at = static_cast<std::size_t>(place);
  return static_cast<std::int32_t>(at < count ? at : at - (size - count));
}

template <typename Number>
HWY_INLINE bool is_within(const Watched<Number>& w, const Number* from, const Number* last, Number* next,
                          std::size_t i) {
  const Number value = from[i];
  if (next != nullptr) next[i] = value;
  const bool fine = value >= w.limits[i] && value <= w.limits[w.size + i];
  return fine && (last == nullptr || std::abs(value - last[i]) <= w.limits[2 * w.size + i]);
}

/// Short ports one by one, the others by vectors, of which the last overlaps the one before.
template <typename Number>
HWY_INLINE bool all_within(std::span<const Watched<Number>> all, Turn turn) {
  constexpr hn::CappedTag<Number, 32 / sizeof(Number)> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  bool few_fine = true;
  auto fine = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (const Watched<Number>& entry : all) {
    const Watched<Number> w = entry;
    const Number* from = w.from[turn.parity];
    const Number* before = w.state[turn.parity] != nullptr ? w.state[turn.parity] : w.memory + turn.last * w.size;
    const Number* last = w.limited ? before : nullptr;
    Number* next = w.keeps ? w.memory + (1 - turn.last) * w.size : nullptr;
    if (w.size < kLanes) {
      for (std::size_t i = 0; i < w.size; ++i) few_fine = is_within(w, from, last, next, i) && few_fine;
      continue;
    }
    for (std::size_t i = 0; i + kLanes < w.size; i += kLanes) {
      fine = hn::And(fine, look_at(d, w, from, last, next, i));
    }
    fine = hn::And(fine, look_at(d, w, from, last, next, w.size - kLanes));
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

LEAPP_KERNEL_TABLE(map_forward);
LEAPP_KERNEL_TABLE(map_backward);
LEAPP_KERNEL_TABLE(lane_of);
LEAPP_KERNEL_TABLE(are_floats_within);
LEAPP_KERNEL_TABLE(are_doubles_within);

std::int32_t lanes_of(std::int32_t place, std::size_t size) noexcept { return LEAPP_KERNEL(lane_of)(place, size); }
MapFloats forward_map() noexcept { return LEAPP_KERNEL(map_forward); }
MapFloats backward_map() noexcept { return LEAPP_KERNEL(map_backward); }
AreWithin<float> floats_within() noexcept { return LEAPP_KERNEL(are_floats_within); }
AreWithin<double> doubles_within() noexcept { return LEAPP_KERNEL(are_doubles_within); }

}  // namespace leapp::runtime::lanes
#endif
