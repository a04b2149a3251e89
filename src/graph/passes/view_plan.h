// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/passes/strided.h"

namespace leapp::graph {

/// A way to write a geometry: the flat storage in the shape `base`, then one step after the other.
struct ViewPlan {
  Shape base;
  std::vector<ViewStep> steps;
};

struct PlanQuery {
  Strided target;             ///< in bounds of the storage
  std::int64_t elements = 0;  ///< of the storage
  std::vector<Shape> hints;   ///< shapes the storage is known by, most likely first
  std::function<int(const ViewPlan&)> cost;
};

/// The cheapest plan found, the first among equals; nothing when the geometry cannot be written in such steps.
/// Every plan was checked against `target` by the arithmetic of strided.h before it is handed out.
[[nodiscard]] std::optional<ViewPlan> find_plan(const PlanQuery& query);

}  // namespace leapp::graph
