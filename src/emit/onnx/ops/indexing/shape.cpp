// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The same elements in another shape or order. Joining, repeating and padding are in joining.cpp.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// Row-major elements keep their order: view, flatten, squeeze, ...
void to_result_shape(OpBuilder& b) { b.bind(b.reshape(b.tensor("self"), b.result().shape)); }

/// Every result is one of the arguments, reshaped.
void each_to_result_shape(OpBuilder& b) {
  const Tensors parts = b.tensors("tensors");
  for (std::size_t i = 0; i < parts.size(); ++i) b.bind(i, b.reshape(parts[i], b.result(i).shape));
}

void transpose(OpBuilder& b) { b.bind(b.swap_dims(b.tensor("self"), b.integer("dim0"), b.integer("dim1"))); }

void swap_axes(OpBuilder& b) { b.bind(b.swap_dims(b.tensor("self"), b.integer("axis0"), b.integer("axis1"))); }

/// t, mT, mH, adjoint: the last two dimensions. Of reals, the conjugate is the same.
void matrix_transpose(OpBuilder& b) { b.bind(b.swap_dims(b.tensor("self"), -2, -1)); }

void reverse_dims(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  Ints order = iota(x.rank());
  std::reverse(order.begin(), order.end());
  b.bind(b.transpose(x, order));
}

void permute(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  Ints order;
  for (const std::int64_t dim : b.integers("dims")) order.push_back(wrap_dim(dim, x.rank()));
  b.bind(b.transpose(x, order));
}

void move_dims(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Ints source = b.integers("source");
  const Ints destination = b.integers("destination");
  Ints order(at(x.rank()), -1);
  std::vector<bool> moved(at(x.rank()), false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::int64_t from = wrap_dim(source[i], x.rank());
    order[at(wrap_dim(destination[i], x.rank()))] = from;
    moved[at(from)] = true;
  }
  std::int64_t next = 0;
  for (std::int64_t& place : order) {
    if (place >= 0) continue;
    while (moved[at(next)]) ++next;
    place = next++;
  }
  b.bind(b.transpose(x, order));
}

void expand(OpBuilder& b) { b.bind(b.expand(b.tensor("self"), b.result().shape)); }

void broadcast_all(OpBuilder& b) {
  const Tensors parts = b.tensors("tensors");
  for (std::size_t i = 0; i < parts.size(); ++i) b.bind(i, b.expand(parts[i], b.result(i).shape));
}

void meshgrid(OpBuilder& b) {
  const Tensors parts = b.tensors("tensors");
  const std::int64_t rank = std::ssize(b.result().shape);
  const bool swapped = b.has("indexing") && b.text("indexing") == "xy" && rank > 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t axis = swapped && i < 2 ? 1 - i : i;
    Shape shape(at(rank), 1);
    shape[axis] = parts[i].elements();
    b.bind(i, b.expand(b.reshape(parts[i], shape), b.result(i).shape));
  }
}

void slice(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t start = b.has("start") ? b.integer("start") : 0;
  const std::int64_t end = b.has("end") ? b.integer("end") : std::numeric_limits<std::int64_t>::max();
  b.bind(b.slice(x, b.integer("dim"), start, end, b.integer("step")));
}

void narrow(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t dim = b.integer("dim");
  const std::int64_t length = b.integer("length");
  if (b.is_number("start")) {
    const std::int64_t start = b.integer("start");
    const std::int64_t first = start < 0 ? start + x.size(dim) : start;
    return b.bind(b.slice(x, dim, first, first + length));
  }
  Tensor start = b.reshape(b.operand("start", DType::kInt64), {});
  const Tensor wrapped = b.binary("Add", start, b.constant(x.size(dim), DType::kInt64));
  start = b.where(compare_number(b, "Less", start, 0), wrapped, start);
  b.bind(b.gather(x, b.binary("Add", start, b.ints(iota(length))), dim));
}

void select(OpBuilder& b) { b.bind(b.select(b.tensor("self"), b.integer("dim"), b.integer("index"))); }

/// Every result takes its own number of elements along `dim`.
void split_into_results(OpBuilder& b, const Tensor& x, std::int64_t dim) {
  Ints sizes;
  for (std::size_t i = 0; i < b.result_count(); ++i) {
    sizes.push_back(b.result(i).shape[at(wrap_dim(dim, x.rank()))]);
  }
  const Tensors parts = b.split(x, dim, sizes);
  for (std::size_t i = 0; i < parts.size(); ++i) b.bind(i, parts[i]);
}

void split(OpBuilder& b) { split_into_results(b, b.tensor("self"), b.integer("dim")); }

