// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of [outer, reduced, inner] along the middle.
#include <fmt/format.h>

#include <array>

#include "codegen/kernel_table.h"
#include "codegen/text.h"

namespace leapp::codegen {
namespace {

using native::kernels::Reduce;
using native::kernels::Reduction;

constexpr std::array kReductionSnippets = {
    Snippet{"reduce", "", R"(// y[o][i] = finish(join over r of x[o][r][i], beginning with `neutral`).
template <typename Sum, typename T, typename Join, typename Finish>
inline void reduce(const T* x, T* y, int32_t outer, int32_t reduced, int32_t inner, Sum neutral, Join join,
                   Finish finish) {
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < inner; ++i) {
      Sum so_far = neutral;
      for (int32_t r = 0; r < reduced; ++r) so_far = join(so_far, x[(o * reduced + r) * inner + i]);
      y[o * inner + i] = finish(so_far);
    }
  }
}
)"},
    Snippet{"log_sum_exp", "exp_of log_of",
            R"(// log(sum(exp(x))), with the largest taken out so that nothing overflows.
template <typename T>
inline void log_sum_exp(const T* x, T* y, int32_t outer, int32_t reduced, int32_t inner) {
  for (int32_t o = 0; o < outer; ++o) {
    for (int32_t i = 0; i < inner; ++i) {
      const T* column = x + o * reduced * inner + i;
      T largest = T(-INFINITY);
      for (int32_t r = 0; r < reduced; ++r) {
        if (column[r * inner] > largest || column[r * inner] != column[r * inner]) largest = column[r * inner];
      }
      T sum = 0;
      for (int32_t r = 0; r < reduced; ++r) sum += exp_of(column[r * inner] - largest);
      const bool finite = largest - largest == 0;
      y[o * inner + i] = finite ? largest + log_of(sum) : largest;
    }
  }
}
)"},
};

struct Parts {
  std::string sum;      ///< the type that is added up in
  std::string neutral;  ///< of that type
  std::string join;     ///< of `a`, so far, and `b`, the next
  std::string finish;   ///< of `a`
};

std::string lowest(DType dtype, bool maximum) {
  if (is_floating(dtype)) return maximum ? "-INFINITY" : "INFINITY";
  const std::string word = dtype == DType::kInt8     ? "INT8"
                           : dtype == DType::kInt16  ? "INT16"
                           : dtype == DType::kInt32  ? "INT32"
                           : dtype == DType::kInt64  ? "INT64"
                           : dtype == DType::kUInt8  ? "UINT8"
                           : dtype == DType::kUInt16 ? "UINT16"
                           : dtype == DType::kUInt32 ? "UINT32"
                                                     : "UINT64";
  if (!maximum) return word + "_MAX";
  return word.starts_with('U') ? "0" : word + "_MIN";
}

Parts parts_of(Emitter& e, Reduction reduction, DType dtype, std::int64_t count) {
  const std::string type(c_type(dtype));
  const bool floating = is_floating(dtype);
  // Integers are added up, and multiplied, modulo their size.
  const std::string sum = floating ? type : "uint64_t";
  const std::string next = floating ? "b" : "static_cast<uint64_t>(b)";
  const std::string back = floating ? "a" : fmt::format("static_cast<{}>(a)", type);
  const auto zero = fmt::format("static_cast<{}>(0)", sum);
  switch (reduction) {
    case Reduction::kSum:
      return {sum, zero, "a + " + next, back};
    case Reduction::kMean:
      if (floating) return {sum, zero, "a + b", fmt::format("a / {}", count)};
      return {sum, zero, "a + " + next,
              fmt::format("static_cast<{}>(static_cast<int64_t>(a) / {})", type, std::max<std::int64_t>(count, 1))};
    case Reduction::kProduct:
      return {sum, fmt::format("static_cast<{}>(1)", sum), "a * " + next, back};
    case Reduction::kMax:
    case Reduction::kMin: {
      const bool maximum = reduction == Reduction::kMax;
      const char* sign = maximum ? ">" : "<";
      const std::string test = floating ? fmt::format("b {} a || b != b", sign) : fmt::format("b {} a", sign);
      return {type, fmt::format("static_cast<{}>({})", type, lowest(dtype, maximum)), test + " ? b : a", "a"};
    }
    case Reduction::kL1:
      if (floating) e.need("fabs_of");
      if (floating) return {sum, zero, "a + fabs_of(b)", "a"};
      e.need("magnitude");
      return {sum, zero, "a + static_cast<uint64_t>(magnitude(b))", back};
    case Reduction::kSumSquare:
      return {sum, zero, fmt::format("a + {0} * {0}", next), back};
    case Reduction::kL2:
      e.need("sqrt_of");
      return {sum, zero, fmt::format("a + {0} * {0}", next),
              floating ? "sqrt_of(a)" : fmt::format("static_cast<{}>(sqrt_of(static_cast<double>(a)))", type)};
    case Reduction::kLogSum:
      e.need("log_of");
      return {sum, zero, "a + b", "log_of(a)"};
    case Reduction::kLogSumExp:
      break;
  }
  return {};
}

void emit_reduce(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Reduce>();
  const DType dtype = e.dtype(e.operand(call, &Reduce::x));
  const std::string type(c_type(dtype));
  std::vector<std::string> list = {e.pointer(call, &Reduce::x), e.pointer(call, &Reduce::y), e.number(args.outer),
                                   e.number(args.reduced), e.number(args.inner)};
  if (args.reduction == Reduction::kLogSumExp) {
    e.need("log_sum_exp");
    return e.call("log_sum_exp", list);
  }
  e.need("reduce");
  const Parts parts = parts_of(e, args.reduction, dtype, args.reduced);
  list.push_back(parts.neutral);
  list.push_back(fmt::format("[]({} a, {} b) {{ return {}; }}", parts.sum, type, parts.join));
  list.push_back(fmt::format("[]({} a) {{ return {}; }}", parts.sum, parts.finish));
  e.call("reduce", list);
}

constexpr std::array kReductionKernels = {KernelEntry{"reduce", emit_reduce},
                                          KernelEntry{"scalar reduce", emit_reduce}};

}  // namespace

Family reduction_family() { return {kReductionKernels, kReductionSnippets}; }

}  // namespace leapp::codegen
