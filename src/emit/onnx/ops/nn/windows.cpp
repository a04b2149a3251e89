// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/ops/nn/windows.h"

#include <algorithm>
#include <cstddef>

namespace leapp::onnx_ops {
namespace {

std::int64_t longest(const Windows& windows) {
  std::size_t most = 1;
  for (const Ints& window : windows) most = std::max(most, window.size());
  return static_cast<std::int64_t>(most);
}

/// All windows as one table, row by row; short ones repeat their last position.
Ints table_of(const Windows& windows) {
  const std::int64_t width = longest(windows);
  Ints table;
  for (const Ints& window : windows) {
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t last = std::ssize(window) - 1;
      table.push_back(last < 0 ? 0 : window[static_cast<std::size_t>(std::min(i, last))]);
    }
  }
  return table;
}

bool all_equally_long(const Windows& windows) {
  const std::int64_t width = longest(windows);
  return std::all_of(windows.begin(), windows.end(), [&](const Ints& window) { return std::ssize(window) == width; });
}

/// [..., i, ...] to [..., o, k, ...]
Tensor gather_table(OpBuilder& b, const Tensor& x, const Windows& windows, std::int64_t dim) {
  return b.gather(x, b.ints(table_of(windows), {std::ssize(windows), longest(windows)}), dim);
}

Tensor max_value(OpBuilder& b, Tensor x, const std::vector<Windows>& windows) {
  std::int64_t dim = x.rank() - std::ssize(windows);
  for (const Windows& along : windows) {
    x = b.reduce("ReduceMax", gather_table(b, x, along, dim), {dim + 1}, false);
    ++dim;
  }
  return x;
}

/// For every output, the flat input positions of its window: [outputs, window].
Tensor position_table(OpBuilder& b, const Tensor& x, const std::vector<Windows>& windows) {
  Ints positions = {0};
  std::int64_t outputs = 1;
  std::int64_t width = 1;
  std::int64_t dim = x.rank() - std::ssize(windows);
  for (const Windows& along : windows) {
    const Ints table = table_of(along);
    const std::int64_t more_outputs = std::ssize(along);
    const std::int64_t more_width = longest(along);
    Ints next;
    for (std::int64_t o = 0; o < outputs * more_outputs; ++o) {
      for (std::int64_t w = 0; w < width * more_width; ++w) {
        const std::int64_t before = positions[static_cast<std::size_t>(o / more_outputs * width + w / more_width)];
        const auto entry = static_cast<std::size_t>(o % more_outputs * more_width + w % more_width);
        next.push_back(before * x.size(dim) + table[entry]);
      }
    }
    positions = std::move(next);
    outputs *= more_outputs;
    width *= more_width;
    ++dim;
  }
  return b.ints(positions, {outputs, width});
}

}  // namespace

Ints per_dimension(const Ints& list, std::int64_t count) {
  if (list.size() != 1) return list;
  return Ints(static_cast<std::size_t>(count), list[0]);
}

Windows windows_of(const WindowSpec& spec) {
  Windows windows;
  for (std::int64_t output = 0; output < spec.outputs; ++output) {
    Ints window;
    for (std::int64_t i = 0; i < spec.kernel; ++i) {
      const std::int64_t position = output * spec.stride - spec.padding + i * spec.dilation;
      if (position >= 0 && position < spec.size) window.push_back(position);
    }
    windows.push_back(window);
  }
  return windows;
}

Windows adaptive_windows(std::int64_t size, std::int64_t outputs) {
  Windows windows;
  for (std::int64_t output = 0; output < outputs; ++output) {
    const std::int64_t start = output * size / outputs;
    const std::int64_t end = ((output + 1) * size + outputs - 1) / outputs;
    Ints window;
    for (std::int64_t i = start; i < end; ++i) window.push_back(i);
    windows.push_back(window);
  }
  return windows;
}

MaxResult max_of_windows(OpBuilder& b, const Tensor& x, const std::vector<Windows>& windows) {
  const std::int64_t outer = x.rank() - std::ssize(windows);
  MaxResult result{max_value(b, x, windows), {}};
  // Repeated positions come after the first, and so never change which one is found.
  const Tensor table = position_table(b, x, windows);
  Shape flat(x.shape.begin(), x.shape.begin() + outer);
  flat.push_back(-1);
  flat.back() = x.elements() / std::max<std::int64_t>(graph::element_count(Shape(flat.begin(), flat.end() - 1)), 1);
  const Tensor seen = b.gather(b.reshape(x, flat), table, outer);  // [..., outputs, window]
  const Tensor best = b.arg_reduce("ArgMax", seen, -1, true);
  Shape wide = best.shape;
  wide.back() = table.size(1);
  const Tensor found = b.gather_elements(b.expand(table, wide), best, -1);
  result.indices = b.reshape(found, result.value.shape);
  return result;
}

Tensor sum_of_windows(OpBuilder& b, const Tensor& x, const std::vector<Windows>& windows) {
  Tensor sum = x;
  std::int64_t dim = x.rank() - std::ssize(windows);
  for (const Windows& along : windows) {
    Tensor seen = gather_table(b, sum, along, dim);
    if (!all_equally_long(along)) {
      std::vector<Scalar> inside;
      for (const Ints& window : along) {
        for (std::int64_t i = 0; i < longest(along); ++i) inside.emplace_back(i < std::ssize(window));
      }
      Shape shape(static_cast<std::size_t>(seen.rank() - dim), 1);
      shape[0] = std::ssize(along);
      shape[1] = longest(along);
      // Not a product with zero: what lies outside may be infinite.
      seen = b.where(b.constant(inside, {DType::kBool, shape}), seen, b.constant(0.0, seen.dtype));
    }
    sum = b.reduce("ReduceSum", seen, {dim + 1}, false);
    ++dim;
  }
  return sum;
}

Tensor gather_windows(OpBuilder& b, const Tensor& x, const std::vector<WindowSpec>& specs) {
  Tensor seen = x;
  const std::int64_t outer = x.rank() - std::ssize(specs);
  for (std::int64_t i = 0; i < std::ssize(specs); ++i) {
    const WindowSpec& spec = specs[static_cast<std::size_t>(i)];
    Ints positions;
    for (std::int64_t k = 0; k < spec.kernel; ++k) {
      for (std::int64_t o = 0; o < spec.outputs; ++o) positions.push_back(o * spec.stride + k * spec.dilation);
    }
    seen = b.gather(seen, b.ints(positions, {spec.kernel, spec.outputs}), outer + 2 * i);
  }
  Ints order = iota(outer);
  for (std::int64_t i = 0; i < std::ssize(specs); ++i) order.push_back(outer + 2 * i);
  for (std::int64_t i = 0; i < std::ssize(specs); ++i) order.push_back(outer + 2 * i + 1);
  return b.transpose(seen, order);
}

}  // namespace leapp::onnx_ops
