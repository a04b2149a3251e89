// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that move elements to places that are known when loading: all of them are copies with strides.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/common.h"
#include "engine/native/scalar/gather.h"

namespace leapp::native {
namespace {

std::size_t index(std::int64_t axis) { return static_cast<std::size_t>(axis); }

void lower_transpose(Lowering& b) {
  const ValueId x = b.input(0);
  std::vector<std::int64_t> order(b.shape(x).size());
  std::iota(order.rbegin(), order.rend(), 0);
  if (const auto given = b.attr_ints("perm")) order = *given;
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) refuse("axes that are not a permutation");
  }
  if (sorted.size() != b.shape(x).size()) refuse("axes that are not a permutation");
  b.bind(0, transposed(b, x, order));
}

void lower_expand(Lowering& b) {
  const ValueId x = b.input(0);
  const Shape shape = broadcast(b.shape(x), b.ints(b.input(1), "the shape"));
  (void)b.make(b.dtype(x), shape);
  const ValueId y = expanded(b, x, shape);
  b.bind(0, y == x ? b.reshaped(x, shape) : y);
}

// [2,3] tiled by [4,5] is [4,2,5,3] with strides of 0.
void lower_tile(Lowering& b) {
  const ValueId x = b.input(0);
  const Shape repeats = b.ints(b.input(1), "repeats");
  if (repeats.size() != b.shape(x).size()) refuse("one repeat for each axis expected");
  const auto strides = dense_strides(b.shape(x));
  Shape result;
  CopyRequest request{.from = x};
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    std::int64_t extent = 0;
    if (repeats[i] < 0 || __builtin_mul_overflow(repeats[i], b.shape(x)[i], &extent)) refuse("repeats out of range");
    result.push_back(extent);
    request.shape.insert(request.shape.end(), {repeats[i], b.shape(x)[i]});
    request.from_stride.insert(request.from_stride.end(), {0, strides[i]});
  }
  const ValueId y = b.make(b.dtype(x), result);
  request.to = y;
  request.to_stride = dense_strides(request.shape);
  add_copy(b, request);
  b.bind(0, y);
}

void lower_concat(Lowering& b) {
  const ValueId first = b.input(0);
  const std::int64_t axis = normal_axis(b.attr_int("axis", 0), b.rank(first));
  Shape shape = b.shape(first);
  shape[index(axis)] = 0;
  for (std::size_t i = 0; i < b.input_count(); ++i) {
    const ValueId part = b.input(i);
    Shape other = b.shape(part);
    if (other.size() != shape.size() || b.dtype(part) != b.dtype(first)) refuse("its inputs do not go together");
    const std::int64_t extent = std::exchange(other[index(axis)], shape[index(axis)]);
    if (other != shape) refuse("its inputs do not go together");
    if (__builtin_add_overflow(shape[index(axis)], extent, &shape[index(axis)])) refuse("too long");
  }
  const ValueId y = b.make(b.dtype(first), shape);
  const auto strides = dense_strides(shape);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < b.input_count(); ++i) {
    const ValueId part = b.input(i);
    add_copy(b, {part, y, b.shape(part), dense_strides(b.shape(part)), strides, 0, at * strides[index(axis)]}, false);
    at += b.shape(part)[index(axis)];
  }
  b.bind(0, y);
}

/// Extents [begin, begin + extent) of an axis; a view where the elements lie together.
ValueId part_of(Lowering& b, ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t extent) {
  Shape shape = b.shape(x);
  shape[index(axis)] = extent;
  const auto strides = dense_strides(b.shape(x));
  const std::int64_t offset = begin * strides[index(axis)];
  if (product(std::span(shape).first(index(axis))) == 1) {
    return b.view(x, b.dtype(x), shape, static_cast<std::uint64_t>(offset) * dtype_size(b.dtype(x)));
  }
  const ValueId y = b.make(b.dtype(x), shape);
  add_copy(b, {x, y, shape, strides, dense_strides(shape), offset, 0});
  return y;
}

void lower_split(Lowering& b) {
  const ValueId x = b.input(0);
  const std::int64_t axis = normal_axis(b.attr_int("axis", 0), b.rank(x));
  const std::int64_t extent = b.shape(x)[index(axis)];
  const auto count = static_cast<std::int64_t>(b.output_count());
  auto sizes = axes_of(b, 1, "split");
  if (!sizes) {
    const std::int64_t each = (extent + count - 1) / count;
    sizes.emplace();
    for (std::int64_t i = 0; i < count; ++i) sizes->push_back(std::clamp<std::int64_t>(extent - i * each, 0, each));
  }
  if (static_cast<std::int64_t>(sizes->size()) != count) refuse("one size for each output expected");
  std::int64_t at = 0;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const std::int64_t size = (*sizes)[i];
    if (size < 0 || size > extent - at) refuse("sizes that do not fit");
    if (b.has_output(i)) b.bind(i, part_of(b, x, axis, at, size));
    at += size;
  }
}

