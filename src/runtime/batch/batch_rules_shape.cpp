// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators that arrange elements anew, or pick some of them.
#include <algorithm>
#include <array>
#include <numeric>

#include "runtime/batch/batch_node.h"

namespace leapp::runtime {
namespace {

std::int64_t product(const BatchExtents& extents, std::int64_t begin, std::int64_t end) {
  return std::accumulate(extents.begin() + begin, extents.begin() + end, std::int64_t{1}, std::multiplies<>());
}

Status reshape(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  const std::vector<RowPlace> places = places_before(n.result(0), before_rows(n.shape(0), n.axis(0), n.inner(0)));
  if (places.empty()) return mixes_rows("the axis of the rows becomes part of another");
  BatchExtents target = n.result(0);
  target[static_cast<std::size_t>(places.front().axis)] *= n.rows();
  n.replace(1, std::move(target));
  n.rows_at(0, places.front().axis);
  n.rows_are_inner(places.front().inner);
  return {};
}

Status flatten(RowNode& n) {
  const std::int64_t split = from_front(n.integer("axis", 1), n.rank(0));
  const std::int64_t axis = n.axis(0) < split ? 0 : 1;
  if (n.result(0)[static_cast<std::size_t>(axis)] != 1)
    return mixes_rows("the axis of the rows becomes part of another");
  n.rows_at(0, axis);
  return {};
}

std::optional<BatchExtents> axes_of(const RowNode& n, std::int64_t rank) {
  std::optional<BatchExtents> axes = n.has(1) ? n.numbers(1) : n.integers("axes");
  if (axes) {
    for (std::int64_t& axis : *axes) axis = from_front(axis, rank);
    std::sort(axes->begin(), axes->end());
  }
  return axes;
}

Status squeeze(RowNode& n) {
  const auto axes = axes_of(n, n.rank(0));
  if (!axes) return mixes_rows("it drops every axis of extent 1, that of the rows too");
  std::int64_t axis = n.axis(0);
  for (const std::int64_t dropped : *axes) {
    if (dropped == n.axis(0)) return mixes_rows("it drops the axis of the rows");
    if (dropped < n.axis(0)) --axis;
  }
  n.rows_at(0, axis);
  return {};
}

Status unsqueeze(RowNode& n) {
  const auto axes = axes_of(n, n.result_rank(0));
  if (!axes) return mixes_rows("its axes are not known");
  std::int64_t axis = n.axis(0);
  for (const std::int64_t added : *axes) {
    if (added <= axis) ++axis;
  }
  n.rows_at(0, axis);
  return {};
}

Status transpose(RowNode& n) {
  const auto order = n.integers("perm");
  if (!order) {
    n.rows_at(0, n.rank(0) - 1 - n.axis(0));
    return {};
  }
  const auto at = std::find(order->begin(), order->end(), n.axis(0));
  if (at == order->end()) return mixes_rows("its order of axes lacks that of the rows");
  n.rows_at(0, at - order->begin());
  return {};
}

Status expand(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  const std::int64_t axis = n.result_rank(0) - (n.rank(0) - n.axis(0));
  if (n.result(0)[static_cast<std::size_t>(axis)] != 1) return mixes_rows("it repeats the axis of the rows");
  n.rows_at(0, axis);
  return {};
}

Status tile(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (!n.numbers(1) || std::ssize(*n.numbers(1)) != n.rank(0)) return mixes_rows("its repeats are not known");
  if ((*n.numbers(1))[static_cast<std::size_t>(n.axis(0))] != 1) return mixes_rows("it repeats the rows");
  n.rows_at(0, n.axis(0));
  return {};
}

Status concat(RowNode& n) {
  std::optional<std::int64_t> axis;
  std::size_t first = 0;
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (!n.wide(i)) continue;
    if (axis && (*axis != n.axis(i) || !n.alike(first, i))) {
      return mixes_rows("its inputs have rows in different places");
    }
    if (!axis) first = i;
    axis = n.axis(i);
  }
  if (from_front(n.integer("axis", 0), n.rank(0)) == *axis) return mixes_rows("it joins along the axis of the rows");
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (!n.wide(i)) n.repeat(i, *axis);
  }
  n.rows_at(0, *axis);
  return {};
}

