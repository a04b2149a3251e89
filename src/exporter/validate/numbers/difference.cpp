// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/numbers/difference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "base/half.h"

namespace leapp::exporter {
namespace {

struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};

double as_double(Half half) { return static_cast<double>(widen_float16(half.bits)); }
double as_double(BFloat value) { return static_cast<double>(widen_bfloat16(value.bits)); }
template <typename T>
double as_double(T value) {
  return static_cast<double>(value);
}

/// Two 64-bit integers may differ by less than a double of their size can tell.
template <typename T>
double distance(T a, T b) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    return static_cast<double>(a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                                     : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a));
  } else {
    return std::abs(as_double(a) - as_double(b));
  }
}

void count(ContentSummary& content, double value) {
  if (std::isnan(value)) {
    ++content.nans;
    return;
  }
  content.infinities += std::isinf(value) ? 1 : 0;
  content.low = std::min(content.low, value);
  content.high = std::max(content.high, value);
}

template <typename T>
Difference measure_as(const T* found, const T* expected, std::uint64_t elements, const Tolerance& tolerance,
                      std::span<const double> slack) {
  Difference result;
  result.elements = elements;
  double sum = 0;
  double max = -1;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const double a = as_double(found[i]);
    const double b = as_double(expected[i]);
    count(result.found, a);
    count(result.expected, b);
    if (std::isnan(a) || std::isnan(b)) continue;
    ++result.compared;
    const bool infinite = std::isinf(a) || std::isinf(b);
    const double apart = infinite && a == b ? 0 : distance(found[i], expected[i]);
    const bool wrong = !tolerance.allows(a, b, apart) && (infinite || slack.empty() || apart > slack[i]);
    result.wrong += wrong ? 1 : 0;
    result.misplaced_infinities += infinite && wrong ? 1 : 0;
    sum += apart;
    result.square += apart * apart;
    if (apart <= max) continue;
    max = apart;
    result.worst = i;
  }
  if (result.compared == 0) return result;
  result.max = max;
  result.mean = sum / static_cast<double>(result.compared);
  result.worst_found = as_double(found[result.worst]);
  result.worst_expected = as_double(expected[result.worst]);
  return result;
}

/// Calls `visit` with pointers of the elements' type and their number. What has no arithmetic of its own here (float8)
/// is compared bit by bit.
template <typename Visit>
auto with_elements(const graph::Constant& found, const graph::Constant& expected, const Visit& visit) {
  const auto elements = static_cast<std::uint64_t>(graph::element_count(expected.type.shape));
  const auto as = [&]<typename T>(T /*element*/, std::uint64_t each = 1) {
    return visit(static_cast<const T*>(found.data.get()), static_cast<const T*>(expected.data.get()), elements * each);
  };
  switch (expected.type.dtype) {
    case DType::kFloat16:
      return as(Half{});
    case DType::kComplex32:
      return as(Half{}, 2);
    case DType::kBFloat16:
      return as(BFloat{});
    case DType::kFloat32:
      return as(float{});
    case DType::kComplex64:
      return as(float{}, 2);
    case DType::kFloat64:
      return as(double{});
    case DType::kComplex128:
      return as(double{}, 2);
    case DType::kInt8:
      return as(std::int8_t{});
    case DType::kInt16:
      return as(std::int16_t{});
    case DType::kInt32:
      return as(std::int32_t{});
    case DType::kInt64:
      return as(std::int64_t{});
    case DType::kUInt16:
      return as(std::uint16_t{});
    case DType::kUInt32:
      return as(std::uint32_t{});
    case DType::kUInt64:
      return as(std::uint64_t{});
    case DType::kUInt8:
    case DType::kBool:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E5M2:
      break;
  }
  return as(std::uint8_t{});
}

/// Finds several order statistics of distances that are computed anew each time they are looked at. A distance is no
/// negative number, so its bits order as it does; each reading of the tensors settles the next eleven of them.
class RankSearch {
 public:
  explicit RankSearch(const std::vector<std::uint64_t>& ranks) {
    for (const std::uint64_t rank : ranks) wanted_.push_back({rank, 0});
  }

  /// `for_each` calls what it is given with every distance.
  template <typename ForEach>
  std::vector<double> run(const ForEach& for_each) {
    for (int shift = kBits - kDigit; shift > -kDigit; shift -= kDigit) {
      const int low = std::max(shift, 0);
      settle(for_each, low, shift + kDigit - low);
    }
    std::vector<double> values;
    for (const Wanted& one : wanted_) values.push_back(std::bit_cast<double>(one.prefix));
    return values;
  }

 private:
  static constexpr int kBits = 63;  // without the sign
  static constexpr int kDigit = 11;
  struct Wanted {
    std::uint64_t rank;    // among those that begin with `prefix`
    std::uint64_t prefix;  // bits that are settled
  };
  using Bins = std::vector<std::uint64_t>;

  template <typename ForEach>
  void settle(const ForEach& for_each, int low, int digits) {
    const int high = low + digits;
    std::vector<std::pair<std::uint64_t, Bins>> groups;
    for (const Wanted& one : wanted_) {
      const std::uint64_t prefix = one.prefix >> high;
      const auto same = [&](const auto& group) { return group.first == prefix; };
      if (std::none_of(groups.begin(), groups.end(), same)) groups.emplace_back(prefix, Bins(std::size_t{1} << digits));
    }
    const std::uint64_t mask = (std::uint64_t{1} << digits) - 1;
    for_each([&](double distance) {
      const auto bits = std::bit_cast<std::uint64_t>(distance);
      for (auto& [prefix, bins] : groups) {
        if (bits >> high == prefix) ++bins[(bits >> low) & mask];
      }
    });
    for (Wanted& one : wanted_) {
      const auto group = std::find_if(groups.begin(), groups.end(),
                                      [&](const auto& item) { return item.first == one.prefix >> high; });
      std::uint64_t bin = 0;
      while (bin < mask && one.rank >= group->second[bin]) one.rank -= group->second[bin++];
      one.prefix |= bin << low;
    }
  }

