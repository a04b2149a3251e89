// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/scalar/gather.h"

#include <cmath>
#include <cstring>

#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

/// The offset that the row of indices from `first` on names; false when one of them is out of range.
bool row_offset(const Indices& indices, std::int64_t first, std::int32_t depth, const std::int64_t* extents,
                std::int64_t& offset) noexcept {
  offset = 0;
  for (std::int32_t d = 0; d < depth; ++d) {
    std::int64_t place = 0;
    if (!place_of(indices, first + d, extents[d], place)) return false;
    offset = offset * extents[d] + place;
  }
  return true;
}

/// Calls f(number of the element, offset in a tensor with `strides` less that of the axis) for every element of shape.
template <typename F>
bool each_place(std::int32_t rank, std::int32_t axis, const std::int64_t* shape, const std::int64_t* strides,
                F f) noexcept {
  std::int64_t at[kMaxRank] = {};
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < rank; ++i) count *= shape[i];
  std::int64_t offset = 0;
  for (std::int64_t n = 0; n < count; ++n) {
    if (!f(n, offset)) return false;
    for (std::int32_t i = rank - 1; i >= 0; --i) {
      const std::int64_t stride = i == axis ? 0 : strides[i];
      offset += stride;
      if (++at[i] < shape[i]) break;
      offset -= stride * shape[i];
      at[i] = 0;
    }
  }
  return true;
}

template <typename T>
T combined(T before, T update, ScatterReduction reduction) noexcept {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
    return convert<T>(combined(widen(before), widen(update), reduction));
  } else if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
    using Unsigned = std::make_unsigned_t<T>;
    if (reduction == ScatterReduction::kAdd) {
      return static_cast<T>(static_cast<Unsigned>(before) + static_cast<Unsigned>(update));
    }
    if (reduction == ScatterReduction::kMul) {
      return static_cast<T>(static_cast<Unsigned>(before) * static_cast<Unsigned>(update));
    }
    if (reduction == ScatterReduction::kMax) return before > update ? before : update;
    return before < update ? before : update;
  } else {
    switch (reduction) {
      case ScatterReduction::kNone:
        return update;
      case ScatterReduction::kAdd:
        return static_cast<T>(before + update);
      case ScatterReduction::kMul:
        return static_cast<T>(before * update);
      case ScatterReduction::kMax:
      case ScatterReduction::kMin:
        if constexpr (std::is_floating_point_v<T>) {
          if (std::isnan(before)) return before;
          if (std::isnan(update)) return update;
        }
        return (reduction == ScatterReduction::kMax) == (before > update) ? before : update;
    }
    return update;
  }
}

template <typename T>
bool scatter_elements(const ScatterElementsArgs& args) noexcept {
  const auto* updates = static_cast<const T*>(args.updates);
  auto* y = static_cast<T*>(args.y);
  return each_place(args.rank, args.axis, args.shape, args.strides, [&](std::int64_t n, std::int64_t offset) {
    std::int64_t place = 0;
    if (!place_of(args.indices, n, args.extent, place)) return false;
    T& to = y[offset + place * args.strides[args.axis]];
    to = args.reduction == ScatterReduction::kNone ? updates[n] : combined(to, updates[n], args.reduction);
    return true;
  });
}

template <typename T>
bool scatter_nd(const ScatterNdArgs& args) noexcept {
  const auto* updates = static_cast<const T*>(args.updates);
  auto* y = static_cast<T*>(args.y);
  for (std::int64_t row = 0; row < args.indices.count; ++row) {
    std::int64_t offset = 0;
    if (!row_offset(args.indices, row * args.depth, args.depth, args.extents, offset)) return false;
    for (std::int64_t i = 0; i < args.slice; ++i) {
      T& to = y[offset * args.slice + i];
      const T update = updates[row * args.slice + i];
      to = args.reduction == ScatterReduction::kNone ? update : combined(to, update, args.reduction);
    }
  }
  return true;
}

template <typename T>
inline constexpr Kernel kScatterElements = kernel_of<&scatter_elements<T>>("scatter elements", kOutOfRange);
template <typename T>
inline constexpr Kernel kScatterNd = kernel_of<&scatter_nd<T>>("scatter nd", kOutOfRange);

