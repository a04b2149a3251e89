// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Element types and what one becomes as another.
#include <fmt/format.h>

#include <array>

#include "codegen/kernel_table.h"
#include "codegen/text.h"
#include "engine/native/ops/arguments.h"

namespace leapp::codegen {
namespace {

constexpr std::array kNumbersSnippets = {
    Snippet{"identity", "", R"(inline float identity(float x) { return x; }
)"},
    // The types themselves are in the header: ports may be of them.
    Snippet{"Float16", "", ""},
    Snippet{"BFloat16", "", ""},
    Snippet{"widened", "", R"(// What a stored number is to arithmetic.
inline float widened(float x) { return x; }
)"},
    Snippet{"widened float16", "Float16 widened", R"(inline float widened(Float16 x) {
  const int32_t exponent = x.bits >> 10 & 31;
  const int32_t mantissa = x.bits & 1023;
  float magnitude = 0.0F;
  if (exponent == 31) {
    magnitude = mantissa != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-08F;
  } else if (exponent < 16) {
    magnitude = static_cast<float>(mantissa + 1024) / static_cast<float>(static_cast<int32_t>(1) << (25 - exponent));
  } else {
    magnitude = static_cast<float>((mantissa + 1024) << (exponent - 15)) / 1024.0F;
  }
  return (x.bits & 0x8000) != 0 ? -magnitude : magnitude;
}
)"},
    Snippet{"widened bfloat16", "BFloat16 widened", R"(inline float widened(BFloat16 x) {
  const int exponent = x.bits >> 7 & 255;
  const int mantissa = x.bits & 127;
  float magnitude = 0.0F;
  if (exponent == 255) {
    magnitude = mantissa != 0 ? NAN : INFINITY;
  } else {
    magnitude = ldexpf(static_cast<float>(exponent == 0 ? mantissa : mantissa + 128), exponent == 0 ? -133 : exponent - 134);
  }
  return (x.bits & 0x8000) != 0 ? -magnitude : magnitude;
}
)"},
    Snippet{"narrowed float16", "Float16", R"(// The nearest float16, of two the even one.
inline Float16 narrowed_float16(float x) {
  const float magnitude = fabsf(x);
  int32_t bits = 0;
  if (x != x) {
    bits = 0x7e00;
  } else if (magnitude >= 65520.0F) {
    bits = 0x7c00;
  } else if (magnitude < 6.103515625e-05F) {
    bits = static_cast<int32_t>(nearbyintf(magnitude * 16777216.0F));
  } else {
    int exponent = 0;
    const float fraction = frexpf(magnitude, &exponent);
    bits = ((exponent + 14) << 10) + static_cast<int32_t>(nearbyintf(fraction * 2048.0F)) - 1024;
  }
  return {static_cast<uint16_t>(copysignf(1.0F, x) < 0.0F ? bits + 0x8000 : bits)};
}
)"},
    Snippet{"narrowed bfloat16", "BFloat16", R"(// The nearest bfloat16, of two the even one.
inline BFloat16 narrowed_bfloat16(float x) {
  const float magnitude = fabsf(x);
  int32_t bits = 0;
  if (x != x) {
    bits = 0x7fc0;
  } else if (magnitude > 3.4028235e38F) {
    bits = 0x7f80;
  } else if (magnitude < 1.17549435e-38F) {
    bits = static_cast<int32_t>(nearbyintf(ldexpf(magnitude, 133)));
  } else {
    int exponent = 0;
    const float fraction = frexpf(magnitude, &exponent);
    bits = ((exponent + 126) << 7) + static_cast<int32_t>(nearbyintf(fraction * 256.0F)) - 128;
  }
  return {static_cast<uint16_t>(copysignf(1.0F, x) < 0.0F ? bits + 0x8000 : bits)};
}
)"},
    Snippet{"truncated", "", R"(// Floats to integers: what does not fit becomes the lowest number of a wider type.
template <typename To, typename Wide, typename From>
inline To truncated(From x, From low) {
  if (x >= low && x < -low) return static_cast<To>(static_cast<Wide>(x));
  return static_cast<To>(low);
}
)"},
    Snippet{"truncated to uint64", "", R"(template <typename From>
inline uint64_t truncated_to_uint64(From x) {
  const From middle = static_cast<From>(9223372036854775808.0);
  if (x >= middle && x < 2 * middle) return static_cast<uint64_t>(x);
  if (x >= -middle && x < middle) return static_cast<uint64_t>(static_cast<int64_t>(x));
  return static_cast<uint64_t>(1) << 63;
}
)"},
};

/// An expression for `x`, of type `from`, as `to`.
std::string converted(Emitter& e, std::string x, DType from, DType to) {
  if (from == DType::kFloat16 || from == DType::kBFloat16) {
    e.need(from == DType::kFloat16 ? "widened float16" : "widened bfloat16");
    x = fmt::format("widened({})", x);
    from = DType::kFloat32;
  }
  if (from == to) return x;
  if (to == DType::kFloat16 || to == DType::kBFloat16) {
    e.need(to == DType::kFloat16 ? "narrowed float16" : "narrowed bfloat16");
    const std::string wide = from == DType::kFloat32 ? x : fmt::format("static_cast<float>({})", x);
    return fmt::format("narrowed_{}({})", type_word(to), wide);
  }
  if (to == DType::kBool) return fmt::format("{} != 0", x);
  if (!is_floating(from) || is_floating(to)) return fmt::format("static_cast<{}>({})", c_type(to), x);
  if (to == DType::kUInt64) {
    e.need("truncated to uint64");
    return fmt::format("truncated_to_uint64({})", x);
  }
  e.need("truncated");
  const bool narrow = dtype_size(to) < 4 || to == DType::kInt32;
  return fmt::format("truncated<{}, {}>({}, {}{})", c_type(to), narrow ? "int32_t" : "int64_t", x,
                     narrow ? "-2147483648.0" : "-9223372036854775808.0", from == DType::kFloat32 ? "F" : "");
}

void emit_cast(Emitter& e, const native::KernelCall& call) {
  const auto& args = call.as<native::CastArgs>();
  const native::ValueId x = e.operand(call, &native::CastArgs::x);
  const native::ValueId y = e.operand(call, &native::CastArgs::y);
  if (args.count == 0) return;
  e.line(fmt::format("for (int32_t i = 0; i < {}; ++i) {}[i] = {};", e.number(args.count), e.pointer(y),
                     converted(e, e.pointer(x) + "[i]", e.dtype(x), e.dtype(y))));
}

constexpr std::array kNumbersKernels = {KernelEntry{"cast", emit_cast}};

}  // namespace

Family numbers_family() { return {kNumbersKernels, kNumbersSnippets}; }

}  // namespace leapp::codegen
