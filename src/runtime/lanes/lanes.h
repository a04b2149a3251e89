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

/// Rows of `size` elements, each put into another order and converted. Tables have `size` entries and serve every row.
struct Mapping {
  const std::int32_t* places = nullptr;  ///< of each element that is written: where it is read
  const std::int32_t* lanes = nullptr;   ///< see lanes_of()
  const double* factors = nullptr;       ///< null: numbers stay as they are
  const double* offsets = nullptr;
  std::size_t size = 0;
  std::size_t rows = 1;
};

/// For Mapping::lanes: where the element at `place` is in one of two vectors that have the first and the last elements
/// of a row between them. They depend on the machine as the function that uses them does, so ask for both at once.
[[nodiscard]] std::int32_t lanes_of(std::int32_t place, std::size_t size) noexcept;

using MapFloats = void (*)(const Mapping& mapping, const float* from, float* to) noexcept;

/// to[i] = float(double(from[places[i]]) * factors[i] + offsets[i]).
[[nodiscard]] MapFloats forward_map() noexcept;
/// to[i] = float((double(from[places[i]]) - offsets[i]) * factors[i]).
[[nodiscard]] MapFloats backward_map() noexcept;

/// Numbers with limits: lower <= value <= upper and |value - last| <= rate, in the arithmetic of Number. `limits` has
/// `size` lower bounds, as many upper ones and, with `limited`, as many rates.
template <typename Number>
struct Watched {
  std::array<const Number*, 2> from{};   ///< by the parity of the step
  std::array<const Number*, 2> state{};  ///< what they held before; null: see `memory`
  const Number* limits = nullptr;
  Number* memory = nullptr;  ///< twice `size`: the last values at one turn, room for the next ones at the other
  std::size_t size = 0;
  bool limited = false;
  bool keeps = false;  ///< values become the next last ones
};

struct Turn {
  unsigned parity = 0;
  unsigned last = 0;  ///< 0 or 1: which half of `memory` has the last values
};

/// Whether all of them are as they should be; NaN and infinities never are, as limits are finite. Where `keeps` is set
/// the values have been written to the other half of `memory`, all of them when the answer is true.
template <typename Number>
using AreWithin = bool (*)(std::span<const Watched<Number>> all, Turn turn) noexcept;

[[nodiscard]] AreWithin<float> floats_within() noexcept;
[[nodiscard]] AreWithin<double> doubles_within() noexcept;

}  // namespace leapp::runtime::lanes
