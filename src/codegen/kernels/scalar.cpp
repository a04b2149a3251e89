// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operators of float64, of integers, and the choice among elements of any type: a function with loops for
// each. Integers wrap around.
#include "engine/native/scalar/elementwise.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "codegen/functions.h"
#include "codegen/kernel_table.h"
#include "codegen/text.h"

namespace leapp::codegen {
namespace {

using native::Walk;
using native::kernels::Binary;
using native::kernels::Unary;

constexpr std::array kScalarSnippets = {
    Snippet{"Wrapping", "",
            R"(// The unsigned type that integers of a type are calculated in, and whether they have a sign.
template <typename T>
struct Wrapping {
  using Type = uint32_t;
};
template <>
struct Wrapping<int64_t> {
  using Type = uint64_t;
};
template <>
struct Wrapping<uint64_t> {
  using Type = uint64_t;
};
template <typename T>
constexpr bool has_sign() {
  return static_cast<T>(-1) < static_cast<T>(1);
}
)"},
    Snippet{"added", "Wrapping", R"(template <typename T>
inline T added(T a, T b) {
  using Type = typename Wrapping<T>::Type;
  return static_cast<T>(static_cast<Type>(a) + static_cast<Type>(b));
}
)"},
    Snippet{"subtracted", "Wrapping", R"(template <typename T>
inline T subtracted(T a, T b) {
  using Type = typename Wrapping<T>::Type;
  return static_cast<T>(static_cast<Type>(a) - static_cast<Type>(b));
}
)"},
    Snippet{"multiplied", "Wrapping", R"(template <typename T>
inline T multiplied(T a, T b) {
  using Type = typename Wrapping<T>::Type;
  return static_cast<T>(static_cast<Type>(a) * static_cast<Type>(b));
}
)"},
    Snippet{"magnitude", "subtracted", R"(template <typename T>
inline T magnitude(T x) {
  if constexpr (has_sign<T>()) {
    if (x < 0) return subtracted(T(0), x);
  }
  return x;
}
)"},
    Snippet{"sign_of", "Wrapping", R"(template <typename T>
inline T sign_of(T x) {
  if constexpr (has_sign<T>()) {
    if (x < 0) return T(-1);
  }
  return x != 0 ? T(1) : T(0);
}
)"},
    Snippet{"power", "multiplied", R"(template <typename T>
inline T power(T base, T exponent) {
  if constexpr (has_sign<T>()) {
    if (exponent < 0) return base == T(1) ? T(1) : base == T(-1) ? (exponent % 2 == 0 ? T(1) : T(-1)) : T(0);
  }
  T result = 1;
  for (auto rest = static_cast<typename Wrapping<T>::Type>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1U) != 0) result = multiplied(result, base);
    base = multiplied(base, base);
  }
  return result;
}
)"},
    Snippet{"divided", "subtracted", R"(// False when b is 0.
template <typename T>
inline bool divided(T a, T b, T* y) {
  if (b == 0) return false;
  if constexpr (has_sign<T>()) {
    if (b == T(-1)) {  // the lowest number has no opposite
      *y = subtracted(T(0), a);
      return true;
    }
  }
  *y = static_cast<T>(a / b);
  return true;
}
)"},
    Snippet{"remainder", "Wrapping",
            R"(// What division leaves, with the sign of b if `floored`, else of a. False when b is 0.
template <typename T>
inline bool remainder_of(T a, T b, bool floored, T* y) {
  if (b == 0) return false;
  if constexpr (has_sign<T>()) {
    if (b == T(-1)) {
      *y = 0;
      return true;
    }
    const T rest = static_cast<T>(a % b);
    *y = floored && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    *y = static_cast<T>(a % b);
    static_cast<void>(floored);
  }
  return true;
}
)"},
    Snippet{"shifted", "", R"(// A shift by as many bits as there are, or more, leaves nothing.
template <typename T>
inline T shifted(T a, T b, bool left) {
  const uint64_t mask = sizeof(T) == 8 ? ~static_cast<uint64_t>(0) : (static_cast<uint64_t>(1) << (sizeof(T) * 8 % 64)) - 1;
  const uint64_t count = static_cast<uint64_t>(b) & mask;
  if (count >= sizeof(T) * 8) return T(0);
  const uint64_t number = static_cast<uint64_t>(a) & mask;
  return static_cast<T>(left ? number << count : number >> count);
}
)"},
};

/// What one element is made of: expressions for the operands, and the statement that writes the result.
struct Element {
  std::string a;
  std::string b;
  std::string c;
  DType dtype = DType::kFloat64;
};

bool is_double(DType dtype) { return dtype == DType::kFloat64; }

void emit_walk(Emitter& e, const native::KernelCall& call, const std::function<std::string(const Element&)>& statement,
               bool fails = false) {
  const auto& args = call.as<Walk>();
  std::vector<std::string> parameters;
  std::vector<std::string> arguments;
  const auto add = [&](native::ValueId value, const char* name, const char* constness) {
    parameters.push_back(fmt::format("{}{}* {}", constness, c_type(e.dtype(value)), name));
    arguments.push_back(e.pointer(value));
  };
  const native::ValueId a = e.operand(call, &Walk::a);
  const native::ValueId b = e.operand(call, &Walk::b);
  const native::ValueId c = e.operand(call, &Walk::c);
  Element element;
  element.dtype = e.dtype(b);
  element.a = fmt::format("a[{}]", index_text(e, args.a_stride, args.rank));
  element.b = fmt::format("b[{}]", index_text(e, args.b_stride, args.rank));
  element.c = fmt::format("c[{}]", index_text(e, args.c_stride, args.rank));
  const std::string text = statement(element);
  add(a, "a", "const ");
  if (text.find("b[") != std::string::npos) add(b, "b", "const ");
  if (c != native::kNoValue) add(c, "c", "const ");
  add(e.operand(call, &Walk::y), "y", "");
  const std::string body =
      "  int32_t at = 0;\n" +
      loops(e, {args.shape, args.rank}, fmt::format("{}{}\n{}++at;\n", inside(args.rank), text, inside(args.rank)));
  const std::string name = e.add_function(join(parameters, ", "), body, fails);
  fails ? e.call_or_fail(name, arguments) : e.call(name, arguments);
}