/// tensor_split by a tensor: known when exporting, or the results would have no fixed shape.
void split_by_tensor(OpBuilder& b) {
  const Tensor where = b.tensor("tensor_indices_or_sections");
  if (!b.known_values(where)) return b.refuse("where to split depends on data");
  split(b);
}

void split_along(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::string op = b.onnx_op();
  split_into_results(b, x, op == "v" ? 0 : op == "d" ? 2 : x.rank() == 1 ? 0 : 1);
}

void unbind(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t dim = b.integer("dim");
  const Ints ones(at(x.size(dim)), 1);
  const Tensors parts = b.split(x, dim, ones);
  for (std::size_t i = 0; i < parts.size(); ++i) b.bind(i, b.squeeze(parts[i], {dim}));
}

Tensor flipped(OpBuilder& b, Tensor x, const Ints& dims) {
  for (const std::int64_t dim : dims) {
    if (x.rank() > 0) x = b.slice(x, dim, x.size(dim) - 1, -1 - x.size(dim), -1);
  }
  return x;
}

void flip(OpBuilder& b) { b.bind(flipped(b, b.tensor("self"), b.integers("dims"))); }

void flip_one(OpBuilder& b) { b.bind(flipped(b, b.tensor("self"), {b.onnx_op() == "lr" ? 1 : 0})); }

void rotate(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Ints dims = b.integers("dims");
  const std::int64_t turns = ((b.integer("k") % 4) + 4) % 4;
  if (turns == 0) return b.bind(x);
  if (turns == 2) return b.bind(flipped(b, x, dims));
  b.bind(b.swap_dims(flipped(b, x, {turns == 1 ? dims[1] : dims[0]}), dims[0], dims[1]));
}

Tensor rolled(OpBuilder& b, const Tensor& x, std::int64_t shift, std::int64_t dim) {
  const std::int64_t size = x.size(dim);
  if (size == 0 || x.rank() == 0) return x;
  const std::int64_t start = ((-shift % size) + size) % size;
  if (start == 0) return x;
  return b.concat({b.slice(x, dim, start, size), b.slice(x, dim, 0, start)}, dim);
}

void roll(OpBuilder& b) {
  Tensor x = b.tensor("self");
  const Ints shifts = b.integers("shifts");
  const Ints dims = b.integers("dims");
  if (dims.empty()) {
    return b.bind(b.reshape(rolled(b, b.reshape(x, {x.elements()}), shifts[0], 0), b.result().shape));
  }
  for (std::size_t i = 0; i < dims.size(); ++i) x = rolled(b, x, shifts[i], dims[i]);
  b.bind(x);
}

/// fftshift and its inverse: half of every dimension.
void half_roll(OpBuilder& b) {
  Tensor x = b.tensor("self");
  const Ints dims = b.has("dim") ? b.integers("dim") : iota(x.rank());
  for (const std::int64_t dim : dims) {
    const std::int64_t size = x.size(dim);
    x = rolled(b, x, b.onnx_op() == "inverse" ? (size + 1) / 2 : size / 2, dim);
  }
  b.bind(x);
}

void triangle(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const bool upper = b.onnx_op() == "upper";
  const std::int64_t diagonal = b.integer("diagonal");
  if (b.opset() >= 14) {
    const Tensor k = b.constant(diagonal, DType::kInt64);
    return b.bind(b.add("Trilu", {x, k}, x.type(), {{"upper", std::int64_t{upper}}}));
  }
  const Tensor mask = triangle_mask(b, x.size(-2), x.size(-1), diagonal, upper);
  b.bind(b.where(mask, x, b.constant(std::int64_t{0}, x.dtype)));
}

DiagonalOptions diagonal_options(OpBuilder& b) { return {b.integer("offset"), b.integer("dim1"), b.integer("dim2")}; }

void diagonal(OpBuilder& b) { b.bind(take_diagonal(b, b.tensor(b.has("A") ? "A" : "self"), diagonal_options(b))); }

void diag_embed(OpBuilder& b) { b.bind(put_diagonal(b, b.tensor("self"), diagonal_options(b))); }

void diag(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t offset = b.integer("diagonal");
  b.bind(x.rank() == 1 ? put_diagonal(b, x, {offset, 0, 1}) : take_diagonal(b, x, {offset, 0, 1}));
}

void diag_flat(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  b.bind(put_diagonal(b, b.reshape(x, {x.elements()}), {b.integer("offset"), 0, 1}));
}

void trace(OpBuilder& b) {
  const Tensor diagonal = take_diagonal(b, b.operand("self", b.result().dtype), {});
  b.bind(b.reduce("ReduceSum", diagonal, {0}, false));
}

