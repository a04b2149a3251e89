// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops over the elements of ports, compiled for every instruction set that the machine may turn out to have. The same
// bits as the loops one would write by hand, in order, whatever the instruction set. Nothing here allocates, locks or
// throws; no memory is read or written beyond the elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace leapp::runtime::lanes {

/// Rows of `size` elements, each put into another order and converted. Tables serve every row. A step goes through as
/// many of these as the robot has ports, and all of them should be in the nearest cache: hence the bytes.
struct Mapping {
  static constexpr std::size_t kShort = 16;

  const double* numbers = nullptr;       ///< `size` factors, then as many offsets; null: numbers stay as they are
  const std::int32_t* places = nullptr;  ///< of each element that is written: where it is read
  std::uint32_t size = 0;
  std::uint32_t rows = 1;
  std::array<std::uint8_t, kShort> codes{};  ///< the places of rows of up to kShort elements: see code_of()
};

/// For Mapping::codes: where the element at `place` is in one of two vectors that have the first and the last elements
/// of a row between them. They depend on the machine as the functions below do, so ask for all at once.
[[nodiscard]] std::uint8_t code_of(std::size_t place, std::size_t size) noexcept;

using MapFloats = void (*)(const Mapping& mapping, const float* from, float* to) noexcept;

/// For mappings of that size and with or without numbers: to[i] = float(double(from[places[i]]) * factors[i] +
/// offsets[i]).
[[nodiscard]] MapFloats forward_map(const Mapping& mapping) noexcept;
/// The same with to[i] = float((double(from[places[i]]) - offsets[i]) * factors[i]).
[[nodiscard]] MapFloats backward_map(const Mapping& mapping) noexcept;

/// Numbers with limits: lower <= value <= upper and |value - last| <= rate, in the arithmetic of Number.
template <typename Number>
struct alignas(64) Watched {
  std::array<const Number*, 2> from{};   ///< by the parity of the step
  std::array<const Number*, 2> state{};  ///< what they held before; null: see `table`
  /// Twice `size`: the last values at one turn, room for the next ones at the other. Then, unless `uniform`, `size`
  /// lower bounds, as many upper ones and as many rates.
  Number* table = nullptr;
  std::uint32_t size = 0;
  bool limited = false;  ///< there are rates
  bool keeps = false;    ///< values become the next last ones
  bool uniform = false;  ///< all elements have the limits that follow
  Number lower = 0;
  Number upper = 0;
  Number rate = 0;
};

struct Turn {
  unsigned parity = 0;
  unsigned last = 0;  ///< 0 or 1: which half of the table's first part has the last values
};

/// Whether all of them are as they should be; NaN and infinities never are, as limits are finite. Where `keeps` is set
/// the values have been written to the other half, all of them when the answer is true.
template <typename Number>
using AreWithin = bool (*)(std::span<const Watched<Number>> all, Turn turn) noexcept;

[[nodiscard]] AreWithin<float> floats_within() noexcept;
[[nodiscard]] AreWithin<double> doubles_within() noexcept;

}  // namespace leapp::runtime::lanes