// Elements that are only moved are rows of bytes.
template <template <typename> typename Pick>
const Kernel* kernel_for(DType dtype, ScatterReduction reduction) {
  if (reduction == ScatterReduction::kNone) {
    switch (dtype_size(dtype)) {
      case 1:
        return Pick<std::uint8_t>::get();
      case 2:
        return Pick<std::uint16_t>::get();
      case 4:
        return Pick<std::uint32_t>::get();
      case 8:
        return Pick<std::uint64_t>::get();
      default:
        return nullptr;
    }
  }
  const Kernel* kernel = nullptr;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) kernel = Pick<T>::get();
  });
  return kernel;
}

template <typename T>
struct PickElements {
  static const Kernel* get() { return &kScatterElements<T>; }
};
template <typename T>
struct PickNd {
  static const Kernel* get() { return &kScatterNd<T>; }
};

}  // namespace

bool gather(const GatherArgs& args) noexcept {
  const auto* x = static_cast<const std::byte*>(args.x);
  auto* y = static_cast<std::byte*>(args.y);
  for (std::int64_t o = 0; o < args.outer; ++o) {
    for (std::int64_t i = 0; i < args.indices.count; ++i) {
      std::int64_t place = 0;
      if (!place_of(args.indices, i, args.extent, place)) return false;
      std::memcpy(y, x + (o * args.extent + place) * args.inner, static_cast<std::size_t>(args.inner));
      y += args.inner;
    }
  }
  return true;
}

bool gather_nd(const GatherNdArgs& args) noexcept {
  const auto* x = static_cast<const std::byte*>(args.x);
  auto* y = static_cast<std::byte*>(args.y);
  const std::int64_t rows = args.indices.count / args.batch;
  for (std::int64_t row = 0; row < args.indices.count; ++row) {
    std::int64_t offset = 0;
    if (!row_offset(args.indices, row * args.depth, args.depth, args.extents, offset)) return false;
    std::memcpy(y, x + row / rows * args.batch_bytes + offset * args.slice, static_cast<std::size_t>(args.slice));
    y += args.slice;
  }
  return true;
}

bool gather_elements(const GatherElementsArgs& args) noexcept {
  const auto* x = static_cast<const std::byte*>(args.x);
  auto* y = static_cast<std::byte*>(args.y);
  return each_place(args.rank, args.axis, args.shape, args.strides, [&](std::int64_t n, std::int64_t offset) {
    std::int64_t place = 0;
    if (!place_of(args.indices, n, args.extent, place)) return false;
    std::memcpy(y + n * args.width, x + (offset + place * args.strides[args.axis]) * args.width,
                static_cast<std::size_t>(args.width));
    return true;
  });
}

const Kernel* scatter_elements_kernel(DType dtype, ScatterReduction reduction) {
  return kernel_for<PickElements>(dtype, reduction);
}
const Kernel* scatter_nd_kernel(DType dtype, ScatterReduction reduction) {
  return kernel_for<PickNd>(dtype, reduction);
}

Indices indices_of(Lowering& b, ValueId id) {
  if (b.dtype(id) != DType::kInt32 && b.dtype(id) != DType::kInt64) refuse("indices that are neither int32 nor int64");
  Indices indices;
  indices.count = b.elements(id);
  indices.wide = b.dtype(id) == DType::kInt64;
  return indices;
}

ValueId gathered(Lowering& b, ValueId x, ValueId indices, std::int64_t axis) {
  const std::span<const std::int64_t> dims = b.shape(x);
  const auto at = static_cast<std::size_t>(axis);
  GatherArgs args;
  args.indices = indices_of(b, indices);
  args.outer = product(dims.first(at));
  args.extent = dims[at];
  args.inner = product(dims.subspan(at + 1)) * static_cast<std::int64_t>(dtype_size(b.dtype(x)));
  Shape shape(dims.begin(), dims.begin() + axis);
  shape.insert(shape.end(), b.shape(indices).begin(), b.shape(indices).end());
  shape.insert(shape.end(), dims.begin() + axis + 1, dims.end());
  const ValueId y = b.make(b.dtype(x), std::move(shape));
  CallMaker make(kGather, args);
  b.add(make.read(args.x, x).read(args.indices.data, indices).write(args.y, y).take());
  return y;
}

}  // namespace leapp::native