/// Geometry over a flat storage that is no view ONNX knows: one Gather.
void as_strided(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const Ints size = b.integers("size");
  const Ints stride = b.integers("stride");
  Ints positions = {b.has("storage_offset") ? b.integer("storage_offset") : 0};
  for (std::size_t i = 0; i < size.size(); ++i) {
    Ints next;
    for (const std::int64_t position : positions) {
      for (std::int64_t k = 0; k < size[i]; ++k) next.push_back(position + k * stride[i]);
    }
    positions = std::move(next);
  }
  b.bind(b.gather(b.reshape(x, {x.elements()}), b.ints(positions, size), 0));
}

/// Windows along a dimension; the new last dimension runs inside the window.
void unfold(OpBuilder& b) {
  Tensor x = b.tensor("self");
  if (x.rank() == 0) x = b.reshape(x, {1});
  const std::int64_t dim = wrap_dim(b.integer("dimension"), x.rank());
  const std::int64_t size = b.integer("size");
  const std::int64_t step = b.integer("step");
  const std::int64_t windows = (x.size(dim) - size) / step + 1;
  Ints positions;
  for (std::int64_t window = 0; window < windows; ++window) {
    for (std::int64_t i = 0; i < size; ++i) positions.push_back(window * step + i);
  }
  const Tensor taken = b.gather(x, b.ints(positions, {windows, size}), dim);
  Ints order = iota(taken.rank());
  order.erase(order.begin() + dim + 1);
  order.push_back(dim + 1);
  b.bind(b.reshape(b.transpose(taken, order), b.result().shape));
}

void channel_shuffle(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t groups = b.integer("groups");
  const Shape grouped = {x.size(0), groups, x.size(1) / groups, x.elements() / x.size(0) / x.size(1)};
  b.bind(b.reshape(b.swap_dims(b.reshape(x, grouped), 1, 2), x.shape));
}

/// [*, C r^2, H, W] to [*, C, H r, W r].
void pixel_shuffle(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t r = b.integer("upscale_factor");
  const std::int64_t channels = x.size(-3) / (r * r);
  const std::int64_t batch = x.elements() / (x.size(-3) * x.size(-2) * x.size(-1));
  const Tensor apart = b.reshape(x, {batch, channels, r, r, x.size(-2), x.size(-1)});
  b.bind(b.reshape(b.transpose(apart, {0, 1, 4, 2, 5, 3}), b.result().shape));
}

void pixel_unshuffle(OpBuilder& b) {
  const Tensor x = b.tensor("self");
  const std::int64_t r = b.integer("downscale_factor");
  const std::int64_t batch = x.elements() / (x.size(-3) * x.size(-2) * x.size(-1));
  const Tensor apart = b.reshape(x, {batch, x.size(-3), x.size(-2) / r, r, x.size(-1) / r, r});
  b.bind(b.reshape(b.transpose(apart, {0, 1, 3, 5, 2, 4}), b.result().shape));
}

