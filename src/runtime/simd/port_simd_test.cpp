// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/simd/port_simd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "engine/native/kernels/levels_test.h"

namespace leapp::runtime::simd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kLongest = 40;
constexpr float kUntouched = 12345;

class LanesTest : public native::kernels::LevelTest {};
INSTANTIATE_TEST_SUITE_P(Levels, LanesTest, native::kernels::all_levels(), native::kernels::level_name);

/// Ordinary numbers and those that are not, more than a float can hold among them once they are scaled.
std::vector<float> hostile_floats(std::size_t count, std::mt19937& random) {
  const std::array<float, 8> odd{0.F, -0.F, kNaN, kInfinity, -kInfinity, 3e38F, -3e38F, 1e-42F};
  std::vector<float> values(count);
  for (float& value : values) {
    const auto drawn = random();
    value = drawn % 4 == 0 ? odd[drawn / 4 % odd.size()] : static_cast<float>(drawn) / 1e9F - 2;
  }
  return values;
}

struct Example {
  Example(std::size_t size, std::size_t rows, bool converts, std::mt19937& random) : places(size), numbers(2 * size) {
    std::iota(places.begin(), places.end(), 0);
    std::shuffle(places.begin(), places.end(), random);
    std::uniform_real_distribution<double> number(-3, 3);
    for (double& one : numbers) one = number(random);
    mapping.numbers = converts ? numbers.data() : nullptr;
    mapping.places = places.data();
    mapping.size = static_cast<std::uint32_t>(size);
    mapping.rows = static_cast<std::uint32_t>(rows);
    finish();
  }
  void finish() {
    spread(mapping, std::span<double, Mapping::kSpread>(static_cast<double*>(room.data()), Mapping::kSpread));
  }

  [[nodiscard]] float expected(const std::vector<float>& from, std::size_t i, bool forward) const {
    const std::size_t entry = i % mapping.size;
    const float value = from[i - entry + static_cast<std::size_t>(places[entry])];
    if (mapping.numbers == nullptr) return value;
    const double factor = numbers[entry];
    const double offset = numbers[mapping.size + entry];
    const volatile double product = static_cast<double>(value) * factor;
    const volatile double difference = static_cast<double>(value) - offset;
    return static_cast<float>(forward ? product + offset : difference * factor);
  }

  std::vector<std::int32_t> places;
  std::vector<double> numbers;
  native::kernels::Aligned room{Mapping::kSpread * sizeof(double)};
  Mapping mapping;
};

void expect_same(const Example& example, bool forward, std::mt19937& random) {
  const std::size_t count = example.mapping.size * example.mapping.rows;
  const std::vector<float> from = hostile_floats(count, random);
  std::vector<float> to(count + 2, kUntouched);
  (forward ? forward_map(example.mapping) : backward_map(example.mapping))(example.mapping, from.data(), to.data() + 1);
  EXPECT_EQ(to.front(), kUntouched);
  EXPECT_EQ(to.back(), kUntouched);
  for (std::size_t i = 0; i < count; ++i) {
    const float expected = example.expected(from, i, forward);
    if (std::isnan(expected) && std::isnan(to[i + 1])) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(to[i + 1]), std::bit_cast<std::uint32_t>(expected))
        << "element " << i << " of rows of " << example.mapping.size << ": " << to[i + 1] << ", " << expected;
  }
}

TEST_P(LanesTest, MapsAreTheSameBitsAsOneElementAfterTheOther) {
  std::mt19937 random(7);
  for (std::size_t size = 1; size <= kLongest; ++size) {
    for (const std::size_t rows : {1U, 3U}) {
      for (const bool converts : {false, true}) {
        const Example example(size, rows, converts, random);
        for (const bool forward : {false, true}) expect_same(example, forward, random);
      }
    }
  }
}