Status slice(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  std::optional<BatchExtents> axes = n.has(3) ? n.numbers(3) : n.integers("axes");
  if (n.has(3) && !axes) return mixes_rows("its axes are not known");
  if (!axes) {
    if (!n.numbers(1)) return mixes_rows("its axes are not known");
    axes.emplace(n.numbers(1)->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  for (const std::int64_t axis : *axes) {
    if (from_front(axis, n.rank(0)) == n.axis(0)) return mixes_rows("it cuts along the axis of the rows");
  }
  n.rows_at(0, n.axis(0));
  return {};
}

Status pad(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  const std::optional<BatchExtents> pads = n.has(1) ? n.numbers(1) : n.integers("pads");
  if (!pads) return mixes_rows("how much it pads is not known");
  BatchExtents axes(static_cast<std::size_t>(n.rank(0)));
  std::iota(axes.begin(), axes.end(), 0);
  if (n.has(3)) {
    if (!n.numbers(3)) return mixes_rows("its axes are not known");
    axes = *n.numbers(3);
  }
  if (pads->size() != 2 * axes.size()) return mixes_rows("how much it pads is not known");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool none = pads->at(i) == 0 && pads->at(axes.size() + i) == 0;
    if (from_front(axes[i], n.rank(0)) == n.axis(0) && !none) return mixes_rows("it pads the axis of the rows");
  }
  n.rows_at(0, n.axis(0));
  return {};
}

/// Every row has the shape of one.
Status shape_of(RowNode& n) {
  BatchExtents shape = n.shape(0);
  if (n.op() == "Size") return mixes_rows("it counts the elements of all rows");
  const std::int64_t end = std::min(from_front(n.integer("end", n.rank(0)), n.rank(0)), n.rank(0));
  const std::int64_t start = std::max<std::int64_t>(from_front(n.integer("start", 0), n.rank(0)), 0);
  if (start > end) return mixes_rows("it asks for no axes");
  n.freeze(0, BatchExtents(shape.begin() + start, shape.begin() + end));
  return {};
}

Status gather(RowNode& n) {
  const std::int64_t axis = from_front(n.integer("axis", 0), n.rank(0));
  if (n.wide(0) && n.wide(1)) return mixes_rows("each row picks from its own table");
  if (n.wide(1)) {
    n.rows_at(0, axis + n.axis(1));
    return {};
  }
  if (axis == n.axis(0)) return mixes_rows("it picks among the rows");
  n.rows_at(0, axis > n.axis(0) ? n.axis(0) : n.axis(0) - 1 + n.rank(1));
  return {};
}

/// Data, indices and what is put there have one shape, but for one axis.
Status by_element(RowNode& n) {
  std::optional<std::int64_t> rows;
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (!n.wide(i)) continue;
    if (rows && *rows != n.axis(i)) return mixes_rows("its inputs have rows in different places");
    rows = n.axis(i);
  }
  if (from_front(n.integer("axis", 0), n.rank(0)) == *rows) return mixes_rows("it picks among the rows");
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (n.wide(i)) continue;
    if (n.shape(i)[static_cast<std::size_t>(*rows)] != 1) return mixes_rows("a constant is longer than a row");
    n.repeat(i, *rows);
  }
  n.rows_at(0, *rows);
  return {};
}

Status gather_nd(RowNode& n) {
  if (n.wide(0) || n.integer("batch_dims", 0) != 0) return mixes_rows("each row picks from its own table");
  if (n.axis(1) == n.rank(1) - 1) return mixes_rows("its indices are along the axis of the rows");
  n.rows_at(0, n.axis(1));
  return {};
}

Status one_hot(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  const std::int64_t axis = from_front(n.integer("axis", -1), n.result_rank(0));
  n.rows_at(0, axis <= n.axis(0) ? n.axis(0) + 1 : n.axis(0));
  return {};
}

Status triangle(RowNode& n) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (n.axis(0) >= n.rank(0) - 2) return mixes_rows("the axis of the rows is one of its matrices'");
  n.rows_at(0, n.axis(0));
  return {};
}

constexpr std::array kShapeRules{
    RowRuleEntry{"Concat", concat},
    RowRuleEntry{"Expand", expand},
    RowRuleEntry{"Flatten", flatten},
    RowRuleEntry{"Gather", gather},
    RowRuleEntry{"GatherElements", by_element},
    RowRuleEntry{"GatherND", gather_nd},
    RowRuleEntry{"OneHot", one_hot},
    RowRuleEntry{"Pad", pad},
    RowRuleEntry{"Reshape", reshape},
    RowRuleEntry{"ScatterElements", by_element},
    RowRuleEntry{"Shape", shape_of},
    RowRuleEntry{"Size", shape_of},
    RowRuleEntry{"Slice", slice},
    RowRuleEntry{"Squeeze", squeeze},
    RowRuleEntry{"Tile", tile},
    RowRuleEntry{"Transpose", transpose},
    RowRuleEntry{"Trilu", triangle},
    RowRuleEntry{"Unsqueeze", unsqueeze},
};

}  // namespace

std::int64_t before_rows(const BatchExtents& shape, std::int64_t axis, bool inner) {
  return product(shape, 0, axis + (inner ? 1 : 0));
}

std::vector<RowPlace> places_before(const BatchExtents& shape, std::int64_t before) {
  std::vector<RowPlace> own;
  std::vector<RowPlace> shared;
  const std::int64_t rank = std::ssize(shape);
  for (std::int64_t at = 0; at <= rank; ++at) {
    if (product(shape, 0, at) != before) continue;
    if (at < rank && shape[static_cast<std::size_t>(at)] == 1) {
      own.push_back({at, false});
      continue;
    }
    if (at < rank) shared.push_back({at, false});
    if (at > 0 && shape[static_cast<std::size_t>(at - 1)] != 1) shared.push_back({at - 1, true});
  }
  own.insert(own.end(), shared.begin(), shared.end());
  return own;
}

RowRule find_shape_rule(std::string_view op) {
  const auto at =
      std::find_if(kShapeRules.begin(), kShapeRules.end(), [&](const RowRuleEntry& one) { return one.op == op; });
  return at == kShapeRules.end() ? nullptr : at->rule;
}

}  // namespace leapp::runtime
