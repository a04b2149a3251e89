// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/native/kernels/levels_test.h"
#include "engine/native/kernels/storage.h"

namespace leapp::native::kernels {
namespace {

class ConvolutionTest : public LevelTest {};
INSTANTIATE_TEST_SUITE_P(Levels, ConvolutionTest, all_levels(), level_name);

struct Case {
  std::int64_t batch, in_channels, out_channels, groups;
  std::int64_t in[2], kernel[2], stride[2], dilation[2], pad[2], pad_end[2];
};

ConvolutionShape shape_of(const Case& one, bool transposed) {
  ConvolutionShape shape{one.batch, one.in_channels, one.out_channels, one.groups};
  for (int i = 0; i < 2; ++i) {
    shape.in[i] = one.in[i];
    shape.window.kernel[i] = one.kernel[i];
    shape.window.stride[i] = one.stride[i];
    shape.window.dilation[i] = one.dilation[i];
    shape.window.pad[i] = one.pad[i];
    const std::int64_t reach = (one.kernel[i] - 1) * one.dilation[i] + 1;
    shape.out[i] = transposed ? (one.in[i] - 1) * one.stride[i] + reach - one.pad[i] - one.pad_end[i]
                              : (one.in[i] + one.pad[i] + one.pad_end[i] - reach) / one.stride[i] + 1;
  }
  return shape;
}

const Case kCases[] = {
    {1, 4, 32, 1, {20, 20}, {8, 8}, {4, 4}, {1, 1}, {0, 0}, {0, 0}},  // as in policies on pictures
    {2, 3, 5, 1, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},    // padded
    {1, 6, 4, 2, {1, 30}, {1, 5}, {1, 2}, {1, 2}, {0, 4}, {0, 4}},    // one axis, groups, dilation, stride
    {1, 8, 8, 8, {10, 21}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},   // depthwise
    {1, 5, 10, 5, {12, 9}, {3, 2}, {2, 2}, {1, 1}, {1, 0}, {0, 1}},   // depthwise with two each, stride, uneven padding
    {1, 7, 2, 1, {6, 40}, {3, 3}, {2, 1}, {2, 1}, {2, 1}, {0, 1}},    // few channels out
    {1, 2, 1, 1, {1, 4}, {1, 9}, {1, 1}, {1, 1}, {0, 6}, {0, 5}},     // more padding than input
    {1, 16, 17, 1, {7, 7}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},   // one number each
    {3, 2, 20, 1, {5, 5}, {2, 2}, {3, 3}, {1, 1}, {0, 0}, {0, 0}},    // a stride that leaves a rest
};

std::string text_of(const ConvolutionShape& shape) {
  std::string text;
  for (const std::int64_t number : {shape.in_channels, shape.out_channels, shape.groups, shape.window.kernel[0],
                                    shape.window.kernel[1], shape.window.stride[0], shape.window.stride[1]}) {
    text += std::to_string(number) + ' ';
  }
  return text;
}

/// f(input position, weight position, output position) for each product there is.
template <class F>
void for_each_product(const ConvolutionShape& s, F f) {
  const std::int64_t in_group = s.in_channels / s.groups;
  const std::int64_t out_group = s.out_channels / s.groups;
  for (std::int64_t item = 0; item < s.batch; ++item) {
    for (std::int64_t o = 0; o < s.out_channels; ++o) {
      for (std::int64_t i = 0; i < in_group; ++i) {
        const std::int64_t plane = item * s.in_channels + o / out_group * in_group + i;
        for (std::int64_t at = 0; at < s.out[0] * s.out[1] * s.window.kernel[0] * s.window.kernel[1]; ++at) {
          const std::int64_t kx = at % s.window.kernel[1];
          const std::int64_t ky = at / s.window.kernel[1] % s.window.kernel[0];
          const std::int64_t window = at / (s.window.kernel[0] * s.window.kernel[1]);
          const std::int64_t y = window / s.out[1] * s.window.stride[0] + ky * s.window.dilation[0] - s.window.pad[0];
          const std::int64_t x = window % s.out[1] * s.window.stride[1] + kx * s.window.dilation[1] - s.window.pad[1];
          if (y < 0 || x < 0 || y >= s.in[0] || x >= s.in[1]) continue;
          f(static_cast<std::size_t>((plane * s.in[0] + y) * s.in[1] + x),
            static_cast<std::size_t>(((o * in_group + i) * s.window.kernel[0] + ky) * s.window.kernel[1] + kx),
            static_cast<std::size_t>((item * s.out_channels + o) * s.out[0] * s.out[1] + window));
        }
      }
    }
  }
}

std::int64_t weight_count(const ConvolutionShape& s) {
  return s.out_channels * (s.in_channels / s.groups) * s.window.kernel[0] * s.window.kernel[1];
}

TEST_P(ConvolutionTest, IsTheSumOverItsWindows) {
  for (const Case& one : kCases) {
    const ConvolutionShape shape = shape_of(one, false);
    const std::vector<float> x = random_floats(shape.batch * shape.in_channels * shape.in[0] * shape.in[1], 1);
    std::vector<float> weights = random_floats(weight_count(shape), 2);
    const std::vector<float> bias = random_floats(shape.out_channels, 3);
    const std::int64_t plane = shape.out[0] * shape.out[1];
    for (const Storage storage : {Storage::kFloat32, Storage::kFloat16, Storage::kBFloat16}) {
      std::vector<std::uint16_t> bits;
      if (storage != Storage::kFloat32) {
        for (float& w : weights) {
          bits.push_back(storage == Storage::kFloat16 ? narrow_float16(w) : narrow_bfloat16(w));
          w = storage == Storage::kFloat16 ? widen_float16(bits.back()) : widen_bfloat16(bits.back());
        }
      }
      Aligned packed(packed_convolution_bytes(shape, storage));
      const void* source = storage == Storage::kFloat32 ? static_cast<const void*>(weights.data()) : bits.data();
      pack_convolution({shape, source, storage, packed.data()});
      Aligned scratch(convolution_scratch_bytes(shape));
      std::vector<float> y(static_cast<std::size_t>(shape.batch * shape.out_channels * plane), NAN);
      for (const Unary function : {Unary::kIdentity, Unary::kRelu, Unary::kTanh}) {
        convolution({shape, x.data(), packed.data(), storage, bias.data(), y.data(), {function}, scratch.data()});
        std::vector<double> wanted(y.size());
        for_each_product(shape, [&](std::size_t i, std::size_t w, std::size_t o) {
          wanted[o] += static_cast<double>(x[i]) * weights[w];
        });
        for (std::size_t i = 0; i < y.size(); ++i) {
          const std::int64_t channel = static_cast<std::int64_t>(i) / plane % shape.out_channels;
          const double sum = wanted[i] + bias[static_cast<std::size_t>(channel)];
          const double result = function == Unary::kTanh   ? std::tanh(sum)
                                : function == Unary::kRelu ? std::max(sum, 0.0)
                                                           : sum;
          ASSERT_NEAR(y[i], result, 2e-5) << text_of(shape) << "at " << i;
        }
      }
    }
  }
}

TEST_P(ConvolutionTest, TransposedIsTheGradientOfTheOther) {
  for (const Case& one : kCases) {
    if (one.pad[1] == 6) continue;  // would leave nothing
    const ConvolutionShape shape = shape_of(one, true);
    // The convolution whose products these are, from the output back to the input.
    ConvolutionShape back = shape;
    std::swap(back.in_channels, back.out_channels);
    for (int i = 0; i < 2; ++i) std::swap(back.in[i], back.out[i]);
    const std::vector<float> x = random_floats(shape.batch * shape.in_channels * shape.in[0] * shape.in[1], 1);
    const std::vector<float> weights = random_floats(weight_count(back), 2);
    const std::vector<float> bias = random_floats(shape.out_channels, 3);
    const std::int64_t plane = shape.out[0] * shape.out[1];
    std::vector<float> y(static_cast<std::size_t>(shape.batch * shape.out_channels * plane), NAN);
    convolution_transposed({shape, x.data(), weights.data(), bias.data(), y.data(), {Unary::kRelu}});
    std::vector<double> wanted(y.size());
    for_each_product(back, [&](std::size_t i, std::size_t w, std::size_t o) {
      wanted[i] += static_cast<double>(x[o]) * weights[w];
    });
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double sum =
          wanted[i] + bias[static_cast<std::size_t>(static_cast<std::int64_t>(i) / plane % shape.out_channels)];
      ASSERT_NEAR(y[i], std::max(sum, 0.0), 2e-5) << text_of(shape) << "at " << i;
    }
  }
}

TEST(PoolingTest, MaximumAndAverageWithPaddingAndDilation) {
  for (int form = 0; form < 3; ++form) {
    const std::vector<float> x = random_floats(2 * 7 * 9, 1);
    Pooling args;
    args.planes = 2;
    args.in[0] = 7, args.in[1] = 9;
    args.window = {{3, 2}, {2, 3}, {2, 1}, {1, 1}};
    args.pad_end[0] = 2, args.pad_end[1] = 2;
    args.out[0] = 4, args.out[1] = 5;  // ceil_mode: the last windows reach beyond the padding
    args.average = form != 0;
    args.count_padding = form == 2;
    std::vector<float> y(2 * 4 * 5);
    args.x = x.data();
    args.y = y.data();
    pooling(args);
    for (std::int64_t i = 0; i < 2 * 4 * 5; ++i) {
      double sum = 0;
      double top = -1e30;
      int inside = 0;
      int counted = 0;
      for (std::int64_t tap = 0; tap < 6; ++tap) {
        const std::int64_t row = i / 5 % 4 * 2 - 1 + tap / 2 * 2;
        const std::int64_t column = i % 5 * 3 - 1 + tap % 2;
        if (row < 9 && column < 11) ++counted;
        if (row < 0 || row >= 7 || column < 0 || column >= 9) continue;
        const float value = x[static_cast<std::size_t>((i / 20 * 7 + row) * 9 + column)];
        ++inside, sum += value, top = std::max<double>(top, value);
      }
      if (inside == 0) continue;
      ASSERT_NEAR(y[static_cast<std::size_t>(i)], form == 0 ? top : sum / (form == 1 ? inside : counted), 1e-6)
          << form << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace leapp::native::kernels