// A sum that takes the product unrounded has what rounding left over; here that is all there is.
TEST_P(LanesTest, AProductIsRoundedBeforeItIsAddedTo) {
  std::mt19937 random(5);
  for (std::size_t size = 1; size <= kLongest; ++size) {
    Example example(size, 1, true, random);
    const std::vector<float> from(size, 0.1F);
    for (std::size_t i = 0; i < size; ++i) {
      const volatile double product = static_cast<double>(0.1F) * example.numbers[i];
      example.numbers[size + i] = -product;
    }
    example.finish();
    std::vector<float> to(size, kUntouched);
    forward_map(example.mapping)(example.mapping, from.data(), to.data());
    ASSERT_EQ(to, std::vector<float>(size, 0.F)) << size;
  }
}

struct Kind {
  bool limited = false;
  bool state = false;
  bool uniform = false;
};

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const bool limited : {false, true}) {
    for (const bool state : {false, true}) {
      for (const bool uniform : {false, true}) kinds.push_back({limited, state, uniform});
    }
  }
  return kinds;
}

/// One port with bounds -1 to 1 and, if it is limited, a rate of 0.25; what it holds is all 0.5, as it was before.
template <typename Number>
struct Port {
  Port(std::size_t size, Kind kind)
      : values(size + 2, Number{0.5}),
        before(size + 2, Number{0.5}),
        pitch(Watched<Number>::pitch_of(size)),
        memory(std::make_unique<native::kernels::Aligned>(5 * pitch * sizeof(Number))) {
    values.front() = values.back() = kNaN;  // beside the port
    before.front() = before.back() = kNaN;
    watched.from = {values.data() + 1, nullptr};
    if (kind.state) watched.state = {before.data() + 1, nullptr};
    watched.size = static_cast<std::uint32_t>(size);
    watched.limited = kind.limited;
    watched.keeps = !kind.state;
    watched.uniform = kind.uniform;
    watched.table = static_cast<Number*>(memory->data());
    std::fill_n(watched.table, 5 * pitch, kNaN);
    for (const std::size_t half : {0U, 1U}) std::fill_n(part(half), size, Number{0.5});
    if (!kind.uniform) {
      std::fill_n(part(2), size, Number{-1});
      std::fill_n(part(3), size, Number{1});
      std::fill_n(part(4), size, Number{0.25});
    }
    watched.lower = kind.uniform ? -1 : 1;
    watched.upper = kind.uniform ? 1 : -1;
    watched.rate = kind.uniform ? 0.25 : -1;
    watched.settle();
  }
  [[nodiscard]] Number* part(std::size_t at) const { return watched.table + at * pitch; }
  [[nodiscard]] std::vector<Number> kept(std::size_t half) const { return {part(half), part(half) + watched.size}; }

  std::vector<Number> values;
  std::vector<Number> before;
  std::size_t pitch;
  std::unique_ptr<native::kernels::Aligned> memory;
  Watched<Number> watched;
};

template <typename Number>
bool within(const Port<Number>& port, unsigned last = 0) {
  const std::vector<Watched<Number>> all{port.watched};
  const Turn turn{.parity = 0, .last = last};
  if constexpr (std::is_same_v<Number, float>) {
    return floats_within()(all, turn);
  } else {
    return doubles_within()(all, turn);
  }
}

template <typename Number>
void expect_every_element_is_seen(std::size_t size, Kind kind) {
  Port<Number> port(size, kind);
  ASSERT_TRUE(within(port));
  for (std::size_t i = 1; i <= size; ++i) {
    for (const Number bad : {Number{kNaN}, Number{kInfinity}, Number{-kInfinity}, Number{1.125}, Number{-1.125}}) {
      port.values[i] = bad;
      ASSERT_FALSE(within(port)) << "element " << i - 1 << " of " << size << ": " << bad;
    }
    port.values[i] = Number{0.125};  // too far from the last, and nothing else
    ASSERT_EQ(within(port), !kind.limited) << "element " << i - 1 << " of " << size;
    port.values[i] = Number{0.75};  // as far as it may be
    ASSERT_TRUE(within(port)) << "element " << i - 1 << " of " << size;
    port.values[i] = Number{0.5};
  }
}