constexpr std::array kShapeOps = {
    EmitEntry{"aten::_reshape_alias", to_result_shape},
    EmitEntry{"aten::_unsafe_view", to_result_shape},
    EmitEntry{"aten::adjoint", matrix_transpose},
    EmitEntry{"aten::as_strided", as_strided},
    EmitEntry{"aten::as_strided_copy", as_strided},
    EmitEntry{"aten::atleast_1d", to_result_shape},
    EmitEntry{"aten::atleast_1d.Sequence", each_to_result_shape},
    EmitEntry{"aten::atleast_2d", to_result_shape},
    EmitEntry{"aten::atleast_2d.Sequence", each_to_result_shape},
    EmitEntry{"aten::atleast_3d", to_result_shape},
    EmitEntry{"aten::atleast_3d.Sequence", each_to_result_shape},
    EmitEntry{"aten::broadcast_tensors", broadcast_all},
    EmitEntry{"aten::broadcast_to", expand},
    EmitEntry{"aten::channel_shuffle", channel_shuffle},
    EmitEntry{"aten::native_channel_shuffle", channel_shuffle},
    EmitEntry{"aten::chunk", split},
    EmitEntry{"aten::diag", diag},
    EmitEntry{"aten::diag_embed", diag_embed},
    EmitEntry{"aten::diagflat", diag_flat},
    EmitEntry{"aten::diagonal", diagonal},
    EmitEntry{"aten::diagonal_copy", diagonal},
    EmitEntry{"aten::dsplit.array", split_along, "d"},
    EmitEntry{"aten::dsplit.int", split_along, "d"},
    EmitEntry{"aten::expand", expand},
    EmitEntry{"aten::expand_as", expand},
    EmitEntry{"aten::expand_copy", expand},
    EmitEntry{"aten::fft_fftshift", half_roll},
    EmitEntry{"aten::fft_ifftshift", half_roll, "inverse"},
    EmitEntry{"aten::flatten.using_ints", to_result_shape},
    EmitEntry{"aten::flip", flip},
    EmitEntry{"aten::fliplr", flip_one, "lr"},
    EmitEntry{"aten::flipud", flip_one, "ud"},
    EmitEntry{"aten::hsplit.array", split_along, "h"},
    EmitEntry{"aten::hsplit.int", split_along, "h"},
    EmitEntry{"aten::linalg_diagonal", diagonal},
    EmitEntry{"aten::mH", matrix_transpose},
    EmitEntry{"aten::mT", matrix_transpose},
    EmitEntry{"aten::matrix_H", matrix_transpose},
    EmitEntry{"aten::meshgrid", meshgrid},
    EmitEntry{"aten::meshgrid.indexing", meshgrid},
    EmitEntry{"aten::moveaxis.int", move_dims},
    EmitEntry{"aten::moveaxis.intlist", move_dims},
    EmitEntry{"aten::movedim.int", move_dims},
    EmitEntry{"aten::movedim.intlist", move_dims},
    EmitEntry{"aten::narrow", narrow},
    EmitEntry{"aten::narrow.Tensor", narrow},
    EmitEntry{"aten::narrow_copy", narrow},
    EmitEntry{"aten::numpy_T", reverse_dims},
    EmitEntry{"aten::permute", permute},
    EmitEntry{"aten::permute_copy", permute},
    EmitEntry{"aten::pixel_shuffle", pixel_shuffle},
    EmitEntry{"aten::pixel_unshuffle", pixel_unshuffle},
    EmitEntry{"aten::ravel", to_result_shape},
    EmitEntry{"aten::reshape", to_result_shape},
    EmitEntry{"aten::reshape_as", to_result_shape},
    EmitEntry{"aten::roll", roll},
    EmitEntry{"aten::rot90", rotate},
    EmitEntry{"aten::select.int", select},
    EmitEntry{"aten::select_copy.int", select},
    EmitEntry{"aten::slice.Tensor", slice},
    EmitEntry{"aten::slice_copy.Tensor", slice},
    EmitEntry{"aten::split.Tensor", split},
    EmitEntry{"aten::split.sizes", split},
    EmitEntry{"aten::split_copy.Tensor", split},
    EmitEntry{"aten::split_with_sizes", split},
    EmitEntry{"aten::split_with_sizes_copy", split},
    EmitEntry{"aten::squeeze", to_result_shape},
    EmitEntry{"aten::squeeze.dim", to_result_shape},
    EmitEntry{"aten::squeeze.dims", to_result_shape},
    EmitEntry{"aten::squeeze_copy", to_result_shape},
    EmitEntry{"aten::squeeze_copy.dim", to_result_shape},
    EmitEntry{"aten::squeeze_copy.dims", to_result_shape},
    EmitEntry{"aten::swapaxes", swap_axes},
    EmitEntry{"aten::swapdims", transpose},
    EmitEntry{"aten::t", matrix_transpose},
    EmitEntry{"aten::t_copy", matrix_transpose},
    EmitEntry{"aten::tensor_split.indices", split},
    EmitEntry{"aten::tensor_split.sections", split},
    EmitEntry{"aten::tensor_split.tensor_indices_or_sections", split_by_tensor},
    EmitEntry{"aten::trace", trace},
    EmitEntry{"aten::transpose.int", transpose},
    EmitEntry{"aten::transpose_copy.int", transpose},
    EmitEntry{"aten::tril", triangle, "lower"},
    EmitEntry{"aten::triu", triangle, "upper"},
    EmitEntry{"aten::unbind.int", unbind},
    EmitEntry{"aten::unbind_copy.int", unbind},
    EmitEntry{"aten::unflatten.int", to_result_shape},
    EmitEntry{"aten::unfold", unfold},
    EmitEntry{"aten::unfold_copy", unfold},
    EmitEntry{"aten::unsafe_chunk", split},
    EmitEntry{"aten::unsafe_split.Tensor", split},
    EmitEntry{"aten::unsafe_split_with_sizes", split},
    EmitEntry{"aten::unsqueeze", to_result_shape},
    EmitEntry{"aten::unsqueeze_copy", to_result_shape},
    EmitEntry{"aten::view", to_result_shape},
    EmitEntry{"aten::view_as", to_result_shape},
    EmitEntry{"aten::view_copy", to_result_shape},
    EmitEntry{"aten::vsplit.array", split_along, "v"},
    EmitEntry{"aten::vsplit.int", split_along, "v"},
};

}  // namespace

EmitEntries shape_ops() { return kShapeOps; }

}  // namespace leapp::onnx_ops
