// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices and vectors. Norms, distances and determinants are in norms.cpp.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"
#include "emit/onnx/ops/linalg/matrices.h"

namespace leapp::onnx_ops {
namespace {

/// Nothing to add up: torch gives zeros, kernels may give anything.
bool empty_product(OpBuilder& b, const Tensor& x) {
  if (x.elements() != 0) return false;
  b.bind(b.full(std::int64_t{0}, b.result()));
  return true;
}

void product(OpBuilder& b) {
  const Tensor x = argument(b, "self");
  if (empty_product(b, x)) return;
  constexpr std::array kOther = {"other", "mat2", "vec", "tensor"};
  for (const char* name : kOther) {
    if (b.has(name)) return b.bind(b.matmul(x, argument(b, name)));
  }
  b.fault("expected a second factor");
}

void outer(OpBuilder& b) {
  const Tensor x = argument(b, "self");
  const Tensor y = argument(b, "vec2");
  b.bind(b.binary("Mul", b.unsqueeze(x, {1}), b.unsqueeze(y, {0})));
}

/// Sum over the last dimension of both.
void inner(OpBuilder& b) {
  const Tensor x = argument(b, "self");
  const Tensor y = argument(b, "other");
  if (x.rank() == 0 || y.rank() == 0) return b.bind(b.binary("Mul", x, y));
  if (empty_product(b, x)) return;
  const std::int64_t length = x.size(-1);
  const Tensor rows = b.reshape(x, {x.elements() / length, length});
  const Tensor columns = b.transpose(b.reshape(y, {y.elements() / length, length}), {1, 0});
  b.bind(b.reshape(b.matmul(rows, columns), b.result().shape));
}

/// alpha x y^T + beta c as one Gemm, if its kernel knows the dtype.
struct GemmSpec {
  Tensor x;
  Tensor y;
  Tensor c;  // may be absent
  double alpha = 1;
  double beta = 1;
  bool transpose_y = false;
};

Tensor gemm(OpBuilder& b, const GemmSpec& spec) {
  const std::int64_t columns = spec.transpose_y ? spec.y.size(0) : spec.y.size(1);
  Tensors inputs = {spec.x, spec.y};
  if (spec.c.present()) inputs.push_back(spec.c);
  Attributes attributes;
  if (spec.alpha != 1) attributes.push_back({"alpha", static_cast<float>(spec.alpha)});
  if (spec.beta != 1) attributes.push_back({"beta", static_cast<float>(spec.beta)});
  if (spec.transpose_y) attributes.push_back({"transB", std::int64_t{1}});
  return b.add("Gemm", inputs, {spec.x.dtype, {spec.x.size(0), columns}}, std::move(attributes));
}

/// The weight stays as the module has it: [out, in].
void linear(OpBuilder& b) {
  const Tensor x = argument(b, "input");
  const Tensor weight = argument(b, "weight");
  const Tensor bias = b.has("bias") ? argument(b, "bias") : Tensor{};
  if (x.elements() == 0) {
    return b.bind(bias.present() ? b.expand(bias, b.result().shape) : b.full(std::int64_t{0}, b.result()));
  }
  if (weight.rank() == 1) {
    const Tensor plain = b.matmul(x, weight);
    return b.bind(bias.present() ? b.binary("Add", plain, bias) : plain);
  }
  if (!is_floating(x.dtype)) {
    const Tensor plain = b.matmul(x, b.transpose(weight, {1, 0}));
    return b.bind(bias.present() ? b.binary("Add", plain, bias) : plain);
  }
  const Tensor rows = b.reshape(x, {x.elements() / x.size(-1), x.size(-1)});
  const bool addend = bias.present() && bias.rank() <= 1;
  Tensor y = gemm(b, {rows, weight, addend ? bias : Tensor{}, 1, 1, true});
  y = b.reshape(y, [&] {
    Shape shape = x.shape;
    shape.back() = weight.size(0);
    return shape;
  }());
  b.bind(bias.present() && !addend ? b.binary("Add", y, bias) : y);
}

/// beta self + alpha product, where a factor of zero ignores even NaN.
Tensor combined(OpBuilder& b, const Tensor& product) {
  const Scalar alpha = b.scalar("alpha");
  const Scalar beta = b.scalar("beta");
  const Tensor scaled = to_double(alpha) == 1 ? product : b.binary("Mul", product, b.constant(alpha, product.dtype));
  if (to_double(beta) == 0) return b.expand(scaled, b.result().shape);
  Tensor self = argument(b, "self");
  if (to_double(beta) != 1) self = b.binary("Mul", self, b.constant(beta, self.dtype));
  return b.expand(b.binary("Add", self, scaled), b.result().shape);
}

Tensor product_or_zeros(OpBuilder& b, const Tensor& x, const Tensor& y, const Shape& shape) {
  return x.elements() == 0 ? b.full(std::int64_t{0}, {x.dtype, shape}) : b.matmul(x, y);
}

void addmm(OpBuilder& b) {
  const Tensor x = argument(b, "mat1");
  const Tensor y = argument(b, "mat2");
  const double beta = b.number("beta");
  if (!is_floating(x.dtype) || x.elements() == 0) {
    return b.bind(combined(b, product_or_zeros(b, x, y, b.result().shape)));
  }
  const Tensor c = beta == 0 ? Tensor{} : argument(b, "self");
  b.bind(gemm(b, {x, y, c, b.number("alpha"), beta, false}));
}

void addmv(OpBuilder& b) {
  const Tensor x = argument(b, "mat");
  b.bind(combined(b, product_or_zeros(b, x, argument(b, "vec"), b.result().shape)));
}

void addr(OpBuilder& b) {
  const Tensor x = argument(b, "vec1");
  const Tensor y = argument(b, "vec2");
  b.bind(combined(b, b.binary("Mul", b.unsqueeze(x, {1}), b.unsqueeze(y, {0}))));
}

void baddbmm(OpBuilder& b) {
  const Tensor x = argument(b, "batch1");
  b.bind(combined(b, product_or_zeros(b, x, argument(b, "batch2"), b.result().shape)));
}

void addbmm(OpBuilder& b) {
  const Tensor x = argument(b, "batch1");
  if (x.elements() == 0) return b.bind(combined(b, b.full(std::int64_t{0}, b.result())));
  b.bind(combined(b, b.reduce("ReduceSum", b.matmul(x, argument(b, "batch2")), {0}, false)));
}

void tensordot(OpBuilder& b) {
  Tensor x = argument(b, "self");
  Tensor y = argument(b, "other");
  Ints over_x;
  Ints over_y;
  for (const std::int64_t dim : b.integers("dims_self")) over_x.push_back(wrap_dim(dim, x.rank()));
  for (const std::int64_t dim : b.integers("dims_other")) over_y.push_back(wrap_dim(dim, y.rank()));
  // One element against many: those are added up first.
  for (std::size_t i = 0; i < over_x.size(); ++i) {
    if (x.size(over_x[i]) == 1) y = b.reduce("ReduceSum", y, {over_y[i]}, true);
    if (y.size(over_y[i]) == 1) x = b.reduce("ReduceSum", x, {over_x[i]}, true);
  }
  const auto rest = [](const Ints& dims, std::int64_t rank) {
    Ints others;
    for (const std::int64_t dim : iota(rank)) {
      if (std::find(dims.begin(), dims.end(), dim) == dims.end()) others.push_back(dim);
    }
    return others;
  };
  std::int64_t length = 1;
  for (const std::int64_t dim : over_x) length *= x.size(dim);
  if (length == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
  Ints order_x = rest(over_x, x.rank());
  order_x.insert(order_x.end(), over_x.begin(), over_x.end());
  Ints order_y = over_y;
  for (const std::int64_t dim : rest(over_y, y.rank())) order_y.push_back(dim);
  const Tensor rows = b.reshape(b.transpose(x, order_x), {x.elements() / length, length});
  const Tensor columns = b.reshape(b.transpose(y, order_y), {length, y.elements() / length});
  b.bind(b.reshape(b.matmul(rows, columns), b.result().shape));
}

/// From left to right: the best order changes the rounding only.
void multi_dot(OpBuilder& b) {
  const Tensors parts = b.tensors(b.has("matrices") ? "matrices" : "tensors");
  Tensor result = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (result.elements() == 0 || parts[i].elements() == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
    result = b.matmul(result, parts[i]);
  }
  b.bind(b.reshape(result, b.result().shape));
}

void matrix_power(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t power = b.integer("n");
  Tensor result;
  Tensor factor = power < 0 ? inverse_of(b, x) : x;
  for (std::int64_t rest = std::abs(power); rest > 0; rest >>= 1) {
    if ((rest & 1) != 0) result = result.present() ? b.matmul(result, factor) : factor;
    if (rest > 1) factor = b.matmul(factor, factor);
  }
  if (!result.present()) {
    const std::int64_t size = x.size(-1);
    const Tensor eye = b.compare("Equal", b.ints(iota(size), {size, 1}), b.ints(iota(size), {1, size}));
    result = b.expand(b.cast(eye, x.dtype), x.shape);
  }
  b.bind(result);
}

void kron(OpBuilder& b) {
  const Tensor x = argument(b, "self");
  const Tensor y = argument(b, "other");
  const std::int64_t rank = std::max(x.rank(), y.rank());
  const auto apart = [&](const Tensor& t, bool first) {
    Shape shape;
    for (std::int64_t i = 0; i < rank; ++i) {
      const std::int64_t dim = i - (rank - t.rank());
      const std::int64_t size = dim < 0 ? 1 : t.size(dim);
      shape.push_back(first ? size : 1);
      shape.push_back(first ? 1 : size);
    }
    return b.reshape(t, shape);
  };
  b.bind(b.reshape(b.binary("Mul", apart(x, true), apart(y, false)), b.result().shape));
}

void cross(OpBuilder& b) {
  const Tensor x = b.expand(argument(b, "self"), b.result().shape);
  const Tensor y = b.expand(argument(b, "other"), b.result().shape);
  std::int64_t dim = -1;
  if (b.has("dim")) {
    dim = b.integer("dim");
  } else {
    const auto three = std::find(x.shape.begin(), x.shape.end(), 3);
    dim = three - x.shape.begin();
  }
  const Tensor next = b.ints({1, 2, 0});
  const Tensor last = b.ints({2, 0, 1});
  const Tensor first = b.binary("Mul", b.gather(x, next, dim), b.gather(y, last, dim));
  const Tensor second = b.binary("Mul", b.gather(x, last, dim), b.gather(y, next, dim));
  b.bind(b.binary("Sub", first, second));
}

void vecdot(OpBuilder& b) {
  const Tensor products = b.binary("Mul", argument(b, "x"), argument(b, "y"));
  if (products.elements() == 0) return b.bind(b.full(std::int64_t{0}, b.result()));
  b.bind(b.reduce("ReduceSum", products, {b.integer("dim")}, false));
}

void bilinear(OpBuilder& b) {
  const Tensor x = b.tensor("input1");
  const Tensor y = b.tensor("input2");
  const Tensor weight = b.tensor("weight");
  const std::int64_t rows = x.elements() / std::max<std::int64_t>(1, x.size(-1));
  if (x.size(-1) == 0 || y.size(-1) == 0) return b.refuse("a bilinear form of nothing");
  const Tensor left = b.reshape(x, {rows, 1, 1, x.size(-1)});
  const Tensor middle = b.matmul(left, weight);  // [rows, out, 1, in2]
  const Tensor forms = b.matmul(middle, b.reshape(y, {rows, 1, y.size(-1), 1}));
  const Tensor shaped = b.reshape(forms, b.result().shape);
  b.bind(b.has("bias") ? b.binary("Add", shaped, b.tensor("bias")) : shaped);
}

constexpr std::array kLinearAlgebraOps = {
    EmitEntry{"aten::addbmm", addbmm},
    EmitEntry{"aten::addmm", addmm},
    EmitEntry{"aten::addmv", addmv},
    EmitEntry{"aten::addr", addr},
    EmitEntry{"aten::baddbmm", baddbmm},
    EmitEntry{"aten::bilinear", bilinear},
    EmitEntry{"aten::bmm", product},
    EmitEntry{"aten::chain_matmul", multi_dot},
    EmitEntry{"aten::cross", cross},
    EmitEntry{"aten::dot", product},
    EmitEntry{"aten::ger", outer},
    EmitEntry{"aten::inner", inner},
    EmitEntry{"aten::kron", kron},
    EmitEntry{"aten::linalg_cross", cross},
    EmitEntry{"aten::linalg_matmul", product},
    EmitEntry{"aten::linalg_matrix_power", matrix_power},
    EmitEntry{"aten::linalg_multi_dot", multi_dot},
    EmitEntry{"aten::linalg_vecdot", vecdot},
    EmitEntry{"aten::linear", linear},
    EmitEntry{"aten::matmul", product},
    EmitEntry{"aten::matrix_power", matrix_power},
    EmitEntry{"aten::mm", product},
    EmitEntry{"aten::mv", product},
    EmitEntry{"aten::outer", outer},
    EmitEntry{"aten::tensordot", tensordot},
    EmitEntry{"aten::vdot", product},
};

}  // namespace

EmitEntries linear_algebra_ops() { return kLinearAlgebraOps; }

}  // namespace leapp::onnx_ops