TEST_P(LanesTest, NoElementOutsideOfItsLimitsIsMissed) {
  for (std::size_t size = 1; size <= kLongest; ++size) {
    for (const Kind kind : all_kinds()) {
      expect_every_element_is_seen<float>(size, kind);
      expect_every_element_is_seen<double>(size, kind);
    }
  }
}

TEST_P(LanesTest, WhatIsKeptGoesToTheOtherHalf) {
  for (std::size_t size = 1; size <= kLongest; ++size) {
    Port<float> port(size, {.limited = true});
    std::fill_n(port.values.begin() + 1, size, 0.625F);
    ASSERT_TRUE(within(port, 1));
    EXPECT_EQ(port.kept(0), std::vector<float>(size, 0.625F));
    EXPECT_EQ(port.kept(1), std::vector<float>(size, 0.5F));
    port.watched.keeps = false;
    std::fill_n(port.values.begin() + 1, size, 0.5F);
    ASSERT_TRUE(within(port, 1));
    EXPECT_EQ(port.kept(0).front(), 0.625F) << "nobody asked for it";
  }
}

TEST_P(LanesTest, ARateComparedWithNothingIsNotWithin) {
  Port<float> port(12, {.limited = true});
  for (const std::size_t half : {0U, 1U}) std::fill_n(port.part(half), 12, kNaN);
  EXPECT_FALSE(within(port));
  port.watched.limited = false;
  EXPECT_TRUE(within(port));
}

TEST_P(LanesTest, OneOfManyPortsIsFound) {
  std::vector<Port<float>> ports;
  for (std::size_t size = 1; size <= kLongest; ++size)
    ports.emplace_back(size, Kind{.limited = true, .uniform = size % 2 == 0});
  std::vector<Watched<float>> all;
  for (Port<float>& port : ports) all.push_back(port.watched);
  ASSERT_TRUE(floats_within()(all, {}));
  for (Port<float>& port : ports) {
    port.values[1] = 2;
    ASSERT_FALSE(floats_within()(all, {})) << port.watched.size;
    port.values[1] = 0.5;
  }
  EXPECT_TRUE(floats_within()({}, {}));
}

// What is beside a short port's elements is in the same vector, and nobody's.
TEST_P(LanesTest, LimitsThatExcludeZeroArePutOnElementsOnly) {
  for (std::size_t size = 1; size <= kLongest; ++size) {
    Port<float> port(size, {.limited = true, .uniform = true});
    port.watched.lower = 0.25F;
    ASSERT_TRUE(within(port)) << size;
  }
}

TEST_P(LanesTest, StripsArriveWhereTheyBelong) {
  std::mt19937 random(3);
  for (std::size_t count = 0; count <= 5; ++count) {
    native::kernels::Aligned to(64 * 64);
    auto* const bytes = static_cast<std::uint8_t*>(to.data());
    std::fill_n(bytes, 64 * 64, std::uint8_t{0xee});
    std::vector<std::vector<std::uint8_t>> from;
    std::vector<CopySpan> strips;
    std::size_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
      from.emplace_back(1024);
      for (std::uint8_t& byte : from.back()) byte = static_cast<std::uint8_t>(random() % 0xee);
      const std::size_t size = random() % 500;
      strips.push_back({reinterpret_cast<const std::byte*>(from.back().data() + i), end, size});
      end += (size + CopySpan::kGrain - 1) / CopySpan::kGrain * CopySpan::kGrain;
    }
    stream()(strips, static_cast<std::byte*>(to.data()));
    end_stream();
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(std::equal(bytes + strips[i].to, bytes + strips[i].to + strips[i].size, from[i].data() + i)) << i;
    }
    EXPECT_EQ(bytes[end], 0xee) << "nothing is written behind the last";
  }
}

}  // namespace
}  // namespace leapp::runtime::simd
