// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of one and of two numbers. <math.h> has one name per type; the helpers "..._of" have one for both.
#include "codegen/functions.h"

#include <fmt/format.h>

#include <array>

#include "codegen/kernel_table.h"
#include "codegen/text.h"

namespace leapp::codegen {
namespace {

using native::kernels::Activation;
using native::kernels::Binary;
using native::kernels::Unary;

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define LEAPP_MATH_1(NAME)                                                \
  Snippet {                                                               \
#NAME "_of", "",                                                      \
        "inline float " #NAME "_of(float x) { return " #NAME              \
        "f(x); }\n"                                                       \
        "inline double " #NAME "_of(double x) { return " #NAME "(x); }\n" \
  }
#define LEAPP_MATH_2(NAME)                                                             \
  Snippet {                                                                            \
#NAME "_of", "",                                                                   \
        "inline float " #NAME "_of(float x, float y) { return " #NAME                  \
        "f(x, y); }\n"                                                                 \
        "inline double " #NAME "_of(double x, double y) { return " #NAME "(x, y); }\n" \
  }
// NOLINTEND(cppcoreguidelines-macro-usage)

constexpr std::array kFunctionSnippets = {
    LEAPP_MATH_1(fabs),
    LEAPP_MATH_1(exp),
    LEAPP_MATH_1(expm1),
    LEAPP_MATH_1(log),
    LEAPP_MATH_1(log1p),
    LEAPP_MATH_1(sqrt),
    LEAPP_MATH_1(floor),
    LEAPP_MATH_1(ceil),
    LEAPP_MATH_1(nearbyint),
    LEAPP_MATH_1(sin),
    LEAPP_MATH_1(cos),
    LEAPP_MATH_1(tan),
    LEAPP_MATH_1(asin),
    LEAPP_MATH_1(acos),
    LEAPP_MATH_1(atan),
    LEAPP_MATH_1(sinh),
    LEAPP_MATH_1(cosh),
    LEAPP_MATH_1(tanh),
    LEAPP_MATH_1(asinh),
    LEAPP_MATH_1(acosh),
    LEAPP_MATH_1(atanh),
    LEAPP_MATH_1(erf),
    LEAPP_MATH_1(erfc),
    LEAPP_MATH_2(pow),
    LEAPP_MATH_2(fmod),
    Snippet{"sign", "", R"(template <typename T>
inline T sign(T x) {
  return x > 0 ? T(1) : x < 0 ? T(-1) : x + T(0);
}
)"},
    Snippet{"sigmoid", "exp_of", R"(template <typename T>
inline T sigmoid(T x) {
  if (x >= 0) return 1 / (1 + exp_of(-x));
  const T power = exp_of(x);
  return power / (1 + power);
}
)"},
    Snippet{"relu", "", R"(template <typename T>
inline T relu(T x) {
  return x < 0 ? T(0) : x;
}
)"},
    Snippet{"leaky_relu", "", R"(template <typename T>
inline T leaky_relu(T x, T alpha) {
  return x < 0 ? alpha * x : x;
}
)"},
    Snippet{"elu", "expm1_of", R"(template <typename T>
inline T elu(T x, T alpha) {
  return x < 0 ? alpha * expm1_of(x) : x;
}
)"},
    Snippet{"celu", "expm1_of", R"(template <typename T>
inline T celu(T x, T alpha) {
  return x < 0 ? alpha * expm1_of(x / alpha) : x;
}
)"},
    Snippet{"thresholded_relu", "", R"(template <typename T>
inline T thresholded_relu(T x, T alpha) {
  return x <= alpha ? T(0) : x;
}
)"},
    Snippet{"softplus", "exp_of log1p_of", R"(template <typename T>
inline T softplus(T x) {
  return x > 0 ? x + log1p_of(exp_of(-x)) : log1p_of(exp_of(x));
}
)"},
    Snippet{"softsign", "fabs_of", R"(template <typename T>
inline T softsign(T x) {
  return x / (1 + fabs_of(x));
}
)"},
    Snippet{"unit", "", R"(// Into [0, 1].
template <typename T>
inline T unit(T x) {
  return x < 0 ? T(0) : x > 1 ? T(1) : x;
}
)"},
    Snippet{"hard_sigmoid", "unit", R"(template <typename T>
inline T hard_sigmoid(T x, T alpha, T beta) {
  return unit(alpha * x + beta);
}
)"},
    Snippet{"hard_swish", "unit", R"(template <typename T>
inline T hard_swish(T x) {
  return x * unit(x / 6 + T(0.5));
}
)"},
    Snippet{"mish", "softplus tanh_of", R"(template <typename T>
inline T mish(T x) {
  return x * tanh_of(softplus(x));
}
)"},
    Snippet{"gelu", "erfc_of", R"(template <typename T>
inline T gelu(T x) {
  return T(0.5) * x * erfc_of(x * T(-0.70710678118654752440));
}
)"},
    Snippet{"gelu_tanh", "sigmoid", R"(// 0.5 * x * (1 + tanh(u)) is x * sigmoid(2 * u).
template <typename T>
inline T gelu_tanh(T x) {
  return x * sigmoid(T(1.59576912160573071176) * (x + T(0.044715) * x * x * x));
}
)"},
    Snippet{"swish", "sigmoid", R"(template <typename T>
inline T swish(T x, T alpha) {
  return x * sigmoid(alpha * x);
}
)"},
    Snippet{"clip", "", R"(template <typename T>
inline T clip(T x, T low, T high) {
  const T above = x < low ? low : x;
  return above > high ? high : above;
}
)"},
    Snippet{"is_infinite", "", R"(template <typename T>
inline bool is_infinite(T x, bool positive, bool negative) {
  return (positive && x == T(INFINITY)) || (negative && x == T(-INFINITY));
}
)"},
    Snippet{"maximum", "", R"(// NaN if one of them is.
template <typename T>
inline T maximum(T a, T b) {
  return a >= b || a != a ? a : b;
}
)"},
    Snippet{"minimum", "", R"(// NaN if one of them is.
template <typename T>
inline T minimum(T a, T b) {
  return a <= b || a != a ? a : b;
}
)"},
};

/// How a function is called: its helper, and how many of alpha and beta it takes.
struct Spelling {
  Unary function;
  std::string_view helper;
  int parameters = 0;
};

constexpr std::array kSpellings = {
    Spelling{Unary::kAbs, "fabs_of"},
    Spelling{Unary::kExp, "exp_of"},
    Spelling{Unary::kLog, "log_of"},
    Spelling{Unary::kSqrt, "sqrt_of"},
    Spelling{Unary::kFloor, "floor_of"},
    Spelling{Unary::kCeil, "ceil_of"},
    Spelling{Unary::kRound, "nearbyint_of"},
    Spelling{Unary::kSign, "sign"},
    Spelling{Unary::kSin, "sin_of"},
    Spelling{Unary::kCos, "cos_of"},
    Spelling{Unary::kTan, "tan_of"},
    Spelling{Unary::kAsin, "asin_of"},
    Spelling{Unary::kAcos, "acos_of"},
    Spelling{Unary::kAtan, "atan_of"},
    Spelling{Unary::kSinh, "sinh_of"},
    Spelling{Unary::kCosh, "cosh_of"},
    Spelling{Unary::kTanh, "tanh_of"},
    Spelling{Unary::kAsinh, "asinh_of"},
    Spelling{Unary::kAcosh, "acosh_of"},
    Spelling{Unary::kAtanh, "atanh_of"},
    Spelling{Unary::kSigmoid, "sigmoid"},
    Spelling{Unary::kErf, "erf_of"},
    Spelling{Unary::kRelu, "relu"},
    Spelling{Unary::kLeakyRelu, "leaky_relu", 1},
    Spelling{Unary::kElu, "elu", 1},
    Spelling{Unary::kCelu, "celu", 1},
    Spelling{Unary::kThresholdedRelu, "thresholded_relu", 1},
    Spelling{Unary::kSoftplus, "softplus"},
    Spelling{Unary::kSoftsign, "softsign"},
    Spelling{Unary::kHardSigmoid, "hard_sigmoid", 2},
    Spelling{Unary::kHardSwish, "hard_swish"},
    Spelling{Unary::kMish, "mish"},
    Spelling{Unary::kGelu, "gelu"},
    Spelling{Unary::kGeluTanh, "gelu_tanh"},
    Spelling{Unary::kSwish, "swish", 1},
    Spelling{Unary::kClip, "clip", 2},
};

std::string parameter(float number, DType dtype) {
  return dtype == DType::kFloat64 ? literal(static_cast<double>(number)) : literal(number);
}

}  // namespace

Family function_family() { return {{}, kFunctionSnippets}; }

std::string function_text(Emitter& e, const Activation& function, const std::string& x, DType dtype) {
  const auto truth = [&](const std::string& condition) { return fmt::format("{} ? 1.0F : 0.0F", condition); };
  switch (function.function) {
    case Unary::kIdentity:
      return x;
    case Unary::kNeg:
      return "-" + x;
    case Unary::kReciprocal:
      return fmt::format("1 / {}", x);
    case Unary::kNot:
      return truth(x + " == 0");
    case Unary::kIsNaN:
      return truth(fmt::format("{0} != {0}", x));
    case Unary::kIsInf:
      e.need("is_infinite");
      return truth(fmt::format("is_infinite({}, {}, {})", x, function.alpha != 0, function.beta != 0));
    case Unary::kSelu:
      e.need("elu");
      return fmt::format("{} * elu({}, {})", parameter(function.beta, dtype), x, parameter(function.alpha, dtype));
    default:
      break;
  }
  for (const Spelling& one : kSpellings) {
    if (one.function != function.function) continue;
    e.need(one.helper);
    std::string text = fmt::format("{}({}", one.helper, x);
    if (one.parameters > 0) text += ", " + parameter(function.alpha, dtype);
    if (one.parameters > 1) text += ", " + parameter(function.beta, dtype);
    return text + ")";
  }
  e.refuse("a function that has no source form");
  return x;
}

bool is_condition(Binary function) { return function >= Binary::kEqual; }

std::string function_text(Emitter& e, Binary function, const std::string& a, const std::string& b) {
  const auto infix = [&](const char* sign) { return fmt::format("{} {} {}", a, sign, b); };
  const auto helper = [&](const char* name) {
    e.need(name);
    return fmt::format("{}({}, {})", name, a, b);
  };
  switch (function) {
    case Binary::kAdd:
      return infix("+");
    case Binary::kSub:
      return infix("-");
    case Binary::kMul:
      return infix("*");
    case Binary::kDiv:
      return infix("/");
    case Binary::kPow:
      return helper("pow_of");
    case Binary::kMax:
      return helper("maximum");
    case Binary::kMin:
      return helper("minimum");
    case Binary::kFmod:
      return helper("fmod_of");
    case Binary::kPRelu:
      return fmt::format("{0} < 0 ? {0} * {1} : {0}", a, b);
    case Binary::kEqual:
      return infix("==");
    case Binary::kLess:
      return infix("<");
    case Binary::kLessOrEqual:
      return infix("<=");
    case Binary::kGreater:
      return infix(">");
    case Binary::kGreaterOrEqual:
      return infix(">=");
    case Binary::kAnd:
      return fmt::format("{} != 0 && {} != 0", a, b);
    case Binary::kOr:
      return fmt::format("{} != 0 || {} != 0", a, b);
    case Binary::kXor:
      return fmt::format("({} != 0) != ({} != 0)", a, b);
  }
  e.refuse("a function that has no source form");
  return a;
}

// --- loops ------------------------------------------------------------------------------------------------------

std::string inside(int rank) { return std::string(static_cast<std::size_t>(rank + 1) * 2, ' '); }

std::string loops(Emitter& e, const LoopAxes& axes, const std::string& body) {
  std::string text;
  for (int i = 0; i < axes.rank; ++i) {
    text += fmt::format("{0}for (int32_t i{1} = 0; i{1} < {2}; ++i{1}) {{\n", inside(i), i, e.number(axes.shape[i]));
  }
  text += body;
  for (int i = axes.rank; i-- > 0;) text += inside(i) + "}\n";
  return text;
}

std::string index_text(Emitter& e, const std::int64_t* strides, int rank, std::int64_t offset) {
  std::string text;
  const auto add = [&](const std::string& term) { text += (text.empty() ? "" : " + ") + term; };
  for (int i = 0; i < rank; ++i) {
    if (strides[i] == 0) continue;
    add(strides[i] == 1 ? fmt::format("i{}", i) : fmt::format("i{} * {}", i, e.number(strides[i])));
  }
  if (offset != 0) add(e.number(offset));
  return text.empty() ? "0" : text;
}

}  // namespace leapp::codegen