struct Cut {
  std::int64_t begin = 0;
  std::int64_t extent = 0;
  std::int64_t step = 1;
};

Cut cut_of(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) refuse("a step of 0");
  const auto wrap = [&](std::int64_t at) { return at < 0 ? at + extent : at; };
  if (step > 0) {
    begin = std::clamp<std::int64_t>(wrap(begin), 0, extent);
    end = std::clamp<std::int64_t>(wrap(end), 0, extent);
    return {begin, end <= begin ? 0 : (end - begin - 1) / step + 1, step};
  }
  begin = std::clamp<std::int64_t>(wrap(begin), -1, extent - 1);
  end = std::clamp<std::int64_t>(wrap(end), -1, extent - 1);
  return {begin, begin <= end ? 0 : (begin - end - 1) / -step + 1, step};
}

void lower_slice(Lowering& b) {
  const ValueId x = b.input(0);
  const auto get = [&](std::size_t input, std::string_view name) { return axes_of(b, input, name); };
  const auto starts = get(1, "starts");
  const auto ends = get(2, "ends");
  if (!starts || !ends) refuse("no starts and ends");
  std::vector<std::int64_t> axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = get(3, "axes")) axes = *given;
  std::vector<std::int64_t> steps(starts->size(), 1);
  if (b.has_input(4)) steps = b.ints(b.input(4), "steps");
  if (ends->size() != starts->size() || axes.size() != starts->size() || steps.size() != starts->size()) {
    refuse("starts, ends, axes and steps of different lengths");
  }
  Shape shape = b.shape(x);
  auto strides = dense_strides(shape);
  std::int64_t offset = 0;
  std::vector<bool> seen(shape.size(), false);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = index(normal_axis(axes[i], b.rank(x)));
    if (seen[axis]) refuse("an axis twice");
    seen[axis] = true;
    const Cut cut = cut_of((*starts)[i], (*ends)[i], steps[i], shape[axis]);
    shape[axis] = cut.extent;
    if (cut.extent > 0) offset += cut.begin * strides[axis];
    // A step that is taken at most once may be as long as it likes.
    strides[axis] = cut.extent > 1 ? strides[axis] * cut.step : strides[axis];
  }
  // Elements that lie together are a part of the input's memory.
  const ValueId y = b.make(b.dtype(x), shape);
  const auto dense = dense_strides(shape);
  bool together = true;
  for (std::size_t i = 0; i < shape.size(); ++i) together = together && (shape[i] <= 1 || strides[i] == dense[i]);
  if (together && b.elements(y) > 0) {
    return b.bind(0, b.view(x, b.dtype(x), shape, static_cast<std::uint64_t>(offset) * dtype_size(b.dtype(x))));
  }
  add_copy(b, {x, y, shape, strides, dense, offset, 0});
  b.bind(0, y);
}

/// For each place of the padded axis, the place it comes from.
std::vector<std::int64_t> padded_indices(std::string_view mode, std::int64_t extent, std::int64_t before,
                                         std::int64_t after) {
  std::vector<std::int64_t> from;
  if (extent == 0 || before + after > (1 << 24)) refuse("pads too much");
  for (std::int64_t i = -before; i < extent + after; ++i) {
    std::int64_t at = i;
    if (mode == "edge") {
      at = std::clamp<std::int64_t>(i, 0, extent - 1);
    } else if (mode == "wrap") {
      at = ((i % extent) + extent) % extent;
    } else {
      const std::int64_t period = std::max<std::int64_t>(1, 2 * (extent - 1));
      at = ((i % period) + period) % period;
      if (at >= extent) at = period - at;
    }
    from.push_back(at);
  }
  return from;
}

struct Pads {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
};

Pads pads_of(Lowering& b, ValueId x) {
  const auto given = axes_of(b, 1, "pads");
  if (!given) refuse("no pads");
  Pads pads{std::vector<std::int64_t>(b.shape(x).size()), std::vector<std::int64_t>(b.shape(x).size())};
  std::vector<std::int64_t> axes(b.shape(x).size());
  std::iota(axes.begin(), axes.end(), 0);
  if (b.has_input(3)) axes = b.ints(b.input(3), "axes");
  if (given->size() != 2 * axes.size()) refuse("two pads for each axis expected");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = index(normal_axis(axes[i], b.rank(x)));
    pads.before[axis] = (*given)[i];
    pads.after[axis] = (*given)[axes.size() + i];
    for (const std::int64_t pad : {pads.before[axis], pads.after[axis]}) {
      if (pad < -(std::int64_t{1} << 40U) || pad > (std::int64_t{1} << 40U)) refuse("pads out of range");
    }
  }
  return pads;
}