void emit_unary(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Walk>();
  const auto function = static_cast<Unary>(args.function);
  const native::kernels::Activation activation{function, static_cast<float>(args.alpha), static_cast<float>(args.beta)};
  emit_walk(e, call, [&](const Element& element) {
    const std::string& x = element.a;
    const auto helper = [&](const char* name) {
      e.need(name);
      return fmt::format("y[at] = {}({});", name, x);
    };
    if (function == Unary::kIsNaN) return fmt::format("y[at] = {0} != {0};", x);
    if (function == Unary::kIsInf) {
      e.need("is_infinite");
      return fmt::format("y[at] = is_infinite({}, {}, {});", x, args.alpha != 0, args.beta != 0);
    }
    if (is_double(element.dtype)) {
      return fmt::format("const double x = {};\n{}y[at] = {};", x, inside(args.rank),
                         function_text(e, activation, "x", DType::kFloat64));
    }
    if (function == Unary::kAbs) return helper("magnitude");
    if (function == Unary::kSign) return helper("sign_of");
    if (function == Unary::kRelu) return fmt::format("y[at] = {0} > 0 ? {0} : 0;", x);
    e.need("subtracted");
    return fmt::format("y[at] = subtracted(static_cast<{}>(0), {});", c_type(element.dtype), x);
  });
}

std::string integer_text(Emitter& e, Binary function, const Element& element) {
  const auto helper = [&](const char* name) {
    e.need(name);
    return fmt::format("y[at] = {}({}, {});", name, element.a, element.b);
  };
  switch (function) {
    case Binary::kAdd:
      return helper("added");
    case Binary::kSub:
      return helper("subtracted");
    case Binary::kMul:
      return helper("multiplied");
    case Binary::kPow:
      return helper("power");
    case Binary::kMax:
      return fmt::format("y[at] = {0} > {1} ? {0} : {1};", element.a, element.b);
    case Binary::kMin:
      return fmt::format("y[at] = {0} < {1} ? {0} : {1};", element.a, element.b);
    case Binary::kPRelu:
      e.need("multiplied");
      return fmt::format("y[at] = {0} < 0 ? multiplied({0}, {1}) : {0};", element.a, element.b);
    default:
      return fmt::format("y[at] = {};", function_text(e, function, element.a, element.b));
  }
}

void emit_binary(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<Walk>();
  const auto function = static_cast<Binary>(args.function);
  const bool fails =
      !is_double(e.dtype(e.operand(call, &Walk::b))) && (function == Binary::kDiv || function == Binary::kFmod);
  emit_walk(
      e, call,
      [&](const Element& element) {
        if (fails && function == Binary::kDiv) {
          e.need("divided");
          return fmt::format("if (!divided({}, {}, y + at)) return false;", element.a, element.b);
        }
        if (fails) {
          e.need("remainder");
          return fmt::format("if (!remainder_of({}, {}, {}, y + at)) return false;", element.a, element.b,
                             args.alpha != 0);
        }
        if (!is_double(element.dtype)) return integer_text(e, function, element);
        return fmt::format("y[at] = {};", function_text(e, function, element.a, element.b));
      },
      fails);
}

void emit_bits(Emitter& e, const native::KernelCall& call) {
  const auto function = static_cast<native::Bits>(call.as<Walk>().function);
  emit_walk(e, call, [&](const Element& element) {
    const auto infix = [&](const char* sign) {
      return fmt::format("y[at] = static_cast<{}>({} {} {});", c_type(element.dtype), element.a, sign, element.b);
    };
    switch (function) {
      case native::Bits::kAnd:
        return infix("&");
      case native::Bits::kOr:
        return infix("|");
      case native::Bits::kXor:
        return infix("^");
      case native::Bits::kNot:
        return fmt::format("y[at] = static_cast<{}>(~{});", c_type(element.dtype), element.a);
      case native::Bits::kShiftLeft:
      case native::Bits::kShiftRight:
        break;
    }
    e.need("shifted");
    return fmt::format("y[at] = shifted({}, {}, {});", element.a, element.b, function == native::Bits::kShiftLeft);
  });
}

void emit_where(Emitter& e, const native::KernelCall& call) {
  emit_walk(e, call, [](const Element& element) {
    return fmt::format("y[at] = {} ? {} : {};", element.a, element.b, element.c);
  });
}

constexpr std::array kScalarKernels = {
    KernelEntry{"scalar unary", emit_unary},
    KernelEntry{"scalar binary", emit_binary, true},
    KernelEntry{"scalar bits", emit_bits},
    KernelEntry{"scalar where", emit_where},
};

}  // namespace

Family scalar_family() { return {kScalarKernels, kScalarSnippets}; }

}  // namespace leapp::codegen
