// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/view_plan.h"

#include <algorithm>
#include <functional>

#include "graph/passes/view_match.h"

namespace leapp::graph {
namespace {

using Kind = ViewStep::Kind;
using Dims = std::vector<std::int64_t>;

ViewStep slice_of_flat(std::int64_t start, std::int64_t end) {
  ViewStep step;
  step.kind = Kind::kSlice;
  step.start = start;
  step.end = end;
  return step;
}

ViewStep with_list(Kind kind, Shape list) {
  ViewStep step;
  step.kind = kind;
  step.list = std::move(list);
  return step;
}

// The row-major shape whose strides are `cuts`; one that does not divide the next larger is left out.
Shape shape_with_strides(Dims cuts, std::int64_t elements) {
  std::sort(cuts.begin(), cuts.end(), std::greater<>());
  Shape shape;
  std::int64_t left = elements;
  for (std::int64_t cut : cuts) {
    if (cut <= 1 || cut >= left || left % cut != 0) continue;
    shape.push_back(left / cut);
    left = cut;
  }
  shape.push_back(left);
  return shape;
}

void add_shape(std::vector<Shape>& shapes, Shape shape) {
  if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(std::move(shape));
}

// Shapes of the storage in which the target may lie along dimensions.
std::vector<Shape> candidate_shapes(const Strided& target, std::int64_t elements, const std::vector<Shape>& hints) {
  std::vector<Shape> shapes;
  for (const Shape& hint : hints) add_shape(shapes, hint);
  add_shape(shapes, Shape{elements});
  Dims strides;
  Dims bounds;
  for (const StridedDim& dim : joined_by_stride(target)) {
    strides.push_back(dim.stride);
    bounds.push_back(dim.stride);
    bounds.push_back(dim.stride * dim.size);
  }
  add_shape(shapes, shape_with_strides(strides, elements));
  add_shape(shapes, shape_with_strides(bounds, elements));
  for (const Shape& hint : hints) {
    for (Dims cuts : {strides, bounds}) {
      const Dims known = row_major(hint).stride;
      cuts.insert(cuts.end(), known.begin(), known.end());
      add_shape(shapes, shape_with_strides(std::move(cuts), elements));
    }
  }
  return shapes;
}

// Keeps the cheapest plan that stands the check.
class Contest {
 public:
  explicit Contest(const PlanQuery& query) : query_(query) {}

  void enter(ViewPlan plan) {
    const int cost = query_.cost(plan);
    if (best_ && cost >= best_cost_) return;
    std::optional<Strided> view = row_major(plan.base);
    for (const ViewStep& step : plan.steps) {
      if (view) view = apply(*view, step);
    }
    if (!view || !same_elements(*view, query_.target)) return;
    best_ = std::move(plan);
    best_cost_ = cost;
  }
  [[nodiscard]] bool is_decided() const { return best_ && best_cost_ <= 1; }
  std::optional<ViewPlan> take() { return std::move(best_); }

 private:
  const PlanQuery& query_;
  std::optional<ViewPlan> best_;
  int best_cost_ = 0;
};

// All ways to reach `core` from a row-major value of shape `base`, behind the steps in `opening`.
void enter_plans(Contest& contest, const PlanQuery& query, const Strided& core, const Shape& base,
                 const ViewPlan& opening) {
  for (const std::vector<ViewStep>& narrowing : narrow(base, core)) {
    std::optional<Strided> view = row_major(base);
    for (const ViewStep& step : narrowing) {
      if (view) view = apply(*view, step);
    }
    const auto rest = view ? rearrange(*view, core) : std::nullopt;
    if (!rest) continue;
    ViewPlan plan = opening;
    plan.steps.insert(plan.steps.end(), narrowing.begin(), narrowing.end());
    plan.steps.insert(plan.steps.end(), rest->begin(), rest->end());
    if (core.size != query.target.size) {
      // Extents in front of the first one that matters need no reshape: expand adds them.
      if (!plan.steps.empty() && plan.steps.back().kind == Kind::kReshape) {
        ViewPlan shorter = plan;
        shorter.steps.back() = with_list(Kind::kExpand, query.target.size);
        contest.enter(std::move(shorter));
      }
      plan.steps.push_back(with_list(Kind::kExpand, query.target.size));
    }
    contest.enter(std::move(plan));
  }
}

// Where the strides do not divide the storage, a part of it may do: cut that out first.
void enter_plans_on_part(Contest& contest, const PlanQuery& query, const Strided& core) {
  const std::vector<StridedDim> dims = joined_by_stride(core);
  if (dims.empty()) return;
  std::int64_t length = 0;
  if (__builtin_mul_overflow(dims.front().size, dims.front().stride, &length) || length > query.elements) return;
  for (std::int64_t start : {std::min(core.offset, query.elements - length), std::int64_t{0}}) {
    const std::int64_t end = start == 0 ? query.elements / dims.front().stride * dims.front().stride : start + length;
    Strided inside = core;
    inside.offset -= start;
    for (const Shape& base : candidate_shapes(inside, end - start, {})) {
      ViewPlan opening{{query.elements}, {slice_of_flat(start, end)}};
      if (base.size() != 1) opening.steps.push_back(with_list(Kind::kReshape, base));
      enter_plans(contest, query, inside, base, opening);
      if (contest.is_decided()) return;
    }
  }
}

}  // namespace

std::optional<ViewPlan> find_plan(const PlanQuery& query) {
  Contest contest(query);
  if (element_count(query.target.size) == 0) {
    ViewPlan plan{{query.elements}, {}};
    if (query.elements > 0) plan.steps.push_back(slice_of_flat(0, 0));
    if (query.target.size.size() != 1) plan.steps.push_back(with_list(Kind::kReshape, query.target.size));
    contest.enter(std::move(plan));
    return contest.take();
  }
  Strided core = query.target;
  for (std::size_t i = 0; i < core.size.size(); ++i) {
    if (core.stride[i] == 0) core.size[i] = 1;
  }
  for (const Shape& base : candidate_shapes(core, query.elements, query.hints)) {
    enter_plans(contest, query, core, base, {base, {}});
    if (contest.is_decided()) return contest.take();
  }
  enter_plans_on_part(contest, query, core);
  return contest.take();
}

}  // namespace leapp::graph