  std::vector<Wanted> wanted_;
};

/// Sums of squares by the power of two of the numbers. Two kinds of numbers do not count: a fill far above the others
/// (a mask of -1e9), and what is far below most others, such as what is left of a difference of equal numbers.
class Magnitudes {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    ++counted_;
    if (value == 0) return;
    const double size = std::min(std::abs(value), std::ldexp(1.0, kLimit));
    const int place = std::max(std::ilogb(size), -kLimit) + kLimit;
    Bin& bin = bins_[static_cast<std::size_t>(place)];
    bin.alike = bin.count == 0 || (bin.alike && bin.last == size);
    bin.last = size;
    bin.square += size * size;
    ++bin.count;
    ++sized_;
  }

  [[nodiscard]] double typical() const {
    double sum = 0;
    std::uint64_t seen = 0;
    std::size_t empty = 0;
    for (const Bin& bin : bins_) {
      ++empty;
      if (bin.count == 0) continue;
      const bool is_fill = bin.alike && seen + bin.count == sized_;
      if (seen > 0 && empty > kGap && (is_fill || 2 * seen >= sized_)) break;
      empty = 0;
      seen += bin.count;
      sum += bin.square;
    }
    const std::uint64_t within = counted_ - (sized_ - seen);
    return within == 0 ? 0 : std::sqrt(sum / static_cast<double>(within));
  }

 private:
  struct Bin {
    double square = 0;
    double last = 0;
    std::uint64_t count = 0;
    bool alike = true;  ///< all its numbers are one
  };
  static constexpr int kLimit = 500;  // whose square is still a number
  static constexpr std::size_t kGap = 20;
  std::array<Bin, 2 * kLimit + 1> bins_{};
  std::uint64_t counted_ = 0;
  std::uint64_t sized_ = 0;
};

constexpr std::array<double, 5> kShares = {0.5, 0.75, 0.9, 0.99, 0.995};

template <typename T>
Percentiles percentiles_as(const T* found, const T* expected, std::uint64_t elements) {
  const auto for_each = [&](const auto& visit) {
    for (std::uint64_t i = 0; i < elements; ++i) {
      const double a = as_double(found[i]);
      const double b = as_double(expected[i]);
      if (std::isnan(a) || std::isnan(b)) continue;
      visit(std::isinf(a) && a == b ? 0 : distance(found[i], expected[i]));
    }
  };
  std::uint64_t compared = 0;
  for_each([&](double /*distance*/) { ++compared; });
  if (compared == 0) return {};
  std::vector<std::uint64_t> ranks;
  for (const double share : kShares) {
    const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(compared - 1));
    ranks.push_back(rank);
    ranks.push_back(std::min(rank + 1, compared - 1));
  }
  const std::vector<double> values = RankSearch(ranks).run(for_each);
  std::array<double, 5> found_values{};
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    const double place = kShares[i] * static_cast<double>(compared - 1);
    const double part = place - std::floor(place);
    const double low = values[2 * i];
    const double high = values[2 * i + 1];
    found_values[i] = part == 0 || low == high ? low : low + (high - low) * part;
  }
  return {found_values[0], found_values[1], found_values[2], found_values[3], found_values[4]};
}

}  // namespace

Difference measure(const graph::Constant& found, const graph::Constant& expected, const Tolerance& tolerance,
                   std::span<const double> slack) {
  return with_elements(found, expected, [&](const auto* a, const auto* b, std::uint64_t elements) {
    return measure_as(a, b, elements, tolerance, slack);
  });
}

std::vector<double> as_doubles(const graph::Constant& tensor) {
  return with_elements(tensor, tensor, [](const auto* values, const auto* /*same*/, std::uint64_t elements) {
    std::vector<double> doubles(elements);
    std::transform(values, values + elements, doubles.begin(), [](auto value) { return as_double(value); });
    return doubles;
  });
}

double typical_size(const graph::Constant& tensor) {
  return with_elements(tensor, tensor, [](const auto* values, const auto* /*same*/, std::uint64_t elements) {
    Magnitudes magnitudes;
    for (std::uint64_t i = 0; i < elements; ++i) magnitudes.add(as_double(values[i]));
    return magnitudes.typical();
  });
}

Tolerance near_tolerance(const graph::Constant& expected) {
  const DType dtype = expected.type.dtype;
  const double unit = unit_roundoff(dtype);
  if (unit == 0) return {0, 0};
  // Sums of hundreds of products in float32, a few roundings in the short types. Float64 is asked for what float32 can
  // do: ONNX Runtime computes some operators in that.
  const bool is_short = unit >= unit_roundoff(DType::kFloat16);
  const double relative = is_short ? 8 * unit : 160 * unit_roundoff(DType::kFloat32);
  // What an engine that has no numbers below the smallest normal one may lose, with some room for what it is multiplied
  // by.
  const double smallest = dtype == DType::kFloat16 ? 0x1p-23 : 0x1p-66;
  return {relative, relative * typical_size(expected) + smallest};
}

Percentiles percentiles(const graph::Constant& found, const graph::Constant& expected) {
  return with_elements(found, expected, [](const auto* a, const auto* b, std::uint64_t elements) {
    return percentiles_as(a, b, elements);
  });
}

}  // namespace leapp::exporter
