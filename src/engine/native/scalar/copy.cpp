// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/scalar/copy.h"

#include <fmt/format.h>

#include <cstring>

namespace leapp::native {
namespace {

template <typename T>
void copy_row(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t from_stride,
              std::int64_t to_stride) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from, sizeof(T));
    std::memcpy(to, &element, sizeof(T));
    from += from_stride;
    to += to_stride;
  }
}

struct Sixteen {
  std::uint64_t parts[2];
};

using CopyRow = void (*)(const std::byte*, std::byte*, std::int64_t, std::int64_t, std::int64_t) noexcept;

void copy_dense_row(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t width,
                    std::int64_t) noexcept {
  std::memcpy(to, from, static_cast<std::size_t>(count * width));
}

CopyRow row_copier(const StridedCopy& args, int last) {
  if (args.from_stride[last] == args.width && args.to_stride[last] == args.width) return copy_dense_row;
  switch (args.width) {
    case 1:
      return copy_row<std::uint8_t>;
    case 2:
      return copy_row<std::uint16_t>;
    case 4:
      return copy_row<std::uint32_t>;
    case 8:
      return copy_row<std::uint64_t>;
    default:
      return copy_row<Sixteen>;
  }
}

}  // namespace

void strided_copy(const StridedCopy& args) noexcept {
  const int last = args.rank - 1;
  const CopyRow row = row_copier(args, last);
  std::int64_t at[kMaxRank] = {};
  const auto* from = static_cast<const std::byte*>(args.from) + args.from_offset;
  auto* to = static_cast<std::byte*>(args.to) + args.to_offset;
  while (true) {
    row(from, to, args.shape[last], args.from_stride[last], args.to_stride[last]);
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      from += args.from_stride[axis];
      to += args.to_stride[axis];
      if (++at[axis] < args.shape[axis]) break;
      from -= args.from_stride[axis] * args.shape[axis];
      to -= args.to_stride[axis] * args.shape[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

void dense_copy(const DenseCopy& args) noexcept {
  std::memcpy(args.to, args.from, static_cast<std::size_t>(args.bytes));
}

namespace {

template <typename T>
void fill_with(const Fill& args) noexcept {
  T element;
  std::memcpy(&element, args.pattern, sizeof(T));
  auto* to = static_cast<std::byte*>(args.to);
  for (std::int64_t i = 0; i < args.count; ++i, to += sizeof(T)) std::memcpy(to, &element, sizeof(T));
}

}  // namespace

void fill(const Fill& args) noexcept {
  switch (args.width) {
    case 1:
      return fill_with<std::uint8_t>(args);
    case 2:
      return fill_with<std::uint16_t>(args);
    case 4:
      return fill_with<std::uint32_t>(args);
    case 8:
      return fill_with<std::uint64_t>(args);
    default:
      return fill_with<Sixteen>(args);
  }
}

std::vector<std::int64_t> dense_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

void add_copy(Lowering& b, const CopyRequest& request, bool whole) {
  StridedCopy args;
  args.width = static_cast<std::int32_t>(dtype_size(b.dtype(request.from)));
  const std::int64_t width = args.width;
  args.from_offset = request.from_offset * width;
  args.to_offset = request.to_offset * width;
  for (std::size_t i = 0; i < request.shape.size(); ++i) {
    const std::int64_t extent = request.shape[i];
    if (extent == 0) return;
    if (extent == 1) continue;
    const std::int64_t from = request.from_stride[i] * width;
    const std::int64_t to = request.to_stride[i] * width;
    if (args.rank > 0) {  // one axis with the one before, if both sides walk on as before
      std::int64_t& extent_before = args.shape[args.rank - 1];
      std::int64_t& from_before = args.from_stride[args.rank - 1];
      std::int64_t& to_before = args.to_stride[args.rank - 1];
      if (from_before == from * extent && to_before == to * extent) {
        extent_before *= extent;
        from_before = from;
        to_before = to;
        continue;
      }
    }
    if (args.rank == kMaxRank) refuse(fmt::format("moves elements along more than {} axes", kMaxRank));
    args.shape[args.rank] = extent;
    args.from_stride[args.rank] = from;
    args.to_stride[args.rank] = to;
    ++args.rank;
  }
  if (args.rank == 0) {
    args.rank = 1;
    args.shape[0] = 1;
    args.from_stride[0] = args.to_stride[0] = width;
  }
  CallMaker make(kStridedCopy, args);
  make.read(args.from, request.from);
  if (whole) {
    make.write(args.to, request.to);
  } else {
    make.update(args.to, request.to);
  }
  b.add(make.take());
}

void copy_bytes(Lowering& b, ValueId from, ValueId to) {
  DenseCopy args;
  args.bytes = static_cast<std::int64_t>(b.value(from).bytes);
  if (args.bytes == 0) return;
  CallMaker make(kDenseCopy, args);
  b.add(make.read(args.from, from).write(args.to, to).take());
}

ValueId expanded(Lowering& b, ValueId from, const Shape& shape) {
  if (b.shape(from) == shape) return from;
  const ValueId to = b.make(b.dtype(from), shape);
  std::vector<std::int64_t> strides(shape.size(), 0);
  const auto source = dense_strides(b.shape(from));
  const std::size_t shift = shape.size() - b.shape(from).size();
  for (std::size_t i = shift; i < shape.size(); ++i) {
    if (b.shape(from)[i - shift] == shape[i]) strides[i] = source[i - shift];
  }
  add_copy(b, {from, to, shape, strides, dense_strides(shape)});
  return to;
}

}  // namespace leapp::native
