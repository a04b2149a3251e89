// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention by heads: keys and values of a head are laid out in panels once, then some queries at a time have their
// scores, probabilities and results made while those are in the cache.
#include <algorithm>

#include "engine/native/kernels/kernels.h"
#include "engine/native/kernels/softmax_row.h"

namespace leapp::native::kernels {

namespace {

constexpr std::int64_t kQueries = 24;  // at a time

struct Scratch {
  char* keys;
  char* values;
  float* scores;
  std::size_t bytes;
};

[[nodiscard]] Scratch divide(const Attention& args) noexcept {
  const auto rounded = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
  const std::size_t keys = rounded(packed_matrix_bytes(args.width, args.keys, Storage::kFloat32));
  const std::size_t values = rounded(packed_matrix_bytes(args.keys, args.value_width, Storage::kFloat32));
  const std::size_t scores = rounded(static_cast<std::size_t>(kQueries * args.keys) * sizeof(float));
  if (args.scratch == nullptr) return {nullptr, nullptr, nullptr, keys + values + scores};
  char* start = static_cast<char*>(args.scratch);
  return {start, start + keys, reinterpret_cast<float*>(start + keys + values), keys + values + scores};
}

void pack_head(const Attention& args, std::int64_t head, const Scratch& scratch) noexcept {
  pack_matrix({.source = args.k + head * args.k_stride[0],
               .k = args.width,
               .n = args.keys,
               .row_stride = 1,
               .column_stride = args.k_stride[1],
               .to = scratch.keys});
  pack_matrix({.source = args.v + head * args.v_stride[0],
               .k = args.keys,
               .n = args.value_width,
               .row_stride = args.v_stride[1],
               .column_stride = 1,
               .to = scratch.values});
}

void attend(const Attention& args, std::int64_t head, std::int64_t first, const Scratch& scratch) noexcept {
  const std::int64_t count = std::min(kQueries, args.queries - first);
  matmul_packed({.x = args.q + head * args.q_stride[0] + first * args.q_stride[1],
                 .packed = scratch.keys,
                 .y = scratch.scores,
                 .m = count,
                 .k = args.width,
                 .n = args.keys,
                 .x_stride = args.q_stride[1],
                 .y_stride = args.keys});
  for (std::int64_t i = 0; i < count; ++i) {
    const float* mask = args.mask;
    if (mask != nullptr) mask += head * args.mask_stride[0] + (first + i) * args.mask_stride[1];
    softmax_of_scores(scratch.scores + i * args.keys, mask, args.keys, args.scale);
  }
  matmul_packed({.x = scratch.scores,
                 .packed = scratch.values,
                 .y = args.y + head * args.y_stride[0] + first * args.y_stride[1],
                 .m = count,
                 .k = args.keys,
                 .n = args.value_width,
                 .x_stride = args.keys,
                 .y_stride = args.y_stride[1]});
}

}  // namespace

std::size_t attention_scratch_bytes(const Attention& args) noexcept { return divide(args).bytes; }

void attention(const Attention& args) noexcept {
  const Scratch scratch = divide(args);
  for (std::int64_t head = 0; head < args.batch; ++head) {
    pack_head(args, head, scratch);
    for (std::int64_t first = 0; first < args.queries; first += kQueries) attend(args, head, first, scratch);
  }
}

}  // namespace leapp::native::kernels
