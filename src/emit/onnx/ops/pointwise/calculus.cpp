// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Differences, gradients and integrals along a dimension.
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

Tensor without_first(OpBuilder& b, const Tensor& x, std::int64_t dim) { return b.slice(x, dim, 1, x.size(dim)); }
Tensor without_last(OpBuilder& b, const Tensor& x, std::int64_t dim) { return b.slice(x, dim, 0, x.size(dim) - 1); }

void diff(OpBuilder& b) {
  const std::int64_t dim = b.integer("dim");
  Tensors parts;
  for (const char* name : {"prepend", "self", "append"}) {
    if (b.has(name)) parts.push_back(b.operand(name, b.promoted({"self", "prepend", "append"})));
  }
  std::erase_if(parts, [](const Tensor& part) { return part.elements() == 0; });
  Tensor x = b.concat(parts, dim);
  for (std::int64_t i = 0; i < b.integer("n"); ++i) {
    const Tensor later = without_first(b, x, dim);
    const Tensor earlier = without_last(b, x, dim);
    // Booleans differ or not.
    x = b.binary(x.dtype == DType::kBool ? "Xor" : "Sub", later, earlier);
  }
  b.bind(x);
}

/// Areas under the line between neighbours. `x` and `y` are cut to what has a neighbour.
Tensor areas(OpBuilder& b, std::int64_t dim) {
  const DType dtype = b.result().dtype;
  const Tensor y = b.operand("y", dtype);
  const Tensor heights = b.binary("Add", without_first(b, y, dim), without_last(b, y, dim));
  if (!b.has("x")) return with_number(b, "Mul", heights, b.number("dx") / 2);
  Tensor x = b.operand("x", dtype);
  // A vector of places lies along `dim`, whatever dimensions y has.
  if (x.rank() == 1 && y.rank() != 1) {
    Shape shape(static_cast<std::size_t>(y.rank()), 1);
    shape[static_cast<std::size_t>(wrap_dim(dim, y.rank()))] = x.elements();
    x = b.reshape(x, shape);
  } else if (x.rank() < y.rank()) {
    Shape shape = x.shape;
    shape.insert(shape.begin(), y.shape.size() - shape.size(), 1);
    x = b.reshape(x, shape);
  }
  const std::int64_t along = wrap_dim(dim, y.rank()) - y.rank();
  const Tensor widths = b.binary("Sub", without_first(b, x, along), without_last(b, x, along));
  return with_number(b, "Div", b.binary("Mul", widths, heights), 2);
}

void trapezoid(OpBuilder& b) {
  const std::int64_t dim = b.integer("dim");
  const Tensor y = b.tensor("y");
  if (y.size(dim) < 2) return b.bind(b.full(0.0, b.result()));
  b.bind(b.reduce("ReduceSum", areas(b, wrap_dim(dim, y.rank()) - y.rank()), {dim}, false));
}

void cumulative_trapezoid(OpBuilder& b) {
  const std::int64_t rank = b.tensor("y").rank();
  const std::int64_t dim = wrap_dim(b.integer("dim"), rank) - rank;
  const Tensor parts = areas(b, dim);
  const Tensor axis = b.constant(wrap_dim(dim, parts.rank()), DType::kInt64);
  b.bind(b.add("CumSum", {parts, axis}, parts.type()));
}

/// Second-order differences inside; at the ends of first or second order.
Tensor uniform_gradient(OpBuilder& b, const Tensor& x, std::int64_t dim, double spacing, std::int64_t order) {
  const std::int64_t size = x.size(dim);
  const auto at = [&](std::int64_t index) { return b.slice(x, dim, index, index + 1); };
  const Tensor inside =
      with_number(b, "Div", b.binary("Sub", b.slice(x, dim, 2, size), b.slice(x, dim, 0, size - 2)), 2 * spacing);
  Tensor first = with_number(b, "Div", b.binary("Sub", at(1), at(0)), spacing);
  Tensor last = with_number(b, "Div", b.binary("Sub", at(size - 1), at(size - 2)), spacing);
  if (order == 2) {
    const auto curved = [&](std::int64_t a, std::int64_t c, std::int64_t e, double sign) {
      const Tensor sum = b.binary("Sub", with_number(b, "Mul", at(c), 4), with_number(b, "Mul", at(a), 3));
      return with_number(b, "Div", b.binary("Sub", sum, at(e)), 2 * spacing * sign);
    };
    first = curved(0, 1, 2, 1);
    last = curved(size - 1, size - 2, size - 3, -1);
  }
  if (size == 2) return b.concat({first, last}, dim);
  return b.concat({first, inside, last}, dim);
}

void gradient(OpBuilder& b) {
  const Tensor x = b.operand("self", b.result().dtype);
  const Ints dims = b.has("dim") ? b.integers("dim") : iota(x.rank());
  if (std::ssize(dims) != static_cast<std::int64_t>(b.result_count())) return b.fault("a gradient for each dimension");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    double spacing = 1;
    if (const auto* list = std::get_if<std::vector<Scalar>>(b.node().find("spacing"))) {
      spacing = to_double((*list)[list->size() == 1 ? 0 : i]);
    } else if (b.has("spacing")) {
      spacing = b.number("spacing");
    }
    b.bind(i, uniform_gradient(b, x, dims[i], spacing, b.integer("edge_order")));
  }
}

constexpr std::array kCalculusOps = {
    EmitEntry{"aten::cumulative_trapezoid.dx", cumulative_trapezoid},
    EmitEntry{"aten::cumulative_trapezoid.x", cumulative_trapezoid},
    EmitEntry{"aten::diff", diff},
    EmitEntry{"aten::gradient.array", gradient},
    EmitEntry{"aten::gradient.scalararray", gradient},
    EmitEntry{"aten::gradient.scalarint", gradient},
    EmitEntry{"aten::gradient.scalarrayarray", gradient},
    EmitEntry{"aten::gradient.scalarrayint", gradient},
    EmitEntry{"aten::trapezoid.dx", trapezoid},
    EmitEntry{"aten::trapezoid.x", trapezoid},
    EmitEntry{"aten::trapz.dx", trapezoid},
    EmitEntry{"aten::trapz.x", trapezoid},
};

}  // namespace

EmitEntries calculus_ops() { return kCalculusOps; }

}  // namespace leapp::onnx_ops
