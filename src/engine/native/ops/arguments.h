// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels beside the operators take: sizes and pointers. Apart from those, because the source form of a plan
// is printed from them too.
#pragma once

#include <cstdint>

#include "engine/native/scalar/gather.h"

namespace leapp::native {

struct OneHotArgs {
  Indices indices;
  const void* values = nullptr;  ///< off, on
  void* y = nullptr;
  std::int64_t outer = 1;
  std::int64_t depth = 0;
  std::int64_t inner = 1;
  std::int32_t width = 4;
};

struct TriluArgs {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t k = 0;
  std::int32_t width = 4;
  bool upper = true;
};

/// Local response: each number is divided by a power of the squares of its neighbours in the channels.
struct LocalResponse {
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t batch = 1;
  std::int64_t channels = 0;
  std::int64_t inner = 1;
  std::int64_t size = 1;
  float alpha = 0;
  float beta = 0;
  float bias = 0;
};

struct CastArgs {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t count = 0;
};

struct Branch {
  const std::uint8_t* condition = nullptr;
  const BoundBlock* then_block = nullptr;
  const BoundBlock* else_block = nullptr;
};

struct Rounds {
  const std::int64_t* limit = nullptr;  ///< null: none
  const std::uint8_t* start = nullptr;  ///< whether there is a first round; null: there is
  std::int64_t* round = nullptr;        ///< what the body reads
  std::uint8_t* keep_on = nullptr;      ///< what the body reads, and its result for the next round
  const BoundBlock* body = nullptr;
};

/// Products of the types that the vector kernels do not know.
struct ScalarMatMul {
  const void* a = nullptr;
  const void* b = nullptr;
  void* y = nullptr;
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t a_batch_stride = 0;
  std::int64_t b_batch_stride = 0;
};

/// [outer, extent, inner], worked on along the middle.
struct Along {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t* indices = nullptr;
  std::int64_t* scratch = nullptr;  ///< [extent]
  std::int64_t outer = 1;
  std::int64_t extent = 0;
  std::int64_t inner = 1;
  std::int64_t k = 0;
  bool largest = true;
  bool last = false;       ///< of equal ones, the last
  bool exclusive = false;  ///< sums: without the element itself
  bool reverse = false;
};

/// Determinants by elimination with pivots, in double precision.
struct Determinant {
  const float* x = nullptr;
  float* y = nullptr;
  double* scratch = nullptr;
  std::int64_t batch = 1;
  std::int64_t n = 0;
};

/// y[outer, o, inner] = sum over t of weights[o, t] * x[outer, places[o, t], inner]
struct Taps {
  const float* x = nullptr;
  float* y = nullptr;
  const std::int64_t* places = nullptr;
  const float* weights = nullptr;
  std::int64_t outer = 1;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t inner = 1;
  std::int64_t taps = 1;
};

enum class Between : std::int32_t { kLinear, kNearest, kCubic };
enum class Beyond : std::int32_t { kZeros, kBorder, kReflection };

struct GridArgs {
  const float* x = nullptr;
  const float* grid = nullptr;
  float* y = nullptr;
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t in[2] = {1, 1};
  std::int64_t out[2] = {1, 1};
  Between between = Between::kLinear;
  Beyond beyond = Beyond::kZeros;
  bool corners = false;
};

}  // namespace leapp::native
