// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of products by letters, of real numbers and of complex ones.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "emit/onnx/op_table.h"
#include "emit/onnx/ops/common.h"

namespace leapp::onnx_ops {
namespace {

/// Whether a size-1 dimension shares its letter with a longer one, which torch broadcasts and ONNX does not.
bool broadcasts(const std::string& equation, const Tensors& parts) {
  std::array<std::int64_t, 256> sizes{};
  std::size_t part = 0;
  std::size_t dim = 0;
  for (const char c : equation.substr(0, equation.find("->"))) {
    if (c == ',') {
      ++part;
      dim = 0;
    } else if (c == '.') {
      return false;  // what an ellipsis stands for is not counted here
    } else if (c != ' ' && part < parts.size() && dim < parts[part].shape.size()) {
      auto& known = sizes[static_cast<unsigned char>(c)];
      const std::int64_t size = parts[part].shape[dim++];
      if (known != 0 && known != size) return true;
      known = size;
    }
  }
  return false;
}

Tensor summed(OpBuilder& b, const Tensors& parts) {
  const std::string equation = b.text("equation");
  if (broadcasts(equation, parts)) b.refuse("einsum with a letter that stands for sizes 1 and n");
  return b.add("Einsum", parts, b.result(), {{"equation", equation}});
}

void einsum(OpBuilder& b) {
  Tensors parts = b.tensors("tensors");
  for (Tensor& part : parts) part = b.cast(part, b.result().dtype);
  b.bind(summed(b, parts));
}

/// One part of each factor, and how often that is the imaginary one.
struct Term {
  Tensors parts;
  int turns = 0;
};

std::vector<Term> terms_of(const std::vector<ComplexTensor>& factors) {
  std::vector<Term> terms = {{}};
  for (const ComplexTensor& factor : factors) {
    std::vector<Term> next;
    for (const Term& term : terms) {
      next.push_back(term);
      next.back().parts.push_back(factor.real);
      if (!factor.imaginary.present()) continue;
      next.push_back(term);
      next.back().parts.push_back(factor.imaginary);
      ++next.back().turns;
    }
    terms = std::move(next);
  }
  return terms;
}

/// The product of sums written out; i is a quarter of a turn.
void complex_einsum(OpBuilder& b) {
  const std::vector<Term> terms = terms_of(b.complex_list("tensors", b.result().dtype));
  constexpr std::size_t kMostTerms = 16;
  if (terms.size() > kMostTerms) return b.refuse("einsum of more than four complex tensors");
  std::array<Tensor, 2> sums;
  for (const Term& term : terms) {
    const Tensor value = summed(b, term.parts);
    Tensor& sum = sums.at(static_cast<std::size_t>(term.turns % 2));
    const bool negative = term.turns % 4 >= 2;
    if (sum.present()) {
      sum = b.binary(negative ? "Sub" : "Add", sum, value);
    } else {
      sum = negative ? b.unary("Neg", value) : value;
    }
  }
  if (!sums[1].present()) sums[1] = b.full(0.0, b.result());
  b.bind(0, ComplexTensor{sums[0], sums[1]});
}

constexpr std::array kEinsumOps = {EmitEntry{"aten::einsum", einsum}};
constexpr std::array kComplexEinsumOps = {EmitEntry{"aten::einsum", complex_einsum}};

}  // namespace

EmitEntries einsum_ops() { return kEinsumOps; }
EmitEntries complex_einsum_ops() { return kComplexEinsumOps; }

}  // namespace leapp::onnx_ops
