// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The three Fourier transforms that all of torch's are made of. Short ones are products with a matrix, which is as
// exact as it gets and which every opset has; long ones are ONNX's DFT.
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

constexpr std::int64_t kShort = 256;

bool is_short(OpBuilder& b, std::int64_t size) {
  constexpr int kFirstWithDft = 17;
  return size <= kShort || b.opset() < kFirstWithDft;
}

/// One dimension of `in` numbers becomes `out`, of a transform over `size`.
struct Transform {
  std::int64_t size = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool forward = true;
};

/// weight(row) cos or sin of 2 pi row column / size, [in, out].
template <typename Weight>
Tensor wave(OpBuilder& b, const Transform& t, DType dtype, double (*function)(double), Weight weight) {
  std::vector<Scalar> values;
  for (std::int64_t row = 0; row < t.in; ++row) {
    for (std::int64_t column = 0; column < t.out; ++column) {
      const std::int64_t turns = row * column % t.size;
      const double angle = 2 * std::numbers::pi * static_cast<double>(turns) / static_cast<double>(t.size);
      const bool half = 2 * turns == t.size || turns == 0;
      const bool sine = function(0.0) == 0;
      values.push_back(sine && half ? 0.0 : weight(row) * function(angle));
    }
  }
  return b.constant(values, {dtype, {t.in, t.out}});
}

double cosine(double x) { return std::cos(x); }
double sine(double x) { return std::sin(x); }
double one(std::int64_t) { return 1; }

/// `x` with `dim` last, as a matrix; and back.
Tensor rows_along(OpBuilder& b, const Tensor& x, std::int64_t dim) {
  const Tensor last = b.swap_dims(x, dim, -1);
  return b.reshape(last, {last.elements() / last.size(-1), last.size(-1)});
}

Tensor back_along(OpBuilder& b, const Tensor& rows, Shape shape, std::int64_t dim) {
  const auto axis = static_cast<std::size_t>(wrap_dim(dim, std::ssize(shape)));
  std::swap(shape[axis], shape.back());
  shape.back() = rows.size(-1);
  return b.swap_dims(b.reshape(rows, shape), dim, -1);
}

/// Rows by matrices. An imaginary part that is not present() is zero.
ComplexTensor by_matrix(OpBuilder& b, const ComplexTensor& x, const Transform& t) {
  const Tensor c = wave(b, t, x.real.dtype, cosine, one);
  const Tensor s = wave(b, t, x.real.dtype, sine, one);
  // Forward: (re + i im)(c - i s); backward with the other sign.
  const std::string minus = t.forward ? "Sub" : "Add";
  const std::string plus = t.forward ? "Add" : "Sub";
  const Tensor turned = b.matmul(x.real, s);
  if (!x.imaginary.present()) return {b.matmul(x.real, c), t.forward ? b.unary("Neg", turned) : turned};
  return {b.binary(plus, b.matmul(x.real, c), b.matmul(x.imaginary, s)),
          b.binary(minus, b.matmul(x.imaginary, c), turned)};
}

/// Rows by ONNX's own node, whose backward transform divides by the size. ONNX Runtime's is exact to four digits only
/// unless the size is a power of two, so that others are computed in float64.
ComplexTensor by_dft(OpBuilder& b, const ComplexTensor& given, const Transform& t) {
  const DType dtype = given.real.dtype;
  const DType work = std::has_single_bit(static_cast<std::uint64_t>(t.size)) ? dtype : DType::kFloat64;
  ComplexTensor x{b.cast(given.real, work), {}};
  if (given.imaginary.present()) x.imaginary = b.cast(given.imaginary, work);
  const Tensor imaginary = x.imaginary.present() ? x.imaginary : b.full(0.0, x.real.type());
  const Tensor pairs = b.concat({b.unsqueeze(x.real, {-1}), b.unsqueeze(imaginary, {-1})}, -1);
  Attributes attributes = {{"inverse", std::int64_t{!t.forward}}};
  Tensors inputs = {pairs};
  if (b.opset() >= 20) {
    inputs = {pairs, Tensor{}, b.constant(std::int64_t{1}, DType::kInt64)};
  } else {
    attributes.push_back({"axis", std::int64_t{1}});
  }
  Tensor found = b.add("DFT", inputs, pairs.type(), std::move(attributes));
  if (!t.forward) found = with_number(b, "Mul", found, static_cast<double>(t.size));
  found = b.slice(found, 1, 0, t.out);
  found = b.cast(found, dtype);
  return {b.select(found, -1, 0), b.select(found, -1, 1)};
}

