// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/native/kernels/levels_test.h"
#include "engine/native/kernels/storage.h"

namespace leapp::native::kernels {
namespace {

class MatMulTest : public LevelTest {};
INSTANTIATE_TEST_SUITE_P(Levels, MatMulTest, all_levels(), level_name);

double product(const std::vector<float>& a, const std::vector<float>& b, std::int64_t row, std::int64_t column,
               std::int64_t k, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    sum += static_cast<double>(a[static_cast<std::size_t>(row * k + i)]) * b[static_cast<std::size_t>(i * n + column)];
  }
  return sum;
}

TEST_P(MatMulTest, PackedProductsOfAllSizes) {
  for (const std::int64_t m : {1, 2, 3, 5, 6, 7, 13, 40}) {
    for (const std::int64_t k : {0, 1, 3, 8, 33, 100}) {
      for (const std::int64_t n : {1, 8, 15, 16, 17, 50}) {
        const std::vector<float> x = random_floats(m * k, 1);
        const std::vector<float> w = random_floats(k * n, 2);
        const std::vector<float> bias = random_floats(n, 3);
        Aligned packed(packed_matrix_bytes(k, n, Storage::kFloat32));
        pack_matrix({w.data(), Storage::kFloat32, k, n, n, 1, packed.data()});
        std::vector<float> y(static_cast<std::size_t>(m * n), 0.5F);
        MatMulPacked args{x.data(), packed.data(), Storage::kFloat32, bias.data(), y.data(), y.data(), m, k, n, k, n};
        args.activation.function = Unary::kTanh;
        matmul_packed(args);
        for (std::int64_t i = 0; i < m * n; ++i) {
          const double sum = product(x, w, i / n, i % n, k, n) + bias[static_cast<std::size_t>(i % n)] + 0.5;
          ASSERT_NEAR(y[static_cast<std::size_t>(i)], std::tanh(sum), 1e-5) << m << ' ' << k << ' ' << n << ' ' << i;
        }
      }
    }
  }
}

// More numbers than are multiplied at a time: the sums wait in y, also where y is what is added.
TEST_P(MatMulTest, DeepProductsOfManyRows) {
  for (const std::int64_t m : {2, 12, 29}) {
    for (const std::int64_t k : {513, 700, 1024}) {
      for (const std::int64_t n : {7, 16, 270}) {
        const std::vector<float> x = random_floats(m * k, 1);
        const std::vector<float> w = random_floats(k * n, 2);
        const std::vector<float> bias = random_floats(n, 3);
        Aligned packed(packed_matrix_bytes(k, n, Storage::kFloat32));
        pack_matrix({w.data(), Storage::kFloat32, k, n, n, 1, packed.data()});
        const std::int64_t stride = n + 3;
        std::vector<float> y(static_cast<std::size_t>(m * stride), 0.5F);
        MatMulPacked args{x.data(), packed.data(), Storage::kFloat32, bias.data(), y.data(), y.data(), m, k, n,
                          k,        stride};
        args.activation.function = Unary::kRelu;
        matmul_packed(args);
        for (std::int64_t i = 0; i < m * stride; ++i) {
          const std::int64_t column = i % stride;
          const bool inside = column < n;
          const double sum =
              inside ? product(x, w, i / stride, column, k, n) + bias[static_cast<std::size_t>(column)] + 0.5 : 0.5;
          ASSERT_NEAR(y[static_cast<std::size_t>(i)], std::max(sum, 0.0), inside ? 2e-4 : 0)
              << m << ' ' << k << ' ' << n << ' ' << i;
        }
      }
    }
  }
}

TEST_P(MatMulTest, NarrowWeightsAreThoseNumbers) {
  const std::int64_t k = 37;
  const std::int64_t n = 21;
  for (const Storage storage : {Storage::kFloat16, Storage::kBFloat16}) {
    std::vector<float> w = random_floats(k * n, 2);
    w[0] = 3e-6F;  // a denormal of float16
    w[1] = -0.0F;
    std::vector<std::uint16_t> bits;
    for (float& value : w) {
      bits.push_back(storage == Storage::kFloat16 ? narrow_float16(value) : narrow_bfloat16(value));
      value = storage == Storage::kFloat16 ? widen_float16(bits.back()) : widen_bfloat16(bits.back());
    }
    Aligned narrow(packed_matrix_bytes(k, n, storage));
    Aligned wide(packed_matrix_bytes(k, n, Storage::kFloat32));
    pack_matrix({bits.data(), storage, k, n, n, 1, narrow.data()});
    pack_matrix({w.data(), Storage::kFloat32, k, n, n, 1, wide.data()});
    for (const std::int64_t m : {1, 4}) {
      const std::vector<float> x = random_floats(m * k, 1);
      std::vector<float> y(static_cast<std::size_t>(m * n));
      std::vector<float> wanted = y;
      matmul_packed({x.data(), narrow.data(), storage, nullptr, nullptr, y.data(), m, k, n, k, n});
      matmul_packed({x.data(), wide.data(), Storage::kFloat32, nullptr, nullptr, wanted.data(), m, k, n, k, n});
      EXPECT_EQ(y, wanted);
    }
  }
}

TEST_P(MatMulTest, AlignmentChangesNoBit) {
  const std::int64_t k = 45;
  const std::int64_t n = 30;
  const std::vector<float> w = random_floats(k * n, 2);
  Aligned packed(packed_matrix_bytes(k, n, Storage::kFloat32));
  pack_matrix({w.data(), Storage::kFloat32, k, n, n, 1, packed.data()});
  const std::vector<float> x = random_floats(k, 1);
  std::vector<float> first;
  for (std::size_t shift = 0; shift < 9; ++shift) {
    std::vector<float> moved(shift);
    moved.insert(moved.end(), x.begin(), x.end());
    std::vector<float> y(static_cast<std::size_t>(n) + shift);
    matmul_packed(
        {moved.data() + shift, packed.data(), Storage::kFloat32, nullptr, nullptr, y.data() + shift, 1, k, n, k, n});
    const std::vector<float> got(y.begin() + static_cast<std::ptrdiff_t>(shift), y.end());
    if (shift == 0) first = got;
    EXPECT_EQ(got, first) << shift;
  }
}

TEST_P(MatMulTest, BothSidesWithAnyStrides) {
  const std::int64_t m = 7;
  const std::int64_t k = 19;
  const std::int64_t n = 37;
  const std::int64_t batch = 2;
  for (int form = 0; form < 4; ++form) {
    const bool a_turned = (form & 1) != 0;
    const bool b_turned = (form & 2) != 0;
    const std::vector<float> a = random_floats(batch * m * k, 1);
    const std::vector<float> b = random_floats(batch * k * n, 2);
    std::vector<float> y(static_cast<std::size_t>(batch * m * n), -7.0F);
    Aligned scratch(matmul_scratch_bytes(m, k, n));
    MatMul args;
    args.a = a.data();
    args.b = b.data();
    args.y = y.data();
    args.m = m, args.k = k, args.n = n;
    args.a_row_stride = a_turned ? 1 : k, args.a_column_stride = a_turned ? m : 1;
    args.b_row_stride = b_turned ? 1 : n, args.b_column_stride = b_turned ? k : 1;
    args.y_stride = n;
    args.scale = 0.25F;
    args.activation.function = Unary::kRelu;
    args.batch = batch;
    args.a_batch_stride = m * k, args.b_batch_stride = k * n, args.y_batch_stride = m * n;
    args.scratch = scratch.data();
    matmul(args);
    for (std::int64_t i = 0; i < batch * m * n; ++i) {
      const std::int64_t item = i / (m * n);
      const std::int64_t row = i / n % m;
      const std::int64_t column = i % n;
      double sum = 0;
      for (std::int64_t j = 0; j < k; ++j) {
        sum += static_cast<double>(
                   a[static_cast<std::size_t>(item * m * k + row * args.a_row_stride + j * args.a_column_stride)]) *
               b[static_cast<std::size_t>(item * k * n + j * args.b_row_stride + column * args.b_column_stride)];
      }
      ASSERT_NEAR(y[static_cast<std::size_t>(i)], std::max(0.0, 0.25 * sum), 1e-5) << form << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace leapp::native::kernels
