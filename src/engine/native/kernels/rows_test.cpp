// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/native/kernels/levels_test.h"

namespace leapp::native::kernels {
namespace {

class RowsTest : public LevelTest {};
INSTANTIATE_TEST_SUITE_P(Levels, RowsTest, all_levels(), level_name);

const std::int64_t kLengths[] = {1, 3, 8, 15, 16, 31, 32, 33, 64, 100, 257};

TEST_P(RowsTest, Softmax) {
  for (const std::int64_t n : kLengths) {
    std::vector<float> x = random_floats(3 * n, 1);
    for (float& value : x) value *= 50;
    for (const bool log : {false, true}) {
      std::vector<float> y = x;
      softmax({y.data(), y.data(), 3, n, log});
      for (std::int64_t row = 0; row < 3; ++row) {
        const float* of = x.data() + row * n;
        const double top = *std::max_element(of, of + n);
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i) sum += std::exp(of[i] - top);
        for (std::int64_t i = 0; i < n; ++i) {
          const double wanted = log ? of[i] - top - std::log(sum) : std::exp(of[i] - top) / sum;
          ASSERT_NEAR(y[static_cast<std::size_t>(row * n + i)], wanted, log ? 2e-5 : 2e-6) << n << ' ' << i;
        }
      }
    }
  }
}

TEST_P(RowsTest, SoftmaxWithMinusInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float x[4] = {0, -infinity, 0, -infinity};
  float y[4];
  softmax({x, y, 1, 4, false});
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{0.5F, 0, 0.5F, 0}));
}

TEST_P(RowsTest, LayerInstanceAndRootMeanSquareNorm) {
  for (const std::int64_t n : kLengths) {
    for (int form = 0; form < 3; ++form) {
      const std::vector<float> x = random_floats(4 * n, 1);
      const std::vector<float> scale = random_floats(form == 1 ? 2 : n, 2);
      const std::vector<float> bias = random_floats(form == 1 ? 2 : n, 3);
      std::vector<float> y(x.size());
      float means[4];
      float inverses[4];
      Normalise args{x.data(), y.data(), 4, n, scale.data(), form == 2 ? nullptr : bias.data()};
      if (form == 1) args.affine_rows = 2, args.affine_row_stride = 1, args.affine_column_stride = 0;
      args.epsilon = 1e-3F;
      args.root_mean_square = form == 2;
      args.mean = means;
      args.inverse_deviation = inverses;
      normalise(args);
      for (std::int64_t row = 0; row < 4; ++row) {
        const float* of = x.data() + row * n;
        double mean = 0;
        for (std::int64_t i = 0; i < n; ++i) mean += form == 2 ? 0 : of[i] / static_cast<double>(n);
        double variance = 0;
        for (std::int64_t i = 0; i < n; ++i) variance += (of[i] - mean) * (of[i] - mean) / static_cast<double>(n);
        const double inverse = 1 / std::sqrt(variance + 1e-3);
        EXPECT_NEAR(means[row], mean, 1e-6);
        EXPECT_NEAR(inverses[row], inverse, 1e-5 * inverse);
        for (std::int64_t i = 0; i < n; ++i) {
          const auto at = static_cast<std::size_t>(form == 1 ? row % 2 : i);
          const double wanted = (of[i] - mean) * inverse * scale[at] + (form == 2 ? 0 : bias[at]);
          ASSERT_NEAR(y[static_cast<std::size_t>(row * n + i)], wanted, 2e-5) << n << ' ' << form << ' ' << i;
        }
      }
    }
  }
}

double fold(Reduction reduction, const std::vector<double>& values) {
  double sum = 0, product = 1, absolute = 0, square = 0, exponential = 0,
         top = -std::numeric_limits<double>::infinity(), bottom = std::numeric_limits<double>::infinity();
  for (const double v : values) {
    sum += v, product *= v, absolute += std::fabs(v), square += v * v, exponential += std::exp(v);
    top = std::max(top, v), bottom = std::min(bottom, v);
  }
  switch (reduction) {
    case Reduction::kSum:
      return sum;
    case Reduction::kMean:
      return sum / static_cast<double>(values.size());
    case Reduction::kMax:
      return top;
    case Reduction::kMin:
      return bottom;
    case Reduction::kProduct:
      return product;
    case Reduction::kL1:
      return absolute;
    case Reduction::kL2:
      return std::sqrt(square);
    case Reduction::kSumSquare:
      return square;
    case Reduction::kLogSum:
      return std::log(sum);
    case Reduction::kLogSumExp:
      return std::log(exponential);
  }
  return 0;
}

