// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.h"
#include "engine/native/op_table.h"
#include "engine/native/ops/arguments.h"
#include "engine/native/ops/matrices.h"
#include "engine/native/scalar/numbers.h"

namespace leapp::native {
namespace {

using kernels::Binary;

template <typename T>
void scalar_matmul(const ScalarMatMul& args) noexcept {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  auto* y = static_cast<T*>(args.y);
  for (std::int64_t batch = 0; batch < args.batch; ++batch) {
    const T* a = static_cast<const T*>(args.a) + batch * args.a_batch_stride;
    const T* b = static_cast<const T*>(args.b) + batch * args.b_batch_stride;
    for (std::int64_t i = 0; i < args.m; ++i) {
      for (std::int64_t j = 0; j < args.n; ++j) {
        Sum sum = 0;
        for (std::int64_t k = 0; k < args.k; ++k) {
          sum += static_cast<Sum>(a[i * args.k + k]) * static_cast<Sum>(b[k * args.n + j]);
        }
        *y++ = static_cast<T>(sum);
      }
    }
  }
}

template <typename T>
inline constexpr Kernel kScalarMatMul = kernel_of<&scalar_matmul<T>>("scalar matmul");

/// [.., m, k] times [.., k, n], of which vectors have been made matrices.
struct Product {
  ValueId a = kNoValue;
  ValueId b = kNoValue;
  Shape batch;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
};

Shape batch_of(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

/// An operand with all the batch axes that the result has: itself when it has them all or has none.
ValueId with_batch(Lowering& b, ValueId x, const Shape& batch) {
  if (product(batch_of(b.shape(x))) == 1) return x;
  Shape shape = batch;
  shape.insert(shape.end(), b.shape(x).end() - 2, b.shape(x).end());
  return expanded(b, x, shape);
}

std::int64_t stride_of(Lowering& b, ValueId x) {
  const Shape& shape = b.shape(x);
  return product(batch_of(shape)) == 1 ? 0 : shape[shape.size() - 1] * shape[shape.size() - 2];
}

ValueId add_dynamic(Lowering& b, const Product& p) {
  Shape shape = p.batch;
  shape.insert(shape.end(), {p.m, p.n});
  kernels::MatMul args;
  ValueId x = as_float32(b, p.a);
  const ValueId other = with_batch(b, as_float32(b, p.b), p.batch);
  x = with_batch(b, x, p.batch);
  const ValueId y = b.make(DType::kFloat32, shape);
  args.m = p.m;
  args.k = p.k;
  args.n = p.n;
  args.a_row_stride = p.k;
  args.b_row_stride = p.n;
  args.y_stride = p.n;
  args.batch = product(p.batch);
  args.a_batch_stride = stride_of(b, x);
  args.b_batch_stride = stride_of(b, other);
  args.y_batch_stride = p.m * p.n;
  if (args.batch == 0 || p.m == 0 || p.n == 0) return y;
  const ValueId scratch = b.make_bytes(kernels::matmul_scratch_bytes(p.m, p.k, p.n));
  CallMaker make(kMatMul, args);
  b.add(make.read(args.a, x).read(args.b, other).write(args.y, y).scratch(args.scratch, scratch).take());
  return y;
}

ValueId add_scalar(Lowering& b, const Product& p) {
  const DType dtype = b.dtype(p.a);
  const Kernel* kernel = nullptr;
  visit_arithmetic(dtype, [&](auto tag) { kernel = &kScalarMatMul<typename decltype(tag)::type>; });
  if (kernel == nullptr) refuse(fmt::format("not for {}", dtype_name(dtype)));
  const ValueId x = with_batch(b, p.a, p.batch);
  const ValueId other = with_batch(b, p.b, p.batch);
  Shape shape = p.batch;
  shape.insert(shape.end(), {p.m, p.n});
  const ValueId y = b.make(dtype, shape);
  ScalarMatMul args;
  args.batch = product(p.batch);
  args.m = p.m;
  args.k = p.k;
  args.n = p.n;
  args.a_batch_stride = stride_of(b, x);
  args.b_batch_stride = stride_of(b, other);
  CallMaker make(*kernel, args);
  b.add(make.read(args.a, x).read(args.b, other).write(args.y, y).take());
  return y;
}

}  // namespace

ValueId packed_matrix(Lowering& b, ValueId matrix, const MatrixLayout& layout) {
  kernels::PackMatrix args;
  args.storage = storage_of(b.dtype(matrix));
  args.k = layout.k;
  args.n = layout.n;
  args.row_stride = layout.row_stride;
  args.column_stride = layout.column_stride;
  const std::size_t bytes = kernels::packed_matrix_bytes(args.k, args.n, args.storage);
  b.expect_room(bytes);
  args.source = b.aligned_bytes(matrix) + layout.offset * static_cast<std::int64_t>(dtype_size(b.dtype(matrix)));
  const ValueId packed = b.constant_bytes(bytes, [&](std::byte* to) {
    args.to = to;
    kernels::pack_matrix(args);
  });
  b.set_packed(packed, {matrix, layout.offset, layout.row_stride, layout.column_stride});
  return packed;
}

ValueId add_packed(Lowering& b, const PackedProduct& product) {
  kernels::MatMulPacked args;
  args.storage = product.storage;
  args.m = product.m;
  args.k = product.k;
  args.n = product.n;
  args.x_stride = product.k;
  args.y_stride = product.n;
  const ValueId y = b.make(DType::kFloat32, product.shape);
  if (b.elements(y) == 0) return y;
  CallMaker make(kMatMulPacked, args);
  make.read(args.x, product.x).read(args.packed, product.packed).read(args.bias, product.bias);
  b.add(make.read(args.addend, product.addend).write(args.y, y).take());
  return y;
}

ValueId multiplied(Lowering& b, ValueId a, ValueId other) {
  if (b.dtype(a) != b.dtype(other)) refuse("its inputs are of different types");
  if (b.rank(a) < 1 || b.rank(other) < 1) refuse("its inputs are numbers");
  const bool row = b.rank(a) == 1;
  const bool column = b.rank(other) == 1;
  if (row) a = b.reshaped(a, {1, b.shape(a)[0]});
  if (column) other = b.reshaped(other, {b.shape(other)[0], 1});
  Product p{a, other, broadcast(batch_of(b.shape(a)), batch_of(b.shape(other)))};
  p.m = b.shape(a)[b.shape(a).size() - 2];
  p.k = b.shape(a).back();
  p.n = b.shape(other).back();
  if (b.shape(other)[b.shape(other).size() - 2] != p.k) {
    refuse(fmt::format("shapes {} and {} cannot be multiplied", shape_text(b.shape(a)), shape_text(b.shape(other))));
  }
  Shape shape = p.batch;
  if (!row) shape.push_back(p.m);
  if (!column) shape.push_back(p.n);
  const DType dtype = b.dtype(a);
  ValueId y = kNoValue;
  if (!is_single(dtype)) {
    y = add_scalar(b, p);
  } else if (b.is_constant(other) && product(batch_of(b.shape(other))) == 1) {
    Shape whole = p.batch;
    whole.insert(whole.end(), {p.m, p.n});
    const std::int64_t rows = product(p.batch) * p.m;
    y = add_packed(b, {.x = as_float32(b, a),
                       .packed = packed_matrix(b, other, {.k = p.k, .n = p.n, .row_stride = p.n, .column_stride = 1}),
                       .storage = storage_of(b.dtype(other)),
                       .m = rows,
                       .k = p.k,
                       .n = p.n,
                       .shape = whole});
  } else {
    y = add_dynamic(b, p);
  }
  return cast(b, b.reshaped(y, shape), dtype);
}

namespace {

void lower_matmul(Lowering& b) { b.bind(0, multiplied(b, b.input(0), b.input(1))); }

ValueId scaled(Lowering& b, ValueId x, float factor) {
  if (factor == 1) return x;
  const ValueId wide = cast(b, b.constant_float(factor), b.dtype(x));
  return apply(b, Binary::kMul, x, wide);
}

void lower_gemm(Lowering& b) {
  ValueId x = b.input(0);
  ValueId w = b.input(1);
  const ValueId c = b.optional_input(2);
  if (b.rank(x) != 2 || b.rank(w) != 2 || b.dtype(x) != b.dtype(w)) refuse("expects two matrices of one type");
  if (b.attr_int("transA", 0) != 0) x = transposed(b, x, {1, 0});
  const bool turned = b.attr_int("transB", 0) != 0;
  const float alpha = b.attr_float("alpha", 1);
  const float beta = b.attr_float("beta", 1);
  const std::int64_t k = b.shape(x)[1];
  const std::int64_t n = b.shape(w)[turned ? 0 : 1];
  if (b.shape(w)[turned ? 1 : 0] != k) refuse("matrices that cannot be multiplied");
  const DType dtype = b.dtype(x);
  ValueId y = kNoValue;
  ValueId bias = kNoValue;
  if (is_single(dtype) && b.is_constant(w)) {
    // A constant row is added by the kernel itself.
    if (c != kNoValue && b.is_constant(c) && beta == 1 && alpha == 1 && b.elements(c) == n &&
        (b.rank(c) == 1 || (b.rank(c) == 2 && b.shape(c)[0] == 1))) {
      bias = cast_constant(b, c, DType::kFloat32);
    }
    const MatrixLayout layout{.k = k, .n = n, .row_stride = turned ? 1 : n, .column_stride = turned ? k : 1};
    y = cast(b,
             add_packed(b, {.x = as_float32(b, x),
                            .packed = packed_matrix(b, w, layout),
                            .bias = bias,
                            .storage = storage_of(b.dtype(w)),
                            .m = b.shape(x)[0],
                            .k = k,
                            .n = n,
                            .shape = {b.shape(x)[0], n}}),
             dtype);
  } else {
    if (turned) w = transposed(b, w, {1, 0});
    y = multiplied(b, x, w);
  }
  y = scaled(b, y, alpha);
  if (c != kNoValue && bias == kNoValue && beta != 0) {
    if (broadcast(b.shape(c), b.shape(y)) != b.shape(y)) refuse("what is added is larger than the product");
    y = apply(b, Binary::kAdd, y, scaled(b, c, beta));
  }
  b.bind(0, y);
}

/// One operand of an Einsum with its letters.
struct Term {
  std::string letters;
  ValueId value = kNoValue;
};

std::size_t extent_at(const Term& term, char letter) { return term.letters.find(letter); }

// The diagonal of every letter that occurs twice, by strides.
Term without_repeats(Lowering& b, const Term& term) {
  const auto strides = dense_strides(b.shape(term.value));
  Term result;
  Shape shape;
  std::vector<std::int64_t> from;
  for (std::size_t i = 0; i < term.letters.size(); ++i) {
    const std::size_t seen = result.letters.find(term.letters[i]);
    const std::int64_t extent = b.shape(term.value)[i];
    if (seen != std::string::npos) {
      if (shape[seen] != extent) refuse("a letter with two extents");
      from[seen] += strides[i];
      continue;
    }
    result.letters += term.letters[i];
    shape.push_back(extent);
    from.push_back(strides[i]);
  }
  if (result.letters.size() == term.letters.size()) return term;
  result.value = b.make(b.dtype(term.value), shape);
  add_copy(b, {term.value, result.value, shape, from, dense_strides(shape)});
  return result;
}

/// The term with exactly these letters in this order.
ValueId ordered(Lowering& b, const Term& term, const std::string& letters) {
  std::vector<std::int64_t> order;
  for (const char letter : letters) order.push_back(static_cast<std::int64_t>(extent_at(term, letter)));
  return transposed(b, term.value, order);
}

std::int64_t extent_of(Lowering& b, const Term& x, const Term& y, char letter) {
  std::int64_t extent = -1;
  for (const Term* term : {&x, &y}) {
    if (const std::size_t at = extent_at(*term, letter); at != std::string::npos) {
      const std::int64_t own = b.shape(term->value)[at];
      if (extent >= 0 && own != extent) refuse("a letter with two extents");
      extent = own;
    }
  }
  return extent;
}

/// Sums over the letters that neither the result nor the other term has.
Term summed(Lowering& b, const Term& term, const std::string& kept) {
  std::string rest;
  std::string gone;
  for (const char letter : term.letters) (kept.find(letter) == std::string::npos ? gone : rest) += letter;
  if (gone.empty()) return term;
  const ValueId moved = ordered(b, term, rest + gone);
  const Shape& shape = b.shape(moved);
  const std::span<const std::int64_t> dims = shape;
  const std::int64_t columns = product(dims.subspan(rest.size()));
  const ValueId ones = filled_with_one(b, b.dtype(moved), columns);
  const ValueId flat = b.reshaped(moved, {product(dims.first(rest.size())), columns});
  return {rest, b.reshaped(multiplied(b, flat, ones),
                           Shape(dims.begin(), dims.begin() + static_cast<std::int64_t>(rest.size())))};
}

/// Two terms as a product of matrices with a batch.
Term contracted(Lowering& b, Term x, Term y, const std::string& kept) {
  x = summed(b, x, kept + y.letters);
  y = summed(b, y, kept + x.letters);
  std::string batch;
  std::string rows;
  std::string inner;
  std::string columns;
  for (const char letter : x.letters) {
    const bool shared = y.letters.find(letter) != std::string::npos;
    const bool stays = kept.find(letter) != std::string::npos;
    (shared ? (stays ? batch : inner) : rows) += letter;
  }
  for (const char letter : y.letters) {
    if (x.letters.find(letter) == std::string::npos) columns += letter;
  }
  const auto size = [&](const std::string& letters) {
    std::int64_t total = 1;
    for (const char letter : letters) total *= extent_of(b, x, y, letter);
    return total;
  };
  const ValueId a = b.reshaped(ordered(b, x, batch + rows + inner), {size(batch), size(rows), size(inner)});
  const ValueId c = b.reshaped(ordered(b, y, batch + inner + columns), {size(batch), size(inner), size(columns)});
  Shape shape;
  for (const char letter : batch + rows + columns) shape.push_back(extent_of(b, x, y, letter));
  return {batch + rows + columns, b.reshaped(multiplied(b, a, c), shape)};
}

void lower_einsum(Lowering& b) {
  if (b.input_count() > 64) refuse("more than 64 terms");  // each is looked at once for each one before it
  std::string equation = b.attr_string("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  if (equation.find('.') != std::string::npos) refuse("an equation with dots");
  const std::size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  std::vector<Term> terms;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < b.input_count(); ++i) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    Term term{left.substr(std::min(begin, left.size()), comma - std::min(begin, left.size())), b.input(i)};
    begin = comma + 1;
    if (static_cast<std::int64_t>(term.letters.size()) != b.rank(term.value)) refuse("an equation that does not fit");
    terms.push_back(without_repeats(b, term));
  }
  std::string result;
  if (arrow != std::string::npos) {
    result = equation.substr(arrow + 2);
  } else {
    for (char letter = 'A'; letter <= 'z'; ++letter) {
      if (std::count(left.begin(), left.end(), letter) == 1) result += letter;
    }
  }
  while (terms.size() > 1) {
    std::string kept = result;
    for (std::size_t i = 2; i < terms.size(); ++i) kept += terms[i].letters;
    terms[0] = contracted(b, terms[0], terms[1], kept);
    terms.erase(terms.begin() + 1);
  }
  if (terms.empty()) refuse("no inputs");
  const Term last = summed(b, terms[0], result);
  for (const char letter : result) {
    if (extent_at(last, letter) == std::string::npos || std::count(result.begin(), result.end(), letter) != 1) {
      refuse("an equation that does not fit");
    }
  }
  const ValueId y = ordered(b, last, result);
  b.bind(0, b.reshaped(y, b.shape(y)));
}

constexpr std::array kMatrixOps = {
    LowerEntry{"MatMul", lower_matmul},
    LowerEntry{"Gemm", lower_gemm},
    LowerEntry{"Einsum", lower_einsum},
};

}  // namespace

LowerEntries matrix_ops() { return kMatrixOps; }

}  // namespace leapp::native
