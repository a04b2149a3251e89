// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// [outer, extent, inner], worked on along the middle.
#include <array>

#include "codegen/kernel_table.h"
#include "codegen/text.h"
#include "engine/native/ops/arguments.h"

namespace leapp::codegen {
namespace {

using native::Along;
using native::Determinant;

constexpr std::array kOrderingSnippets = {
    Snippet{"arg_best", "", R"(// Where the largest or smallest is; of equal ones the first, or the last if `last`.
template <typename T>
inline void arg_best(const T* x, int64_t* y, int32_t outer, int32_t extent, int32_t inner, bool largest, bool last) {
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < inner; ++i) {
      const T* column = x + o * extent * inner + i;
      int32_t best = 0;
      for (int32_t r = 1; r < extent; ++r) {
        const T number = column[r * inner];
        const T so_far = column[best * inner];
        if ((largest ? number > so_far : number < so_far) || (last && number == so_far)) best = r;
      }
      y[o * inner + i] = best;
    }
  }
}
)"},
    Snippet{"top_k", "", R"(// Whether a comes before b; NaN is the largest of all.
template <typename T>
inline bool comes_before(T a, T b, bool largest) {
  if (a != a || b != b) return largest ? a != a && b == b : b != b && a == a;
  return largest ? a > b : a < b;
}

// The k first along the middle, sorted; equal ones in the order in which they stand. scratch holds `extent` numbers.
template <typename T>
inline void top_k(const T* x, T* y, int64_t* indices, int64_t* scratch, int32_t outer, int32_t extent, int32_t inner,
                  int32_t k, bool largest) {
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < inner; ++i) {
      const T* column = x + o * extent * inner + i;
      for (int32_t r = 0; r < extent; ++r) {
        int32_t at = r;
        while (at > 0 && comes_before(column[r * inner], column[scratch[at - 1] * inner], largest)) {
          scratch[at] = scratch[at - 1];
          --at;
        }
        scratch[at] = r;
      }
      for (int32_t r = 0; r < k; ++r) {
        y[(o * k + r) * inner + i] = column[scratch[r] * inner];
        indices[(o * k + r) * inner + i] = scratch[r];
      }
    }
  }
}
)"},
    Snippet{"cumulative_sum", "", R"(// Sums so far, without the element itself if `exclusive`.
template <typename Sum, typename T>
inline void cumulative_sum(const T* x, T* y, int32_t outer, int32_t extent, int32_t inner, bool exclusive, bool reverse) {
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < inner; ++i) {
      Sum sum = 0;
      for (int32_t r = 0; r < extent; ++r) {
        const int32_t at = (o * extent + (reverse ? extent - 1 - r : r)) * inner + i;
        const Sum next = sum + static_cast<Sum>(x[at]);
        y[at] = static_cast<T>(exclusive ? sum : next);
        sum = next;
      }
    }
  }
}
)"},
    Snippet{"determinant", "", R"(// By elimination with pivots, in double precision. scratch holds n * n numbers.
inline void determinant(const float* x, float* y, double* scratch, int32_t batch, int32_t n) {
  for (int32_t item = 0; item < batch; ++item) {
    for (int32_t i = 0; i < n * n; ++i) scratch[i] = static_cast<double>(x[item * n * n + i]);
    double result = 1;
    for (int32_t column = 0; column < n; ++column) {
      int32_t pivot = column;
      for (int32_t row = column + 1; row < n; ++row) {
        if (fabs(scratch[row * n + column]) > fabs(scratch[pivot * n + column])) pivot = row;
      }
      for (int32_t i = 0; pivot != column && i < n; ++i) {
        const double swapped = scratch[pivot * n + i];
        scratch[pivot * n + i] = scratch[column * n + i];
        scratch[column * n + i] = swapped;
      }
      const double head = scratch[column * n + column];
      result *= pivot != column ? -head : head;
      for (int32_t row = column + 1; head != 0 && row < n; ++row) {
        const double factor = scratch[row * n + column] / head;
        for (int32_t i = column; i < n; ++i) scratch[row * n + i] -= factor * scratch[column * n + i];
      }
    }
    y[item] = static_cast<float>(result);
  }
}
)"},
};

const char* word(bool truth) { return truth ? "true" : "false"; }

void emit_arg_best(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Along>();
  e.need("arg_best");
  e.call("arg_best", {e.pointer(call, &Along::x), e.pointer(call, &Along::indices), e.number(args.outer),
                      e.number(args.extent), e.number(args.inner), word(args.largest), word(args.last)});
}

void emit_top_k(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Along>();
  e.need("top_k");
  e.call("top_k", {e.pointer(call, &Along::x), e.pointer(call, &Along::y), e.pointer(call, &Along::indices),
                   e.pointer(call, &Along::scratch), e.number(args.outer), e.number(args.extent), e.number(args.inner),
                   e.number(args.k), word(args.largest)});
}

void emit_cumulative_sum(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Along>();
  const DType dtype = e.dtype(e.operand(call, &Along::x));
  const bool floating = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  e.need("cumulative_sum");
  e.call("cumulative_sum<" + std::string(floating ? c_type(dtype) : "uint64_t") + ">",
         {e.pointer(call, &Along::x), e.pointer(call, &Along::y), e.number(args.outer), e.number(args.extent),
          e.number(args.inner), word(args.exclusive), word(args.reverse)});
}

void emit_determinant(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Determinant>();
  e.need("determinant");
  e.call("determinant", {e.pointer(call, &Determinant::x), e.pointer(call, &Determinant::y),
                         e.pointer(call, &Determinant::scratch), e.number(args.batch), e.number(args.n)});
}

constexpr std::array kOrderingKernels = {
    KernelEntry{"arg best", emit_arg_best},
    KernelEntry{"top k", emit_top_k},
    KernelEntry{"cumulative sum", emit_cumulative_sum},
    KernelEntry{"determinant", emit_determinant},
};

}  // namespace

Family ordering_family() { return {kOrderingKernels, kOrderingSnippets}; }

}  // namespace leapp::codegen
