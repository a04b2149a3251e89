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

namespace leapp::runtime::simd {

/// Rows of `size` elements, each put into another order and converted. Tables serve every row. A step goes through as
/// many of these as the robot has ports, and all of them should be in the nearest cache: hence the bytes.
struct Mapping {
  static constexpr std::size_t kShort = 16;
  static constexpr std::size_t kSpread = 2 * kShort;

  const double* numbers = nullptr;       ///< `size` factors, then as many offsets; null: numbers stay as they are
  const std::int32_t* places = nullptr;  ///< of each element that is written: where it is read
  /// For short rows, which are two vectors that overlap: the numbers of each of their lanes. See spread().
  const double* lane_numbers = nullptr;
  std::uint32_t size = 0;
  std::uint32_t rows = 1;
  std::array<std::uint8_t, kShort> codes{};  ///< likewise, where each lane is read
};

/// Fills `codes` from `places`, and lane_numbers, for which there is room at `to`, from `numbers`. They depend on the
/// machine as the functions below do, so ask for all at once. `to` begins with a line of the cache.
void spread(Mapping& mapping, std::span<double, Mapping::kSpread> to) noexcept;

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
  /// Parts of pitch_of(size) numbers each, of which the first `size` count: the last values at one turn, room for the
  /// next ones at the other; then, unless `uniform`, lower bounds, upper ones and rates.
  Number* table = nullptr;
  std::uint32_t size = 0;
  bool limited = false;  ///< there are rates
  bool keeps = false;    ///< values become the next last ones
  bool uniform = false;  ///< all elements have the limits that follow
  bool usual = false;    ///< see settle()
  Number lower = 0;
  Number upper = 0;
  Number rate = 0;

  static constexpr std::size_t kLine = 64 / sizeof(Number);

  /// Whole lines of the cache: no vector is in two of them.
  [[nodiscard]] static constexpr std::size_t pitch_of(std::size_t size) noexcept {
    return (size + kLine - 1) / kLine * kLine;
  }

  /// All of the above is set. What most ports are is looked at without asking for each of it again.
  void settle() noexcept { usual = limited && keeps && uniform && state[0] == nullptr && size <= kLine; }
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

/// Bytes that are to be somewhere else, beginning at a multiple of kGrain there. What they lie in can be read, and what
/// they go to be written, up to the next multiple of kGrain.
struct CopySpan {
  static constexpr std::size_t kGrain = 16;

  const std::byte* from = nullptr;
  std::size_t to = 0;
  std::size_t size = 0;
};

/// Copies past the caches, for another core: what the step needs stays in them, and nobody waits for lines that the
/// other core has had. `to` begins with a line of the cache.
using Stream = void (*)(std::span<const CopySpan> strips, std::byte* to) noexcept;
[[nodiscard]] Stream stream() noexcept;
/// All that was streamed can be seen by whoever sees what is stored after this.
void end_stream() noexcept;

}  // namespace leapp::runtime::simd
