// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers inside a model: two real tensors each. What enters and leaves the model is real.
#include <algorithm>
#include <array>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// Operators that move, copy or add up elements.
constexpr auto kPartByPart = std::to_array<std::string_view>({
    "aten::_reshape_alias",
    "aten::_unsafe_view",
    "aten::alias",
    "aten::as_strided",
    "aten::as_strided_scatter",
    "aten::atleast_1d",
    "aten::atleast_2d",
    "aten::block_diag",
    "aten::broadcast_to",
    "aten::cat",
    "aten::chunk",
    "aten::clone",
    "aten::column_stack",
    "aten::concat",
    "aten::concatenate",
    "aten::constant_pad_nd",
    "aten::contiguous",
    "aten::cumsum",
    "aten::detach",
    "aten::diag",
    "aten::diag_embed",
    "aten::diagflat",
    "aten::diagonal",
    "aten::diagonal_scatter",
    "aten::dstack",
    "aten::expand",
    "aten::expand_as",
    "aten::fft_fftshift",
    "aten::fft_ifftshift",
    "aten::flatten.using_ints",
    "aten::flip",
    "aten::fliplr",
    "aten::flipud",
    "aten::gather",
    "aten::hstack",
    "aten::index.Tensor",
    "aten::index_select",
    "aten::lift_fresh",
    "aten::lift_fresh_copy",
    "aten::mT",
    "aten::mean",
    "aten::mean.dim",
    "aten::movedim.int",
    "aten::movedim.intlist",
    "aten::narrow",
    "aten::neg",
    "aten::numpy_T",
    "aten::pad",
    "aten::permute",
    "aten::ravel",
    "aten::repeat",
    "aten::repeat_interleave.self_int",
    "aten::reshape",
    "aten::reshape_as",
    "aten::resolve_conj",
    "aten::resolve_neg",
    "aten::roll",
    "aten::rot90",
    "aten::select.int",
    "aten::select_scatter",
    "aten::slice.Tensor",
    "aten::slice_scatter",
    "aten::split.Tensor",
    "aten::split_with_sizes",
    "aten::squeeze",
    "aten::squeeze.dim",
    "aten::squeeze.dims",
    "aten::stack",
    "aten::sum",
    "aten::sum.dim_IntList",
    "aten::swapaxes",
    "aten::swapdims",
    "aten::t",
    "aten::take",
    "aten::tile",
    "aten::trace",
    "aten::transpose.int",
    "aten::tril",
    "aten::triu",
    "aten::unbind.int",
    "aten::unflatten.int",
    "aten::unfold",
    "aten::unsqueeze",
    "aten::view",
    "aten::view_as",
    "aten::vstack",
});

// Looked up by bisection.
static_assert(std::is_sorted(kPartByPart.begin(), kPartByPart.end()));

/// Parts in the result's dtype.
ComplexTensor complex_argument(OpBuilder& b, std::string_view name) { return b.complex(name, b.result().dtype); }

/// Both parts as wide as the result.
void bind_expanded(OpBuilder& b, const ComplexTensor& value) {
  b.bind(0, ComplexTensor{b.expand(value.real, b.result().shape), b.expand(value.imaginary, b.result().shape)});
}

ComplexTensor product_of(OpBuilder& b, const ComplexTensor& x, const ComplexTensor& y) {
  const auto times = [&](const Tensor& p, const Tensor& q) { return b.binary("Mul", p, q); };
  return {b.binary("Sub", times(x.real, y.real), times(x.imaginary, y.imaginary)),
          b.binary("Add", times(x.real, y.imaginary), times(x.imaginary, y.real))};
}

ComplexTensor conjugate_of(OpBuilder& b, const ComplexTensor& x) { return {x.real, b.unary("Neg", x.imaginary)}; }

void view_as_real(OpBuilder& b) {
  const ComplexTensor x = b.complex("self");
  b.bind(b.concat({b.unsqueeze(x.real, {-1}), b.unsqueeze(x.imaginary, {-1})}, -1));
}

void view_as_complex(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  b.bind(0, ComplexTensor{b.select(x, -1, 0), b.select(x, -1, 1)});
}

void real(OpBuilder& b) { b.bind(b.complex("self").real); }
void imaginary(OpBuilder& b) { b.bind(b.complex("self").imaginary); }

void from_parts(OpBuilder& b) { bind_expanded(b, {b.tensor("real"), b.tensor("imag")}); }

void polar(OpBuilder& b) {
  const Tensor length = b.tensor("abs");
  const Tensor angle = b.tensor("angle");
  bind_expanded(b, {b.binary("Mul", length, b.unary("Cos", angle)), b.binary("Mul", length, b.unary("Sin", angle))});
}

void length(OpBuilder& b) {
  const ComplexTensor x = b.complex("self");
  b.bind(length_of(b, x.real, x.imaginary));
}

void complex_angle(OpBuilder& b) {
  const ComplexTensor x = b.complex("self");
  b.bind(angle_of(b, x.imaginary, x.real));
}

void conjugate(OpBuilder& b) { b.bind(0, conjugate_of(b, b.complex("self"))); }