TEST_P(RowsTest, ReductionsAlongTheLastAndOtherAxes) {
  for (int reduction = 0; reduction < 10; ++reduction) {
    for (const std::int64_t inner : {1, 5, 40}) {
      for (const std::int64_t reduced : {1, 7, 16, 100}) {
        std::vector<float> x = random_floats(2 * reduced * inner, 1);
        if (reduction == static_cast<int>(Reduction::kLogSum)) {
          for (float& value : x) value = std::fabs(value);
        }
        std::vector<float> y(static_cast<std::size_t>(2 * inner));
        const Reduce args{static_cast<Reduction>(reduction), x.data(), y.data(), 2, reduced, inner};
        reduce(args);
        for (std::int64_t i = 0; i < 2 * inner; ++i) {
          std::vector<double> values;
          for (std::int64_t r = 0; r < reduced; ++r) {
            values.push_back(x[static_cast<std::size_t>((i / inner * reduced + r) * inner + i % inner)]);
          }
          ASSERT_NEAR(y[static_cast<std::size_t>(i)], fold(args.reduction, values), 2e-5)
              << reduction << ' ' << inner << ' ' << reduced << ' ' << i;
        }
      }
    }
  }
}

TEST_P(RowsTest, ReductionsOfNothingAndOfNaN) {
  float y = 7;
  reduce({Reduction::kSum, nullptr, &y, 1, 0, 1});
  EXPECT_EQ(y, 0);
  reduce({Reduction::kProduct, nullptr, &y, 1, 0, 1});
  EXPECT_EQ(y, 1);
  reduce({Reduction::kMax, nullptr, &y, 1, 0, 1});
  EXPECT_EQ(y, -std::numeric_limits<float>::infinity());
  for (std::size_t at = 0; at < 40; ++at) {
    std::vector<float> x = random_floats(40, 1);
    x[at] = NAN;
    reduce({Reduction::kMax, x.data(), &y, 1, 40, 1});
    EXPECT_TRUE(std::isnan(y)) << at;
    reduce({Reduction::kMin, x.data(), &y, 1, 40, 1});
    EXPECT_TRUE(std::isnan(y)) << at;
  }
}

TEST_P(RowsTest, Attention) {
  const std::int64_t heads = 2;
  for (const std::int64_t queries : {1, 5, 50}) {
    for (const std::int64_t keys : {1, 9, 50}) {
      const std::int64_t width = 12;
      const std::int64_t value_width = 20;
      const std::vector<float> q = random_floats(heads * queries * width, 1);
      const std::vector<float> k = random_floats(heads * keys * width, 2);
      const std::vector<float> v = random_floats(heads * keys * value_width, 3);
      const std::vector<float> mask = random_floats(queries * keys, 4);
      std::vector<float> y(static_cast<std::size_t>(heads * queries * value_width));
      kernels::Attention args;
      args.q = q.data(), args.k = k.data(), args.v = v.data(), args.y = y.data();
      args.mask = queries == 5 ? nullptr : mask.data();
      args.batch = heads, args.queries = queries, args.keys = keys, args.width = width, args.value_width = value_width;
      // Queries and values with the heads side by side, as after a projection; keys head by head.
      args.q_stride[0] = width, args.q_stride[1] = heads * width;
      args.k_stride[0] = keys * width, args.k_stride[1] = width;
      args.v_stride[0] = value_width, args.v_stride[1] = heads * value_width;
      args.y_stride[0] = value_width, args.y_stride[1] = heads * value_width;
      args.mask_stride[0] = 0, args.mask_stride[1] = keys;
      args.scale = 0.3F;
      Aligned scratch(attention_scratch_bytes(args));
      args.scratch = scratch.data();
      attention(args);
      for (std::int64_t i = 0; i < heads * queries; ++i) {
        const std::int64_t head = i / queries;
        const std::int64_t query = i % queries;
        std::vector<double> weight(static_cast<std::size_t>(keys));
        double total = 0;
        for (std::int64_t key = 0; key < keys; ++key) {
          double score = args.mask == nullptr ? 0 : mask[static_cast<std::size_t>(query * keys + key)];
          for (std::int64_t w = 0; w < width; ++w) {
            score += 0.3F * q[static_cast<std::size_t>(query * heads * width + head * width + w)] *
                     k[static_cast<std::size_t>((head * keys + key) * width + w)];
          }
          total += weight[static_cast<std::size_t>(key)] = std::exp(score);
        }
        for (std::int64_t w = 0; w < value_width; ++w) {
          double wanted = 0;
          for (std::int64_t key = 0; key < keys; ++key) {
            wanted += weight[static_cast<std::size_t>(key)] / total *
                      v[static_cast<std::size_t>(key * heads * value_width + head * value_width + w)];
          }
          ASSERT_NEAR(y[static_cast<std::size_t>(query * heads * value_width + head * value_width + w)], wanted, 1e-5)
              << queries << ' ' << keys << ' ' << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace leapp::native::kernels