void lower_pad(Lowering& b) {
  ValueId x = b.input(0);
  const std::string mode = b.attr_string("mode", "constant");
  Pads pads = pads_of(b, x);
  // What is cut off first is a slice.
  for (std::size_t i = 0; i < pads.before.size(); ++i) {
    const std::int64_t begin = std::max<std::int64_t>(0, -pads.before[i]);
    const std::int64_t extent = b.shape(x)[i] - begin + std::min<std::int64_t>(0, pads.after[i]);
    if (extent < 0) refuse("cuts off more than there is");
    if (extent != b.shape(x)[i]) x = part_of(b, x, static_cast<std::int64_t>(i), begin, extent);
    pads.before[i] = std::max<std::int64_t>(0, pads.before[i]);
    pads.after[i] = std::max<std::int64_t>(0, pads.after[i]);
  }
  if (mode != "constant") {
    if (mode != "reflect" && mode != "edge" && mode != "wrap") refuse(fmt::format("mode {}", quote(mode)));
    for (std::size_t i = 0; i < pads.before.size(); ++i) {
      if (pads.before[i] == 0 && pads.after[i] == 0) continue;
      b.expect_room(static_cast<std::uint64_t>(pads.before[i] + b.shape(x)[i] + pads.after[i]) * sizeof(std::int64_t));
      x = gathered(b, x, b.constant_ints(padded_indices(mode, b.shape(x)[i], pads.before[i], pads.after[i])),
                   static_cast<std::int64_t>(i));
    }
    return b.bind(0, b.reshaped(x, b.shape(x)));
  }
  ValueId fill = b.optional_input(2);
  if (fill == kNoValue && b.has_attr("value")) fill = cast(b, b.constant_float(b.attr_float("value", 0)), b.dtype(x));
  Shape shape = b.shape(x);
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] += pads.before[i] + pads.after[i];
  ValueId y = kNoValue;
  if (fill == kNoValue || b.is_constant(fill)) {
    y = filled(b, b.dtype(x), shape, element_bytes(b, fill, b.dtype(x)));
  } else {
    (void)b.make(b.dtype(x), shape);
    y = b.make(b.dtype(x), shape);
    add_copy(b, {fill, y, shape, std::vector<std::int64_t>(shape.size(), 0), dense_strides(shape)});
  }
  const auto strides = dense_strides(shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) offset += pads.before[i] * strides[i];
  add_copy(b, {x, y, b.shape(x), dense_strides(b.shape(x)), strides, 0, offset}, false);
  b.bind(0, y);
}

// Blocks of an image to channels and back: a transpose of what has two more axes.
void lower_depth_to_space(Lowering& b) {
  const ValueId x = b.input(0);
  const std::int64_t block = b.attr_int("blocksize", 0);
  if (b.rank(x) != 4 || block < 1 || block > (1 << 16)) refuse("expects an image and a blocksize");
  const Shape in = b.shape(x);
  if (b.op() == "SpaceToDepth") {
    if (in[2] % block != 0 || in[3] % block != 0) refuse("blocks that do not fit");
    const ValueId parts = b.reshaped(x, {in[0], in[1], in[2] / block, block, in[3] / block, block});
    return b.bind(0, b.reshaped(transposed(b, parts, {0, 3, 5, 1, 2, 4}),
                                {in[0], in[1] * block * block, in[2] / block, in[3] / block}));
  }
  if (in[1] % (block * block) != 0) refuse("blocks that do not fit");
  const std::int64_t channels = in[1] / (block * block);
  const bool crd = b.attr_string("mode", "DCR") == "CRD";
  const ValueId parts = b.reshaped(
      x, crd ? Shape{in[0], channels, block, block, in[2], in[3]} : Shape{in[0], block, block, channels, in[2], in[3]});
  const ValueId moved = transposed(
      b, parts, crd ? std::vector<std::int64_t>{0, 1, 4, 2, 5, 3} : std::vector<std::int64_t>{0, 3, 4, 1, 5, 2});
  b.bind(0, b.reshaped(moved, {in[0], channels, in[2] * block, in[3] * block}));
}

constexpr std::array kLayoutOps = {
    LowerEntry{"Transpose", lower_transpose},
    LowerEntry{"Expand", lower_expand},
    LowerEntry{"Tile", lower_tile},
    LowerEntry{"Concat", lower_concat},
    LowerEntry{"Split", lower_split},
    LowerEntry{"Slice", lower_slice},
    LowerEntry{"Pad", lower_pad},
    LowerEntry{"DepthToSpace", lower_depth_to_space},
    LowerEntry{"SpaceToDepth", lower_depth_to_space},
};

}  // namespace

LowerEntries layout_ops() { return kLayoutOps; }

}  // namespace leapp::native
