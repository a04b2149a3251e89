// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/strided.h"

#include <algorithm>
#include <numeric>

namespace leapp::graph {
namespace {

using Dims = std::vector<std::int64_t>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

bool has_dim(const Strided& view, std::int64_t dim) { return dim >= 0 && dim < std::ssize(view.size); }

void remove_dim(Strided& view, std::int64_t dim) {
  view.size.erase(view.size.begin() + dim);
  view.stride.erase(view.stride.begin() + dim);
}

// The dimensions that matter, with neighbours that are one run of memory joined.
void joined_dims(const Strided& view, Dims& size, Dims& stride) {
  for (std::size_t i = 0; i < view.size.size(); ++i) {
    if (view.size[i] == 1) continue;
    if (!size.empty() && stride.back() == view.size[i] * view.stride[i]) {
      size.back() *= view.size[i];
      stride.back() = view.stride[i];
    } else {
      size.push_back(view.size[i]);
      stride.push_back(view.stride[i]);
    }
  }
}

std::optional<Strided> reshape(const Strided& view, const Shape& shape) {
  if (element_count(shape) != element_count(view.size)) return std::nullopt;
  Strided result = row_major(shape);
  result.offset = view.offset;
  if (element_count(shape) == 0) return result;
  Dims size;
  Dims stride;
  joined_dims(view, size, stride);
  std::size_t dim = shape.size();
  for (std::size_t run = size.size(); run-- > 0;) {
    std::int64_t left = size[run];
    std::int64_t step = stride[run];
    while (left > 1) {
      if (dim == 0) return std::nullopt;
      const std::int64_t extent = shape[--dim];
      if (left % extent != 0) return std::nullopt;
      result.stride[dim] = step;
      step *= extent;
      left /= extent;
    }
  }
  return result;
}

std::optional<Strided> permute(const Strided& view, const Dims& order) {
  if (order.size() != view.size.size()) return std::nullopt;
  Strided result = view;
  std::vector<bool> seen(order.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!has_dim(view, order[i]) || seen[at(order[i])]) return std::nullopt;
    seen[at(order[i])] = true;
    result.size[i] = view.size[at(order[i])];
    result.stride[i] = view.stride[at(order[i])];
  }
  return result;
}

std::optional<Strided> expand(const Strided& view, const Shape& shape) {
  if (shape.size() < view.size.size()) return std::nullopt;
  Strided result{shape, Dims(shape.size(), 0), view.offset};
  const std::size_t added = shape.size() - view.size.size();
  for (std::size_t i = 0; i < view.size.size(); ++i) {
    if (view.size[i] == shape[i + added]) {
      result.stride[i + added] = view.stride[i];
    } else if (view.size[i] != 1) {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<Strided> slice(Strided view, const ViewStep& step) {
  if (!has_dim(view, step.dim)) return std::nullopt;
  const std::size_t dim = at(step.dim);
  if (step.start < 0 || step.step < 1 || step.end < step.start || step.end > view.size[dim]) return std::nullopt;
  view.size[dim] = (step.end - step.start + step.step - 1) / step.step;
  view.offset += step.start * view.stride[dim];
  view.stride[dim] *= step.step;
  return view;
}

std::optional<Strided> select(Strided view, const ViewStep& step) {
  if (!has_dim(view, step.dim) || step.start < 0 || step.start >= view.size[at(step.dim)]) return std::nullopt;
  view.offset += step.start * view.stride[at(step.dim)];
  remove_dim(view, step.dim);
  return view;
}

std::optional<Strided> diagonal(Strided view, const ViewStep& step) {
  if (!has_dim(view, step.dim) || !has_dim(view, step.dim2) || step.dim == step.dim2) return std::nullopt;
  const std::int64_t skip1 = std::max<std::int64_t>(-step.start, 0);
  const std::int64_t skip2 = std::max<std::int64_t>(step.start, 0);
  const std::int64_t length = std::min(view.size[at(step.dim)] - skip1, view.size[at(step.dim2)] - skip2);
  if (length <= 0) return std::nullopt;
  view.offset += skip1 * view.stride[at(step.dim)] + skip2 * view.stride[at(step.dim2)];
  const std::int64_t stride = view.stride[at(step.dim)] + view.stride[at(step.dim2)];
  remove_dim(view, std::max(step.dim, step.dim2));
  remove_dim(view, std::min(step.dim, step.dim2));
  view.size.push_back(length);
  view.stride.push_back(stride);
  return view;
}

}  // namespace

Strided row_major(const Shape& shape) {
  Strided view{shape, Dims(shape.size()), 0};
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    view.stride[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return view;
}

bool same_elements(const Strided& a, const Strided& b) {
  if (a.size != b.size) return false;
  if (element_count(a.size) == 0) return true;
  for (std::size_t i = 0; i < a.size.size(); ++i) {
    if (a.size[i] > 1 && a.stride[i] != b.stride[i]) return false;
  }
  return a.offset == b.offset;
}

bool is_injective(const Strided& view) {
  std::vector<std::size_t> order(view.size.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return view.stride[a] < view.stride[b]; });
  std::int64_t reach = 0;
  for (std::size_t dim : order) {
    if (view.size[dim] <= 1) continue;
    if (view.stride[dim] <= reach) return false;
    reach += (view.size[dim] - 1) * view.stride[dim];
  }
  return true;
}

std::optional<Strided> apply(const Strided& view, const ViewStep& step) {
  switch (step.kind) {
    case ViewStep::Kind::kReshape:
      return reshape(view, step.list);
    case ViewStep::Kind::kPermute:
      return permute(view, step.list);
    case ViewStep::Kind::kExpand:
      return expand(view, step.list);
    case ViewStep::Kind::kSelect:
      return select(view, step);
    case ViewStep::Kind::kSlice:
      return slice(view, step);
    case ViewStep::Kind::kDiagonal:
      return diagonal(view, step);
  }
  return std::nullopt;
}

}  // namespace leapp::graph
