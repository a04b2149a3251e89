// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "codegen/kernel_table.h"

namespace leapp::codegen {
namespace {

using native::kernels::Convolution;
using native::kernels::ConvolutionShape;
using native::kernels::ConvolutionTransposed;
using native::kernels::Pooling;
using native::kernels::Window;

constexpr std::array kConvolutionSnippets = {
    Snippet{"Window", "",
            R"(// How a window moves along rows and columns of planes; layers with one axis have planes of one row.
struct Window {
  int32_t in[2];
  int32_t out[2];
  int32_t kernel[2];
  int32_t stride[2];
  int32_t dilation[2];
  int32_t pad[2];
};
)"},
    Snippet{"window_sum", "Window widened",
            R"(// One plane under one place of the window, times the weights; what is outside counts as 0.
template <typename Weight>
inline float window_sum(const float* plane, const Weight* weights, const Window& window, int32_t row, int32_t column) {
  float sum = 0.0F;
  for (int32_t i = 0; i < window.kernel[0]; ++i) {
    const int32_t y = row * window.stride[0] + i * window.dilation[0] - window.pad[0];
    if (y < 0 || y >= window.in[0]) continue;
    for (int32_t j = 0; j < window.kernel[1]; ++j) {
      const int32_t x = column * window.stride[1] + j * window.dilation[1] - window.pad[1];
      if (x < 0 || x >= window.in[1]) continue;
      sum += plane[y * window.in[1] + x] * widened(weights[i * window.kernel[1] + j]);
    }
  }
  return sum;
}
)"},
    Snippet{"convolution", "window_sum",
            R"(// weights are [out_channels][in_channels / groups][kernel]. bias may be null.
template <typename Weight, typename Function>
inline void convolution(const float* x, const Weight* weights, const float* bias, float* y, int32_t batch,
                        int32_t in_channels, int32_t out_channels, int32_t groups, const Window& window,
                        Function function) {
  const int32_t plane = window.in[0] * window.in[1];
  const int32_t taps = window.kernel[0] * window.kernel[1];
  const int32_t of_group = in_channels / groups;
  for (int32_t n = 0; n < batch; ++n, x += in_channels * plane) {
    for (int32_t channel = 0; channel < out_channels; ++channel) {
      const float* first = x + channel / (out_channels / groups) * of_group * plane;
      for (int32_t row = 0; row < window.out[0]; ++row) {
        for (int32_t column = 0; column < window.out[1]; ++column) {
          float sum = bias != nullptr ? bias[channel] : 0.0F;
          for (int32_t c = 0; c < of_group; ++c) {
            sum += window_sum(first + c * plane, weights + (channel * of_group + c) * taps, window, row, column);
          }
          *y++ = function(sum);
        }
      }
    }
  }
}
)"},
    Snippet{"transposed_sum", "Window",
            R"(// What one input plane adds to one number of the result of a transposed convolution.
inline float transposed_sum(const float* plane, const float* weights, const Window& window, int32_t row,
                            int32_t column) {
  float sum = 0.0F;
  for (int32_t i = 0; i < window.kernel[0]; ++i) {
    const int32_t y = row + window.pad[0] - i * window.dilation[0];
    if (y < 0 || y % window.stride[0] != 0 || y / window.stride[0] >= window.in[0]) continue;
    for (int32_t j = 0; j < window.kernel[1]; ++j) {
      const int32_t x = column + window.pad[1] - j * window.dilation[1];
      if (x < 0 || x % window.stride[1] != 0 || x / window.stride[1] >= window.in[1]) continue;
      sum += plane[y / window.stride[0] * window.in[1] + x / window.stride[1]] * weights[i * window.kernel[1] + j];
    }
  }
  return sum;
}
)"},
    Snippet{"convolution_transposed", "transposed_sum",
            R"(// weights are [in_channels][out_channels / groups][kernel]. bias may be null.
template <typename Function>
inline void convolution_transposed(const float* x, const float* weights, const float* bias, float* y, int32_t batch,
                                   int32_t in_channels, int32_t out_channels, int32_t groups, const Window& window,
                                   Function function) {
  const int32_t plane = window.in[0] * window.in[1];
  const int32_t taps = window.kernel[0] * window.kernel[1];
  const int32_t of_group = in_channels / groups;
  const int32_t out_of_group = out_channels / groups;
  for (int32_t n = 0; n < batch; ++n, x += in_channels * plane) {
    for (int32_t channel = 0; channel < out_channels; ++channel) {
      const int32_t first = channel / out_of_group * of_group;
      for (int32_t row = 0; row < window.out[0]; ++row) {
        for (int32_t column = 0; column < window.out[1]; ++column) {
          float sum = bias != nullptr ? bias[channel] : 0.0F;
          for (int32_t c = first; c < first + of_group; ++c) {
            const float* own = weights + (c * out_of_group + channel % out_of_group) * taps;
            sum += transposed_sum(x + c * plane, own, window, row, column);
          }
          *y++ = function(sum);
        }
      }
    }
  }
}
)"},
    Snippet{"max_pool", "Window",
            R"(inline void max_pool(const float* x, float* y, int32_t planes, const Window& window) {
  for (int32_t plane = 0; plane < planes; ++plane, x += window.in[0] * window.in[1]) {
    for (int32_t row = 0; row < window.out[0]; ++row) {
      for (int32_t column = 0; column < window.out[1]; ++column) {
        float largest = -INFINITY;
        for (int32_t i = 0; i < window.kernel[0] * window.kernel[1]; ++i) {
          const int32_t v = row * window.stride[0] + i / window.kernel[1] * window.dilation[0] - window.pad[0];
          const int32_t u = column * window.stride[1] + i % window.kernel[1] * window.dilation[1] - window.pad[1];
          if (v < 0 || v >= window.in[0] || u < 0 || u >= window.in[1]) continue;
          const float value = x[v * window.in[1] + u];
          if (value > largest || value != value) largest = value;
        }
        *y++ = largest;
      }
    }
  }
}
)"},
    Snippet{"average_pool", "Window",
            R"(// With `count_padding`, places in the padding, of which there are `pad_end` behind, count as zeros.
inline void average_pool(const float* x, float* y, int32_t planes, const Window& window, int32_t pad_end_0,
                         int32_t pad_end_1, bool count_padding) {
  for (int32_t plane = 0; plane < planes; ++plane, x += window.in[0] * window.in[1]) {
    for (int32_t row = 0; row < window.out[0]; ++row) {
      for (int32_t column = 0; column < window.out[1]; ++column) {
        float sum = 0.0F;
        int32_t count = 0;
        for (int32_t i = 0; i < window.kernel[0] * window.kernel[1]; ++i) {
          const int32_t v = row * window.stride[0] + i / window.kernel[1] * window.dilation[0] - window.pad[0];
          const int32_t u = column * window.stride[1] + i % window.kernel[1] * window.dilation[1] - window.pad[1];
          const bool inside = v >= 0 && v < window.in[0] && u >= 0 && u < window.in[1];
          if (inside) sum += x[v * window.in[1] + u];
          const bool padding = v < window.in[0] + pad_end_0 && u < window.in[1] + pad_end_1;
          if (inside || (count_padding && padding)) ++count;
        }
        *y++ = count == 0 ? 0.0F : sum / static_cast<float>(count);
      }
    }
  }
}
)"},
};

std::string pair(Emitter& e, const std::int64_t (&numbers)[2]) {
  return fmt::format("{{{}, {}}}", e.number(numbers[0]), e.number(numbers[1]));
}

std::string window_text(Emitter& e, const std::int64_t (&in)[2], const std::int64_t (&out)[2], const Window& window) {
  return fmt::format("Window{{{}, {}, {}, {}, {}, {}}}", pair(e, in), pair(e, out), pair(e, window.kernel),
                     pair(e, window.stride), pair(e, window.dilation), pair(e, window.pad));
}

std::vector<std::string> sizes(Emitter& e, const ConvolutionShape& shape) {
  return {e.number(shape.batch), e.number(shape.in_channels), e.number(shape.out_channels), e.number(shape.groups),
          window_text(e, shape.in, shape.out, shape.window)};
}

void emit_convolution(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Convolution>();
  const native::ValueId weights = e.operand(call, &Convolution::packed);
  if (e.dtype(weights) == DType::kFloat16) e.need("widened float16");
  if (e.dtype(weights) == DType::kBFloat16) e.need("widened bfloat16");
  e.need("convolution");
  std::vector<std::string> list = {e.pointer(call, &Convolution::x), e.pointer(weights),
                                   e.pointer(call, &Convolution::bias), e.pointer(call, &Convolution::y)};
  const auto more = sizes(e, args.shape);
  list.insert(list.end(), more.begin(), more.end());
  list.push_back(e.lambda(args.activation));
  e.call("convolution", list);
}

void emit_transposed(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<ConvolutionTransposed>();
  e.need("convolution_transposed");
  std::vector<std::string> list = {
      e.pointer(call, &ConvolutionTransposed::x), e.pointer(call, &ConvolutionTransposed::weights),
      e.pointer(call, &ConvolutionTransposed::bias), e.pointer(call, &ConvolutionTransposed::y)};
  const auto more = sizes(e, args.shape);
  list.insert(list.end(), more.begin(), more.end());
  list.push_back(e.lambda(args.activation));
  e.call("convolution_transposed", list);
}

void emit_pooling(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Pooling>();
  std::vector<std::string> list = {e.pointer(call, &Pooling::x), e.pointer(call, &Pooling::y), e.number(args.planes),
                                   window_text(e, args.in, args.out, args.window)};
  if (args.average) {
    list.insert(list.end(),
                {e.number(args.pad_end[0]), e.number(args.pad_end[1]), args.count_padding ? "true" : "false"});
  }
  e.need(args.average ? "average_pool" : "max_pool");
  e.call(args.average ? "average_pool" : "max_pool", list);
}

constexpr std::array kConvolutionKernels = {
    KernelEntry{"convolution", emit_convolution},
    KernelEntry{"convolution transposed", emit_transposed},
    KernelEntry{"pooling", emit_pooling},
};

}  // namespace

Family convolution_family() { return {kConvolutionKernels, kConvolutionSnippets}; }

}  // namespace leapp::codegen
