// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/native/op_table.h"
#include "engine/native/ops/arguments.h"
#include "engine/native/ops/common.h"
#include "engine/native/ops/element_places.h"
#include "engine/native/scalar/gather.h"

namespace leapp::native {
namespace {

void lower_gather(Lowering& b) {
  const ValueId x = b.input(0);
  b.bind(0, gathered(b, x, b.input(1), normal_axis(b.attr_int("axis", 0), b.rank(x))));
}

void lower_gather_elements(Lowering& b) {
  const ValueId x = b.input(0);
  const ValueId indices = b.input(1);
  GatherElementsArgs args;
  set_element_places(b, x, indices, args);
  args.width = static_cast<std::int32_t>(dtype_size(b.dtype(x)));
  const ValueId y = b.make(b.dtype(x), b.shape(indices));
  CallMaker make(kGatherElements, args);
  b.add(make.read(args.x, x).read(args.indices.data, indices).write(args.y, y).take());
  b.bind(0, y);
}

void lower_gather_nd(Lowering& b) {
  const ValueId x = b.input(0);
  const ValueId indices = b.input(1);
  const std::int64_t batch_dims = b.attr_int("batch_dims", 0);
  if (b.rank(indices) < 1 || batch_dims < 0 || batch_dims >= std::min(b.rank(x), b.rank(indices))) {
    refuse("indices that do not go with its input");
  }
  const std::int64_t depth = b.shape(indices).back();
  if (depth < 1 || depth > kMaxRank || depth > b.rank(x) - batch_dims) refuse("rows of indices that are too long");
  const std::span<const std::int64_t> dims = b.shape(x);
  const auto skip = static_cast<std::size_t>(batch_dims);
  GatherNdArgs args;
  args.indices = indices_of(b, indices);
  args.indices.count = product(std::span(b.shape(indices)).first(b.shape(indices).size() - 1));
  args.depth = static_cast<std::int32_t>(depth);
  args.batch = std::max<std::int64_t>(1, product(dims.first(skip)));
  const auto width = static_cast<std::int64_t>(dtype_size(b.dtype(x)));
  args.batch_bytes = product(dims.subspan(skip)) * width;
  args.slice = product(dims.subspan(skip + static_cast<std::size_t>(depth))) * width;
  for (std::size_t d = 0; d < static_cast<std::size_t>(depth); ++d) args.extents[d] = dims[skip + d];
  for (std::size_t i = 0; i < skip; ++i) {
    if (dims[i] != b.shape(indices)[i]) refuse("indices that do not go with its input");
  }
  Shape shape(b.shape(indices).begin(), b.shape(indices).end() - 1);
  shape.insert(shape.end(), dims.begin() + batch_dims + depth, dims.end());
  const ValueId y = b.make(b.dtype(x), std::move(shape));
  CallMaker make(kGatherNd, args);
  b.add(make.read(args.x, x).read(args.indices.data, indices).write(args.y, y).take());
  b.bind(0, y);
}

void one_hot(const OneHotArgs& args) noexcept {
  const auto* values = static_cast<const std::byte*>(args.values);
  auto* y = static_cast<std::byte*>(args.y);
  const auto width = static_cast<std::size_t>(args.width);
  for (std::int64_t o = 0; o < args.outer; ++o) {
    for (std::int64_t d = 0; d < args.depth; ++d) {
      for (std::int64_t i = 0; i < args.inner; ++i) {
        std::int64_t place = 0;
        const bool there = place_of(args.indices, o * args.inner + i, args.depth, place);
        std::memcpy(y, values + (there && place == d ? width : 0), width);
        y += width;
      }
    }
  }
}
constexpr Kernel kOneHot = kernel_of<&one_hot>("one hot");

void lower_one_hot(Lowering& b) {
  ValueId indices = b.input(0);
  if (b.dtype(indices) != DType::kInt32) indices = cast(b, indices, DType::kInt64);
  const auto depth = b.ints(b.input(1), "depth");
  const ValueId values = b.input(2);
  if (depth.size() != 1 || depth[0] < 0 || b.elements(values) != 2) refuse("expects one depth and two values");
  const std::int64_t axis = normal_axis(b.attr_int("axis", -1), b.rank(indices) + 1);
  const std::span<const std::int64_t> dims = b.shape(indices);
  OneHotArgs args;
  args.indices = indices_of(b, indices);
  args.outer = product(dims.first(static_cast<std::size_t>(axis)));
  args.inner = product(dims.subspan(static_cast<std::size_t>(axis)));
  args.depth = depth[0];
  args.width = static_cast<std::int32_t>(dtype_size(b.dtype(values)));
  Shape shape(dims.begin(), dims.end());
  shape.insert(shape.begin() + axis, depth[0]);
  const ValueId y = b.make(b.dtype(values), std::move(shape));
  CallMaker make(kOneHot, args);
  b.add(make.read(args.indices.data, indices).read(args.values, values).write(args.y, y).take());
  b.bind(0, y);
}

void trilu(const TriluArgs& args) noexcept {
  const auto* x = static_cast<const std::byte*>(args.x);
  auto* y = static_cast<std::byte*>(args.y);
  for (std::int64_t row = 0; row < args.batch * args.rows; ++row) {
    const std::int64_t diagonal =
        std::clamp<std::int64_t>(row % args.rows + args.k + (args.upper ? 0 : 1), 0, args.columns);
    const auto left = static_cast<std::size_t>(diagonal * args.width);
    const auto right = static_cast<std::size_t>((args.columns - diagonal) * args.width);
    if (args.upper) {
      std::memset(y, 0, left);
      std::memcpy(y + left, x + left, right);
    } else {
      std::memcpy(y, x, left);
      std::memset(y + left, 0, right);
    }
    x += left + right;
    y += left + right;
  }
}
constexpr Kernel kTrilu = kernel_of<&trilu>("trilu");

void lower_trilu(Lowering& b) {
  const ValueId x = b.input(0);
  if (b.rank(x) < 2) refuse("only for matrices");
  TriluArgs args;
  args.k = b.has_input(1) ? b.one_int(b.input(1), "k") : 0;
  args.k = std::clamp<std::int64_t>(args.k, -(std::int64_t{1} << 40U), std::int64_t{1} << 40U);
  args.columns = b.shape(x).back();
  args.rows = b.shape(x)[b.shape(x).size() - 2];
  args.batch = product(std::span(b.shape(x)).first(b.shape(x).size() - 2));
  args.width = static_cast<std::int32_t>(dtype_size(b.dtype(x)));
  args.upper = b.attr_int("upper", 1) != 0;
  const ValueId y = b.make_like(x);
  CallMaker make(kTrilu, args);
  b.add(make.read(args.x, x).write(args.y, y).take());
  b.bind(0, y);
}

constexpr std::array kIndexingOps = {
    LowerEntry{"Gather", lower_gather},      LowerEntry{"GatherElements", lower_gather_elements},
    LowerEntry{"GatherND", lower_gather_nd}, LowerEntry{"OneHot", lower_one_hot},
    LowerEntry{"Trilu", lower_trilu},
};

}  // namespace

LowerEntries indexing_ops() { return kIndexingOps; }

}  // namespace leapp::native
