// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Images read between their pixels.
#include <array>

#include "codegen/kernel_table.h"
#include "engine/native/ops/arguments.h"

namespace leapp::codegen {
namespace {

using native::GridArgs;
using native::Taps;

constexpr std::array kSamplingSnippets = {
    Snippet{"interpolate", "", R"(// y[o][j][i] = sum over t of weights[j][t] * x[o][places[j][t]][i]
inline void interpolate(const float* x, const int64_t* places, const float* weights, float* y, int32_t outer, int32_t in,
                        int32_t out, int32_t inner, int32_t taps) {
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t j = 0; j < out; ++j) {
      for (int32_t i = 0; i < inner; ++i) {
        float sum = 0.0F;
        for (int32_t t = 0; t < taps; ++t) {
          const int32_t place = static_cast<int32_t>(places[j * taps + t]);
          sum += weights[j * taps + t] * x[(o * in + place) * inner + i];
        }
        y[(o * out + j) * inner + i] = sum;
      }
    }
  }
}
)"},
    Snippet{"Grid", "", R"(// An image, and what is read beside its pixels.
struct Grid {
  int32_t in[2];
  int32_t out[2];
  int32_t beyond;  // 0: zeros, 1: the border's pixel, 2: the image reflected
  bool corners;    // -1 and 1 are the middles of the outer pixels, else their edges
};
)"},
    Snippet{"grid_place", "Grid", R"(inline float within_image(float place, int32_t extent, const Grid& grid) {
  if (grid.beyond == 0) return place;
  if (grid.beyond == 2) {
    const float low = grid.corners ? 0.0F : -0.5F;
    const float span = static_cast<float>(extent) - (grid.corners ? 1.0F : 0.0F);
    if (span <= 0.0F) return 0.0F;
    const float distance = fabsf(place - low);
    const float rest = fmodf(distance, span);
    place = static_cast<int64_t>(floorf(distance / span)) % 2 == 0 ? rest + low : span - rest + low;
  }
  const float last = static_cast<float>(extent - 1);
  return place < 0.0F ? 0.0F : place > last ? last : place;
}

// What is no number, or far away, is outside of every image.
inline float grid_place(float coordinate, int32_t extent, bool corners) {
  const float size = static_cast<float>(extent);
  const float place = corners ? (coordinate + 1.0F) / 2.0F * (size - 1.0F) : ((coordinate + 1.0F) * size - 1.0F) / 2.0F;
  return place > -1e8F && place < 1e8F ? place : -1e8F;
}

inline float pixel(const float* plane, int32_t row, int32_t column, const Grid& grid) {
  if (row < 0 || column < 0 || row >= grid.in[0] || column >= grid.in[1]) return 0.0F;
  return plane[row * grid.in[1] + column];
}
)"},
    Snippet{"nearest_pixel", "grid_place",
            R"(inline float nearest_pixel(const float* plane, float row, float column, const Grid& grid) {
  const int32_t y = static_cast<int32_t>(nearbyintf(within_image(row, grid.in[0], grid)));
  const int32_t x = static_cast<int32_t>(nearbyintf(within_image(column, grid.in[1], grid)));
  return pixel(plane, y, x, grid);
}
)"},
    Snippet{"linear_pixel", "grid_place",
            R"(inline float linear_pixel(const float* plane, float row, float column, const Grid& grid) {
  row = within_image(row, grid.in[0], grid);
  column = within_image(column, grid.in[1], grid);
  const int32_t y = static_cast<int32_t>(floorf(row));
  const int32_t x = static_cast<int32_t>(floorf(column));
  const float down = row - static_cast<float>(y);
  const float across = column - static_cast<float>(x);
  return (1.0F - down) * ((1.0F - across) * pixel(plane, y, x, grid) + across * pixel(plane, y, x + 1, grid)) +
         down * ((1.0F - across) * pixel(plane, y + 1, x, grid) + across * pixel(plane, y + 1, x + 1, grid));
}
)"},
    Snippet{"cubic_pixel", "grid_place", R"(inline float cubic_weight(float distance) {
  const float a = -0.75F;
  const float d = fabsf(distance);
  return d <= 1.0F ? ((a + 2.0F) * d - (a + 3.0F)) * d * d + 1.0F : ((a * d - 5.0F * a) * d + 8.0F * a) * d - 4.0F * a;
}

inline float cubic_pixel(const float* plane, float row, float column, const Grid& grid) {
  const float top = floorf(row);
  const float left = floorf(column);
  float sum = 0.0F;
  for (int32_t i = -1; i < 3; ++i) {
    float line = 0.0F;
    for (int32_t j = -1; j < 3; ++j) {
      const int32_t y = static_cast<int32_t>(within_image(top + static_cast<float>(i), grid.in[0], grid));
      const int32_t x = static_cast<int32_t>(within_image(left + static_cast<float>(j), grid.in[1], grid));
      line += cubic_weight(column - left - static_cast<float>(j)) * pixel(plane, y, x, grid);
    }
    sum += cubic_weight(row - top - static_cast<float>(i)) * line;
  }
  return sum;
}
)"},
    Snippet{"grid_sample", "grid_place", R"(template <typename Sample>
inline void grid_sample(const float* x, const float* places, float* y, int32_t batch, int32_t channels, const Grid& grid,
                        Sample sample) {
  const int32_t count = grid.out[0] * grid.out[1];
  for (int32_t n = 0; n < batch; ++n) {
    for (int32_t i = 0; i < count; ++i) {
      const float* at = places + (n * count + i) * 2;
      const float row = grid_place(at[1], grid.in[0], grid.corners);
      const float column = grid_place(at[0], grid.in[1], grid.corners);
      for (int32_t c = 0; c < channels; ++c) {
        const int32_t plane = n * channels + c;
        y[plane * count + i] = sample(x + plane * grid.in[0] * grid.in[1], row, column, grid);
      }
    }
  }
}
)"},
};

void emit_interpolate(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Taps>();
  e.need("interpolate");
  e.call("interpolate", {e.pointer(call, &Taps::x), e.pointer(call, &Taps::places), e.pointer(call, &Taps::weights),
                         e.pointer(call, &Taps::y), e.number(args.outer), e.number(args.in), e.number(args.out),
                         e.number(args.inner), e.number(args.taps)});
}

void emit_grid_sample(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<GridArgs>();
  const char* sample = args.between == native::Between::kCubic     ? "cubic_pixel"
                       : args.between == native::Between::kNearest ? "nearest_pixel"
                                                                   : "linear_pixel";
  e.need("grid_sample");
  e.need(sample);
  const std::string grid = "Grid{{" + e.number(args.in[0]) + ", " + e.number(args.in[1]) + "}, {" +
                           e.number(args.out[0]) + ", " + e.number(args.out[1]) + "}, " +
                           std::to_string(static_cast<int>(args.beyond)) + ", " + (args.corners ? "true" : "false") +
                           "}";
  e.call("grid_sample", {e.pointer(call, &GridArgs::x), e.pointer(call, &GridArgs::grid), e.pointer(call, &GridArgs::y),
                         e.number(args.batch), e.number(args.channels), grid, sample});
}

static_assert(static_cast<int>(native::Beyond::kZeros) == 0 && static_cast<int>(native::Beyond::kBorder) == 1 &&
              static_cast<int>(native::Beyond::kReflection) == 2);

constexpr std::array kSamplingKernels = {
    KernelEntry{"interpolate", emit_interpolate},
    KernelEntry{"grid sample", emit_grid_sample},
};

}  // namespace

Family sampling_family() { return {kSamplingKernels, kSamplingSnippets}; }

}  // namespace leapp::codegen
