// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/batch/batch_lift.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace leapp::runtime {
namespace {

using Lift = Status (*)(const RowNode& n, Lifting& to);

/// With axes of one in front, until it has so many.
BatchExtents padded(const BatchExtents& shape, std::int64_t rank) {
  BatchExtents wide(static_cast<std::size_t>(std::max<std::int64_t>(rank - std::ssize(shape), 0)), 1);
  wide.insert(wide.end(), shape.begin(), shape.end());
  return wide;
}

BatchExtents with_rows(std::int64_t rows, const BatchExtents& shape) {
  BatchExtents wide{rows};
  wide.insert(wide.end(), shape.begin(), shape.end());
  return wide;
}

/// Axes of one row as they are behind that of the rows.
BatchExtents behind_rows(BatchExtents axes, std::int64_t rank) {
  for (std::int64_t& axis : axes) axis = from_front(axis, rank) + 1;
  return axes;
}

void repeat_constants(const RowNode& n, Lifting& to) {
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (n.has(i) && !n.wide(i)) to.repeats.push_back(i);
  }
}

Status of_each(const RowNode& n, Lifting& to) {
  if (n.op() == "Clip" && (n.wide(1) || n.wide(2))) return mixes_rows("its limits are not the same for all rows");
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (n.wide(i)) to.shapes[i] = padded(n.shape(i), n.result_rank(0));
  }
  return {};
}

/// Whatever it says of axes: elements stay where they are.
Status rearrange(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  to.op = "Reshape";
  to.attributes.clear();
  to.numbers.emplace_back(1, with_rows(n.rows(), n.result(0)));
  return {};
}

Status transpose(const RowNode& n, Lifting& to) {
  BatchExtents order(static_cast<std::size_t>(n.rank(0)));
  std::iota(order.rbegin(), order.rend(), 0);
  order = behind_rows(n.integers("perm").value_or(order), n.rank(0));
  to.set("perm", with_rows(0, order));
  return {};
}

/// An attribute names the axis that it works along. Constants beside what has rows are not touched by that.
Status along(const RowNode& n, Lifting& to, std::int64_t otherwise, std::int64_t rank) {
  to.set("axis", from_front(n.integer("axis", otherwise), rank) + 1);
  return {};
}

Status along_last(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (n.opset() < 13) return mixes_rows("in this version it works along several axes");
  return along(n, to, -1, n.rank(0));
}

Status split(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  return along(n, to, 0, n.rank(0));
}

Status arg_extreme(const RowNode& n, Lifting& to) { return along(n, to, 0, n.rank(0)); }

Status one_hot(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  return along(n, to, -1, n.result_rank(0));
}

Status normalise_layers(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  return along(n, to, -1, n.rank(0));
}

Status concatenate(const RowNode& n, Lifting& to) {
  repeat_constants(n, to);
  return along(n, to, 0, n.result_rank(0));
}

Status by_element(const RowNode& n, Lifting& to) {
  repeat_constants(n, to);
  return along(n, to, 0, n.rank(0));
}

Status cumulative(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (!n.numbers(1) || n.numbers(1)->size() != 1) return mixes_rows("its axis is not known");
  to.numbers.emplace_back(1, behind_rows(*n.numbers(1), n.rank(0)));
  return {};
}

