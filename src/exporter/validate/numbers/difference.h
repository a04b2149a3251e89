// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// How far two tensors are apart. Knows nothing of torch, of models or of what is going to be said about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/tolerance.h"
#include "graph/graph.h"

namespace leapp::exporter {

/// What one tensor holds.
struct ContentSummary {
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  double low = std::numeric_limits<double>::infinity();  ///< of all that is no NaN; low > high: there is nothing else
  double high = -std::numeric_limits<double>::infinity();
};

/// Of elements that are no NaN on either side. Equal infinities do not differ.
struct Difference {
  std::uint64_t elements = 0;  ///< all there are; complex ones count twice
  std::uint64_t compared = 0;
  std::uint64_t wrong = 0;  ///< beyond the tolerance
  std::uint64_t misplaced_infinities = 0;
  ContentSummary found;
  ContentSummary expected;
  double max = 0;
  double mean = 0;
  double square = 0;        ///< the sum of all squares
  std::uint64_t worst = 0;  ///< the first element at which |difference| is `max`, row-major
  double worst_found = 0;
  double worst_expected = 0;

  [[nodiscard]] bool has_nan() const { return found.nans + expected.nans > 0; }
  [[nodiscard]] bool agrees() const { return wrong == 0 && !has_nan(); }
};

/// Reads each element once and allocates nothing. `slack`, if there is any, has a number for each element (two for a
/// complex one): an element may be off by as much, whatever the tolerance says. REQUIRES: both have the same type.
[[nodiscard]] Difference measure(const graph::Constant& found, const graph::Constant& expected,
                                 const Tolerance& tolerance, std::span<const double> slack = {});

/// The numbers as doubles; complex ones are two.
[[nodiscard]] std::vector<double> as_doubles(const graph::Constant& tensor);

/// How large the numbers of a tensor are: the root of the mean square, without what is not finite and without what is a
/// million times larger than all the rest (a mask of -1e9 says nothing of how exact the others are). 0 for nothing.
[[nodiscard]] double typical_size(const graph::Constant& tensor);

/// What is asked first when the user gave no tolerance: that each element differs by some units in the last place of
/// the type, of its own size or of the tensor's as a whole. What is farther off may still be rounding (rounding.h).
/// Whole numbers have to be equal.
[[nodiscard]] Tolerance near_tolerance(const graph::Constant& expected);

/// Of |found - expected|, with linear interpolation between neighbours (what NumPy does by default).
struct Percentiles {
  double p50 = 0;
  double p75 = 0;
  double p90 = 0;
  double p99 = 0;
  double p995 = 0;
};

/// Exact. Reads the tensors six times and allocates a few hundred kB, however large they are: for those that differ.
/// REQUIRES: both have the same type.
[[nodiscard]] Percentiles percentiles(const graph::Constant& found, const graph::Constant& expected);

}  // namespace leapp::exporter
