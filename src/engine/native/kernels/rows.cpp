// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax and the normalisations: rows that are gone through several times while they are in the cache.
#include <cmath>
#include <limits>

#include "engine/native/kernels/dispatch.h"
#include "engine/native/kernels/kernels.h"
#include "engine/native/kernels/softmax_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/kernels/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/native/kernels/math_inl.h"
#include "engine/native/kernels/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace leapp::native::kernels {
namespace HWY_NAMESPACE {

/// A row whose maximum is minus infinity has no probabilities: NaN, as in ONNX Runtime and torch.
void softmax_one(const float* x, float* y, std::int64_t n, bool log) {
  constexpr RowTag d;
  const float infinity = std::numeric_limits<float>::infinity();
  const RowVector top = hn::Set(d, fold_row(x, n, -infinity, -infinity, SameNumber(), Largest()));
  if (log) {
    const auto of = [top](RowVector v) HWY_ATTR { return exp_of(RowTag(), hn::Sub(v, top)); };
    const float sum = fold_row(x, n, 0.0F, -infinity, of, Sum());
    const RowVector shift = hn::Set(d, std::log(sum));
    map_row(x, y, n, [top, shift](RowVector v, std::int64_t) HWY_ATTR { return hn::Sub(hn::Sub(v, top), shift); });
    return;
  }
  map_row(x, y, n, [top](RowVector v, std::int64_t) HWY_ATTR { return exp_of(RowTag(), hn::Sub(v, top)); });
  const float sum = fold_row(y, n, 0.0F, 0.0F, SameNumber(), Sum());
  const RowVector factor = hn::Set(d, 1.0F / sum);
  map_row(y, y, n, [factor](RowVector v, std::int64_t) HWY_ATTR { return hn::Mul(v, factor); });
}

void attend_one(float* x, const float* mask, std::int64_t n, float scale) {
  constexpr RowTag d;
  const RowVector factor = hn::Set(d, scale);
  if (mask == nullptr) {
    map_row(x, x, n, [factor](RowVector v, std::int64_t) HWY_ATTR { return hn::Mul(v, factor); });
  } else {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    map_row(x, x, n, [=](RowVector v, std::int64_t i) HWY_ATTR {
      const RowVector added = i + lanes <= n ? hn::LoadU(d, mask + i) : load_part(mask + i, n - i, 0.0F);
      return hn::Add(hn::Mul(v, factor), added);
    });
  }
  softmax_one(x, x, n, false);
}

/// One number per column of the row, or one for all.
struct Affine {
  const float* data;
  bool per_column;
};

HWY_INLINE RowVector affine_at(const Affine& affine, std::int64_t i, std::int64_t n, float neutral) {
  constexpr RowTag d;
  if (affine.data == nullptr) return hn::Set(d, neutral);
  if (!affine.per_column) return hn::Set(d, affine.data[0]);
  return i + static_cast<std::int64_t>(hn::Lanes(d)) <= n ? hn::LoadU(d, affine.data + i)
                                                          : load_part(affine.data + i, n - i, 0.0F);
}

void normalise_row(const Normalise& args, std::int64_t row) {
  constexpr RowTag d;
  const std::int64_t n = args.columns;
  const float* x = args.x + row * n;
  const auto count = static_cast<float>(n);
  const float mean = args.root_mean_square ? 0.0F : fold_row(x, n, 0.0F, 0.0F, SameNumber(), Sum()) / count;
  const RowVector middle = hn::Set(d, mean);
  const auto square = [middle](RowVector v) HWY_ATTR { return hn::Mul(hn::Sub(v, middle), hn::Sub(v, middle)); };
  const float variance = fold_row(x, n, 0.0F, mean, square, Sum()) / count;
  const float inverse = 1.0F / std::sqrt(variance + args.epsilon);
  if (args.mean != nullptr) args.mean[row] = mean;
  if (args.inverse_deviation != nullptr) args.inverse_deviation[row] = inverse;
  const std::int64_t at = row % args.affine_rows * args.affine_row_stride;
  const bool per_column = args.affine_column_stride != 0;
  const Affine scale{args.scale == nullptr ? nullptr : args.scale + at, per_column};
  const Affine bias{args.bias == nullptr ? nullptr : args.bias + at, per_column};
  const RowVector factor = hn::Set(d, inverse);
  map_row(x, args.y + row * n, n, [=](RowVector v, std::int64_t i) HWY_ATTR {
    const RowVector unit = hn::Mul(hn::Sub(v, middle), factor);
    return hn::MulAdd(unit, affine_at(scale, i, n, 1.0F), affine_at(bias, i, n, 0.0F));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace leapp::native::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leapp::native::kernels {

LEAPP_KERNEL_TABLE(softmax_one);
LEAPP_KERNEL_TABLE(attend_one);
LEAPP_KERNEL_TABLE(normalise_row);

void softmax(const Softmax& args) noexcept {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    LEAPP_KERNEL(softmax_one)(args.x + row * args.columns, args.y + row * args.columns, args.columns, args.log);
  }
}

void softmax_of_scores(float* scores, const float* mask, std::int64_t n, float scale) noexcept {
  LEAPP_KERNEL(attend_one)(scores, mask, n, scale);
}

void normalise(const Normalise& args) noexcept {
  for (std::int64_t row = 0; row < args.rows; ++row) LEAPP_KERNEL(normalise_row)(args, row);
}

}  // namespace leapp::native::kernels
#endif