Status reduce(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  std::optional<BatchExtents> axes = n.has(1) ? n.numbers(1) : n.integers("axes");
  if (n.has(1) && !axes) return mixes_rows("its axes are not known");
  if (!axes || axes->empty()) {
    if (n.integer("noop_with_empty_axes", 0) != 0) return mixes_rows("it does nothing");
    axes.emplace(static_cast<std::size_t>(n.rank(0)));
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (axes->empty()) return mixes_rows("it reduces a single element");
  axes = behind_rows(*std::move(axes), n.rank(0));
  const bool as_input = n.opset() >= 18 || (n.opset() >= 13 && n.op() == "ReduceSum");
  if (as_input) {
    to.numbers.emplace_back(1, *std::move(axes));
  } else {
    to.set("axes", *std::move(axes));
  }
  return {};
}

Status slice(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (!n.has(1) || (n.has(3) && !n.numbers(3)) || (!n.has(3) && !n.numbers(1)))
    return mixes_rows("its axes are not known");
  BatchExtents axes(n.has(3) ? 0 : n.numbers(1)->size());
  std::iota(axes.begin(), axes.end(), 0);
  to.numbers.emplace_back(3, behind_rows(n.has(3) ? *n.numbers(3) : axes, n.rank(0)));
  return {};
}

Status pad(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (n.has(3) || !n.has(1) || !n.numbers(1)) return mixes_rows("how much it pads is not known");
  BatchExtents pads = *n.numbers(1);
  if (std::ssize(pads) != 2 * n.rank(0)) return mixes_rows("how much it pads is not known");
  pads.insert(pads.begin() + n.rank(0), 0);
  to.numbers.emplace_back(1, with_rows(0, pads));
  return {};
}

Status expand(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  to.shapes[0] = padded(n.shape(0), n.result_rank(0));
  to.numbers.emplace_back(1, with_rows(n.rows(), n.result(0)));
  return {};
}

Status tile(const RowNode& n, Lifting& to) {
  LEAPP_RETURN_IF_ERROR(n.only_first(1));
  if (!n.numbers(1)) return mixes_rows("its repeats are not known");
  to.numbers.emplace_back(1, with_rows(1, *n.numbers(1)));
  return {};
}

Status triangle(const RowNode& n, Lifting& /*to*/) { return n.only_first(1); }

Status gather(const RowNode& n, Lifting& to) {
  const std::int64_t axis = from_front(n.integer("axis", 0), n.rank(0));
  if (axis < 0 || axis >= n.rank(0)) return mixes_rows("there is no such axis");
  if (!n.wide(1)) return along(n, to, 0, n.rank(0));
  const BatchExtents& data = n.shape(0);
  const bool first = std::all_of(data.begin(), data.begin() + axis, [](std::int64_t extent) { return extent == 1; });
  if (!n.wide(0)) return axis == 0 ? Status() : mixes_rows("it picks behind the first axis of a table");
  if (!first) return mixes_rows("each row picks behind the first axis of its own table");
  // Each from its own: an index is a list of one for GatherND.
  to.op = "GatherND";
  to.attributes = {{"batch_dims", std::int64_t{1}}};
  to.shapes[0] = BatchExtents(data.begin() + axis, data.end());
  to.shapes[1]->push_back(1);
  to.other_shape = true;
  return {};
}

Status gather_nd(const RowNode& n, Lifting& to) {
  if (!n.wide(0)) return n.integer("batch_dims", 0) == 0 ? Status() : mixes_rows("a table for each of something else");
  repeat_constants(n, to);
  to.set("batch_dims", n.integer("batch_dims", 0) + 1);
  return {};
}

/// BatchPlaces in all rows: a row's number comes before those that it names.
Status scatter_nd(const RowNode& n, Lifting& to) {
  if (!n.has(2) || n.rank(1) == 0) return mixes_rows("it has no list of places");
  repeat_constants(n, to);
  to.counted = 1;
  return {};
}

Status matmul(const RowNode& n, Lifting& to) {
  if (n.inputs() != 2) return mixes_rows("it has zero points, or nothing to multiply with");
  const std::int64_t rank = std::max({n.rank(0), n.rank(1), std::int64_t{2}});
  if (n.wide(0) && !n.wide(1) && n.rank(0) == 1) {  // the rows are the rows of a matrix
    return n.rank(1) <= 2 ? Status() : mixes_rows("it multiplies a vector with several matrices");
  }
  for (const std::size_t i : {0U, 1U}) {
    if (!n.wide(i)) continue;
    BatchExtents shape = n.shape(i);
    if (shape.size() == 1) {
      shape.insert(i == 0 ? shape.begin() : shape.end(), 1);
      to.other_shape = true;
    }
    to.shapes[i] = padded(shape, rank);
  }
  return {};
}

Status einsum(const RowNode& n, Lifting& to) {
  std::string equation = n.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  char letter = 'A';
  while (letter <= 'Z' && equation.find(letter) != std::string::npos) ++letter;
  if (arrow == std::string::npos || equation.find('.') != std::string::npos || letter > 'Z') {
    return mixes_rows("its equation has no result, an ellipsis or no letter left");
  }
  std::string wide;
  std::size_t input = 0;
  const auto begin = [&] { return n.wide(input) ? std::string(1, letter) : std::string(); };
  wide += begin();
  for (const char c : equation.substr(0, arrow)) {
    wide += c;
    if (c != ',') continue;
    ++input;
    wide += begin();
  }
  to.set("equation", wide + "->" + letter + equation.substr(arrow + 2));
  return {};
}

struct LiftEntry {
  std::string_view op;
  Lift lift = nullptr;
};

constexpr std::array kLifts{
    LiftEntry{"ArgMax", arg_extreme},
    LiftEntry{"ArgMin", arg_extreme},
    LiftEntry{"Concat", concatenate},
    LiftEntry{"CumSum", cumulative},
    LiftEntry{"Einsum", einsum},
    LiftEntry{"Expand", expand},
    LiftEntry{"Flatten", rearrange},
    LiftEntry{"Gather", gather},
    LiftEntry{"GatherElements", by_element},
    LiftEntry{"GatherND", gather_nd},
    LiftEntry{"LayerNormalization", normalise_layers},
    LiftEntry{"LogSoftmax", along_last},
    LiftEntry{"MatMul", matmul},
    LiftEntry{"OneHot", one_hot},
    LiftEntry{"Pad", pad},
    LiftEntry{"RMSNormalization", normalise_layers},
    LiftEntry{"ReduceL1", reduce},
    LiftEntry{"ReduceL2", reduce},
    LiftEntry{"ReduceLogSum", reduce},
    LiftEntry{"ReduceLogSumExp", reduce},
    LiftEntry{"ReduceMax", reduce},
    LiftEntry{"ReduceMean", reduce},
    LiftEntry{"ReduceMin", reduce},
    LiftEntry{"ReduceProd", reduce},
    LiftEntry{"ReduceSum", reduce},
    LiftEntry{"ReduceSumSquare", reduce},
    LiftEntry{"Reshape", rearrange},
    LiftEntry{"ScatterElements", by_element},
    LiftEntry{"ScatterND", scatter_nd},
    LiftEntry{"Slice", slice},
    LiftEntry{"Softmax", along_last},
    LiftEntry{"Split", split},
    LiftEntry{"Squeeze", rearrange},
    LiftEntry{"Tile", tile},
    LiftEntry{"TopK", along_last},
    LiftEntry{"Transpose", transpose},
    LiftEntry{"Trilu", triangle},
    LiftEntry{"Unsqueeze", rearrange},
};

Lift find_lift(std::string_view op) {
  if (is_elementwise_onnx(op)) return of_each;
  const auto at = std::find_if(kLifts.begin(), kLifts.end(), [&](const LiftEntry& one) { return one.op == op; });
  return at == kLifts.end() ? nullptr : at->lift;
}

bool has_elements(const BatchExtents& shape) { return std::find(shape.begin(), shape.end(), 0) == shape.end(); }

}  // namespace

void Lifting::set(std::string_view name, onnx::AttributeValue value) {
  std::erase_if(attributes, [&](const onnx::AttributeProto& one) { return one.name == name; });
  attributes.push_back({std::string(name), std::move(value)});
}

bool can_be_lifted(std::string_view op) { return find_lift(op) != nullptr; }

Result<Lifting> lift_node(const RowNode& node) {
  const Lift lift = find_lift(node.op());
  if (lift == nullptr || node.outputs() == 0) return mixes_rows("it cannot have another axis for rows");
  Lifting to;
  to.op = node.op();
  to.attributes = node.attributes();
  to.shapes.resize(node.inputs());
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.wide(i)) to.shapes[i] = node.shape(i);
    if (node.wide(i) && !has_elements(node.shape(i))) return mixes_rows("it has no elements");
  }
  for (std::size_t o = 0; o < node.outputs(); ++o) {
    if (!has_elements(node.result(o))) return mixes_rows("its result has no elements");
  }
  LEAPP_RETURN_IF_ERROR(lift(node, to));
  return to;
}

}  // namespace leapp::runtime