/// The whole spectrum or, with `out` below the size, its beginning.
ComplexTensor transformed(OpBuilder& b, const ComplexTensor& x, std::int64_t dim, const Transform& t) {
  ComplexTensor rows{rows_along(b, x.real, dim), {}};
  if (x.imaginary.present()) rows.imaginary = rows_along(b, x.imaginary, dim);
  const ComplexTensor found = is_short(b, t.size) ? by_matrix(b, rows, t) : by_dft(b, rows, t);
  return {back_along(b, found.real, x.real.shape, dim), back_along(b, found.imaginary, x.real.shape, dim)};
}

ComplexTensor whole(OpBuilder& b, const ComplexTensor& x, std::int64_t dim, bool forward) {
  const std::int64_t size = x.real.size(dim);
  return transformed(b, x, dim, {size, size, size, forward});
}

/// torch's `normalization`: 0 none, 1 by the root of the number of elements, 2 by it.
double factor_of(std::int64_t normalization, double count) {
  if (normalization == 0) return 1;
  return normalization == 1 ? 1 / std::sqrt(count) : 1 / count;
}

Tensor scaled(OpBuilder& b, const Tensor& x, double factor) {
  return factor == 1 ? x : with_number(b, "Mul", x, factor);
}

double count_along(const Shape& shape, const Ints& dims) {
  double count = 1;
  for (const std::int64_t dim : dims) {
    count *= static_cast<double>(shape[static_cast<std::size_t>(wrap_dim(dim, std::ssize(shape)))]);
  }
  return count;
}

void bind_scaled(OpBuilder& b, const ComplexTensor& x, double factor) {
  b.bind(0, ComplexTensor{scaled(b, x.real, factor), scaled(b, x.imaginary, factor)});
}

/// Real to complex: the last of `dim` first, of which half is enough, then the others.
void real_to_complex(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  Ints dims = b.integers("dim");
  const double factor = factor_of(b.integer("normalization"), count_along(x.shape, dims));
  const std::int64_t last = dims.back();
  const std::int64_t size = x.size(last);
  dims.pop_back();
  ComplexTensor y = transformed(b, {x, {}}, last, {size, size, b.flag("onesided") ? size / 2 + 1 : size, true});
  for (const std::int64_t dim : dims) y = whole(b, y, dim, true);
  bind_scaled(b, y, factor);
}

void complex_to_complex(OpBuilder& b) {
  ComplexTensor x = b.complex("self");
  const Ints dims = b.integers("dim");
  const double factor = factor_of(b.integer("normalization"), count_along(x.real.shape, dims));
  for (const std::int64_t dim : dims) x = whole(b, x, dim, b.flag("forward"));
  bind_scaled(b, x, factor);
}

/// Half a spectrum gives real numbers: what stands between the ends counts twice, and the ends' imaginary parts do not.
Tensor to_real(OpBuilder& b, const ComplexTensor& x, std::int64_t dim, const Transform& t) {
  if (!is_short(b, t.size)) {
    const auto mirrored = [&](const Tensor& half) { return b.slice(half, dim, t.size - t.in, 0, -1); };
    const ComplexTensor all{b.concat({x.real, mirrored(x.real)}, dim),
                            b.concat({x.imaginary, b.unary("Neg", mirrored(x.imaginary))}, dim)};
    return whole(b, all, dim, false).real;
  }
  const auto weight = [&](std::int64_t row) { return row == 0 || 2 * row == t.size ? 1.0 : 2.0; };
  const Tensor c = wave(b, t, x.real.dtype, cosine, weight);
  const Tensor s = wave(b, t, x.real.dtype, sine, weight);
  const Tensor rows =
      b.binary("Sub", b.matmul(rows_along(b, x.real, dim), c), b.matmul(rows_along(b, x.imaginary, dim), s));
  return back_along(b, rows, x.real.shape, dim);
}

void complex_to_real(OpBuilder& b) {
  ComplexTensor x = b.complex("self");
  Ints dims = b.integers("dim");
  const std::int64_t last = dims.back();
  const std::int64_t size = b.integer("last_dim_size");
  const double factor = factor_of(b.integer("normalization"), count_along(b.result().shape, dims));
  dims.pop_back();
  for (const std::int64_t dim : dims) x = whole(b, x, dim, false);
  const std::int64_t half = size / 2 + 1;
  x = {b.slice(x.real, last, 0, half), b.slice(x.imaginary, last, 0, half)};
  b.bind(scaled(b, to_real(b, x, last, {size, half, size, false}), factor));
}

constexpr std::array kFourierOps = {
    EmitEntry{"aten::_fft_c2c", complex_to_complex},
    EmitEntry{"aten::_fft_c2r", complex_to_real},
    EmitEntry{"aten::_fft_r2c", real_to_complex},
};

}  // namespace

EmitEntries fourier_ops() { return kFourierOps; }

}  // namespace leapp::onnx_ops