/// The adjoint of a matrix, or of each in a batch.
void adjoint(OpBuilder& b) {
  const ComplexTensor x = conjugate_of(b, b.complex("self"));
  b.bind(0, ComplexTensor{b.swap_dims(x.real, -2, -1), b.swap_dims(x.imaginary, -2, -1)});
}

/// Real to complex, to another precision, or to real, where torch drops the imaginary part.
void complex_convert(OpBuilder& b) {
  const ComplexTensor x = complex_argument(b, "self");
  if (!is_complex(b.node().result(0)->dtype())) return b.bind(x.real);
  b.bind(0, x);
}

void complex_add_or_subtract(OpBuilder& b) {
  const ComplexTensor x = complex_argument(b, "self");
  ComplexTensor y = complex_argument(b, "other");
  if (b.has("alpha")) y = product_of(b, y, complex_argument(b, "alpha"));
  bind_expanded(b, {b.binary(b.onnx_op(), x.real, y.real), b.binary(b.onnx_op(), x.imaginary, y.imaginary)});
}

/// A real factor scales both parts, even where the other is infinite.
void multiply(OpBuilder& b) {
  const bool both = b.is_complex_argument("self") && b.is_complex_argument("other");
  const ComplexTensor x = complex_argument(b, "self");
  const ComplexTensor y = complex_argument(b, "other");
  if (both) return bind_expanded(b, product_of(b, x, y));
  const bool left = b.is_complex_argument("self");
  const ComplexTensor& z = left ? x : y;
  const Tensor& factor = left ? y.real : x.real;
  bind_expanded(b, {b.binary("Mul", z.real, factor), b.binary("Mul", z.imaginary, factor)});
}

void divide(OpBuilder& b) {
  if (b.has("rounding_mode")) return b.refuse("complex numbers are not rounded");
  const ComplexTensor x = complex_argument(b, "self");
  const ComplexTensor y = complex_argument(b, "other");
  if (!b.is_complex_argument("other")) {
    return bind_expanded(b, {b.binary("Div", x.real, y.real), b.binary("Div", x.imaginary, y.real)});
  }
  const ComplexTensor above = product_of(b, x, conjugate_of(b, y));
  const Tensor below = b.binary("Add", b.binary("Mul", y.real, y.real), b.binary("Mul", y.imaginary, y.imaginary));
  bind_expanded(b, {b.binary("Div", above.real, below), b.binary("Div", above.imaginary, below)});
}

void complex_square(OpBuilder& b) {
  const ComplexTensor x = b.complex("self");
  b.bind(0, product_of(b, x, x));
}

void complex_exponential(OpBuilder& b) {
  const ComplexTensor x = b.complex("self");
  const Tensor size = b.unary("Exp", x.real);
  b.bind(0, ComplexTensor{b.binary("Mul", size, b.unary("Cos", x.imaginary)),
                          b.binary("Mul", size, b.unary("Sin", x.imaginary))});
}

void matrix_product(OpBuilder& b) {
  const ComplexTensor x = complex_argument(b, "self");
  const ComplexTensor y = complex_argument(b, b.has("mat2") ? "mat2" : b.has("vec") ? "vec" : "other");
  b.bind(0, ComplexTensor{b.binary("Sub", b.matmul(x.real, y.real), b.matmul(x.imaginary, y.imaginary)),
                          b.binary("Add", b.matmul(x.real, y.imaginary), b.matmul(x.imaginary, y.real))});
}

constexpr std::array kComplexOps = {
    EmitEntry{"aten::_conj", conjugate},
    EmitEntry{"aten::_to_copy", complex_convert},
    EmitEntry{"aten::abs", length},
    EmitEntry{"aten::add.Tensor", complex_add_or_subtract, "Add"},
    EmitEntry{"aten::adjoint", adjoint},
    EmitEntry{"aten::angle", complex_angle},
    EmitEntry{"aten::bmm", matrix_product},
    EmitEntry{"aten::complex", from_parts},
    EmitEntry{"aten::conj", conjugate},
    EmitEntry{"aten::conj_physical", conjugate},
    EmitEntry{"aten::div.Tensor", divide},
    EmitEntry{"aten::exp", complex_exponential},
    EmitEntry{"aten::imag", imaginary},
    EmitEntry{"aten::mH", adjoint},
    EmitEntry{"aten::matmul", matrix_product},
    EmitEntry{"aten::mm", matrix_product},
    EmitEntry{"aten::mul.Tensor", multiply},
    EmitEntry{"aten::mv", matrix_product},
    EmitEntry{"aten::polar", polar},
    EmitEntry{"aten::real", real},
    EmitEntry{"aten::square", complex_square},
    EmitEntry{"aten::sub.Tensor", complex_add_or_subtract, "Sub"},
    EmitEntry{"aten::to.dtype", complex_convert},
    EmitEntry{"aten::to.dtype_layout", complex_convert},
    EmitEntry{"aten::to.other", complex_convert},
    EmitEntry{"aten::type_as", complex_convert},
    EmitEntry{"aten::view_as_complex", view_as_complex},
    EmitEntry{"aten::view_as_real", view_as_real},
};

}  // namespace

bool is_part_by_part(std::string_view name) { return std::binary_search(kPartByPart.begin(), kPartByPart.end(), name); }

EmitEntries complex_ops() { return kComplexOps; }

}  // namespace leapp::onnx_ops
