// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions over all of float32, in steps that hit every exponent with all kinds of mantissas, against the C
// library in float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "engine/native/kernels/array_math.h"
#include "engine/native/kernels/levels_test.h"

namespace leapp::native::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Every 40009th float by its bits, and the ones where functions change their ways.
const std::vector<float>& samples() {
  static const std::vector<float> kSamples = [] {
    std::vector<float> values = {0.0F,
                                 -0.0F,
                                 1.0F,
                                 -1.0F,
                                 0.5F,
                                 -0.5F,
                                 kInfinity,
                                 -kInfinity,
                                 NAN,
                                 88.7228394F,
                                 88.72284F,
                                 89.0F,
                                 -103.97208F,
                                 -104.0F,
                                 -87.3365479F,
                                 1048576.0F,
                                 1048577.0F,
                                 1.0e-45F,
                                 1.17549435e-38F,
                                 3.40282347e+38F,
                                 0.70710677F,
                                 0.70710683F,
                                 0.99999994F,
                                 1.00000012F};
    for (std::uint64_t bits = 0; bits <= 0xffffffffU; bits += 40009) {
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    return values;
  }();
  return kSamples;
}

/// How far a float is from the exact value, in units in the last place there.
double ulps(float got, double wanted) {
  const auto rounded = static_cast<float>(wanted);
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    // The largest finite number and infinity are neighbours.
    const float finite = std::isinf(got) ? rounded : got;
    return std::isfinite(finite) && std::fabs(finite) > 3.4028230e38F && std::signbit(got) == std::signbit(rounded)
               ? 1
               : 1e9;
  }
  const float away = std::nextafter(std::fabs(rounded), kInfinity);
  return std::fabs(got - wanted) / (static_cast<double>(away) - std::fabs(rounded));
}

struct Function {
  const char* name;
  Activation activation;
  std::function<double(double)> exact;
  double limit = 4;
};

/// A product with a factor that is denormal, and so has few digits, has no more.
constexpr double kDenormalFactor = 64;
/// The exponent of float32 is rounded before the exponential multiplies its error: so it is in the formula of ONNX.
constexpr double kLongExponent = 200;

double normal(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }
double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
/// Of a product with a factor that is 0 at minus infinity.
double gated(double x, double factor) { return factor == 0 ? 0 * std::copysign(0.0, x) : x * factor; }
double gelu_tanh(double x) { return gated(x, sigmoid(2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x))); }

const std::vector<Function>& functions() {
  static const std::vector<Function> kFunctions = {
      {"exp", {Unary::kExp}, [](double x) { return std::exp(x); }},
      {"log", {Unary::kLog}, [](double x) { return std::log(x); }},
      {"sqrt", {Unary::kSqrt}, [](double x) { return std::sqrt(x); }, 0.5},
      {"reciprocal", {Unary::kReciprocal}, [](double x) { return 1 / x; }, 0.5},
      {"floor", {Unary::kFloor}, [](double x) { return std::floor(x); }, 0},
      {"ceil", {Unary::kCeil}, [](double x) { return std::ceil(x); }, 0},
      {"round", {Unary::kRound}, [](double x) { return std::nearbyint(x); }, 0},
      {"abs", {Unary::kAbs}, [](double x) { return std::fabs(x); }, 0},
      {"neg", {Unary::kNeg}, [](double x) { return -x; }, 0},
      {"sign", {Unary::kSign}, [](double x) { return std::isnan(x) ? x : (x > 0) - (x < 0); }, 0},
      {"sin", {Unary::kSin}, [](double x) { return std::sin(x); }},
      {"cos", {Unary::kCos}, [](double x) { return std::cos(x); }},
      {"tan", {Unary::kTan}, [](double x) { return std::tan(x); }},
      {"asin", {Unary::kAsin}, [](double x) { return std::asin(x); }},
      {"acos", {Unary::kAcos}, [](double x) { return std::acos(x); }},
      {"atan", {Unary::kAtan}, [](double x) { return std::atan(x); }},
      {"sinh", {Unary::kSinh}, [](double x) { return std::sinh(x); }},
      {"cosh", {Unary::kCosh}, [](double x) { return std::cosh(x); }},
      {"tanh", {Unary::kTanh}, [](double x) { return std::tanh(x); }},
      {"asinh", {Unary::kAsinh}, [](double x) { return std::asinh(x); }},
      {"acosh", {Unary::kAcosh}, [](double x) { return std::acosh(x); }},
      {"atanh", {Unary::kAtanh}, [](double x) { return std::atanh(x); }},
      {"sigmoid", {Unary::kSigmoid}, sigmoid},
      {"erf", {Unary::kErf}, [](double x) { return std::erf(x); }},
      {"relu", {Unary::kRelu}, [](double x) { return x < 0 ? 0 : x; }, 0},
      {"leaky", {Unary::kLeakyRelu, 0.25F}, [](double x) { return x < 0 ? 0.25 * x : x; }, 0.5},
      {"elu", {Unary::kElu, 1.5F}, [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; }},
      {"selu", {Unary::kSelu, 1.5F, 1.25F}, [](double x) { return 1.25 * (x < 0 ? 1.5 * std::expm1(x) : x); }},
      {"celu", {Unary::kCelu, 2.0F}, [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }},
      {"thresholded", {Unary::kThresholdedRelu, 0.5F}, [](double x) { return x <= 0.5 ? 0 : x; }, 0},
      {"softplus", {Unary::kSoftplus}, softplus},
      {"softsign", {Unary::kSoftsign}, [](double x) { return std::isinf(x) ? NAN : x / (1 + std::fabs(x)); }},
      {"mish", {Unary::kMish}, [](double x) { return gated(x, std::tanh(softplus(x))); }, kDenormalFactor},
      {"gelu", {Unary::kGelu}, [](double x) { return gated(x, normal(x)); }},
      {"swish", {Unary::kSwish, 1.0F}, [](double x) { return gated(x, sigmoid(x)); }, kDenormalFactor},
      {"gelu tanh", {Unary::kGeluTanh}, gelu_tanh, kLongExponent},
      {"clip", {Unary::kClip, -2.0F, 3.0F}, [](double x) { return x < -2  ? -2
                                                                  : x > 3 ? 3
                                                                          : x; }, 0},
      {"not", {Unary::kNot}, [](double x) { return x == 0 ? 1 : 0; }, 0},
      {"isnan", {Unary::kIsNaN}, [](double x) { return std::isnan(x) ? 1 : 0; }, 0},
      {"isinf", {Unary::kIsInf, 0.0F, 1.0F}, [](double x) { return std::isinf(x) && x < 0 ? 1 : 0; }, 0},
  };
  return kFunctions;
}

class MathTest : public LevelTest {};
INSTANTIATE_TEST_SUITE_P(Levels, MathTest, all_levels(), level_name);

TEST_P(MathTest, StaysWithinFourUlpsOfTheCLibraryEverywhere) {
  std::vector<float> got(samples().size());
  for (const Function& function : functions()) {
    apply_unary(function.activation, samples().data(), got.data(), got.size());
    double worst = -1;
    std::size_t where = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double distance = ulps(got[i], function.exact(samples()[i]));
      if (distance > worst) worst = distance, where = i;
    }
    EXPECT_LE(worst, function.limit) << function.name << '(' << samples()[where] << ") = " << got[where] << ", not "
                                     << function.exact(samples()[where]);
  }
}

// Of all floats those where it is furthest from the exact value: without FMA it was 4.15 units there.
TEST_P(MathTest, GeluStaysWithinFourUlpsWhereItIsWorst) {
  std::vector<float> x;
  for (const auto& [first, last] : {std::pair{-1.41F, -1.43F}, {-2.19F, -2.21F}, {-6.18F, -6.2F}}) {
    for (float at = first; at > last; at = std::nextafter(at, -kInfinity)) x.push_back(at);
  }
  std::vector<float> got(x.size());
  apply_unary({Unary::kGelu}, x.data(), got.data(), got.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double wanted = gated(x[i], normal(x[i]));
    ASSERT_LE(ulps(got[i], wanted), 4) << "gelu(" << x[i] << ") = " << got[i] << ", not " << wanted;
  }
}

TEST_P(MathTest, OddFunctionsKeepTheSignOfZero) {
  for (const Unary function : {Unary::kSin, Unary::kTan, Unary::kAsin, Unary::kAtan, Unary::kSinh, Unary::kTanh,
                               Unary::kAsinh, Unary::kAtanh, Unary::kErf, Unary::kElu, Unary::kRound, Unary::kRelu}) {
    const float zeros[2] = {0.0F, -0.0F};
    float got[2];
    apply_unary({function, 1.0F}, zeros, got, 2);
    EXPECT_FALSE(std::signbit(got[0])) << static_cast<int>(function);
    EXPECT_TRUE(std::signbit(got[1])) << static_cast<int>(function);
  }
}

TEST_P(MathTest, AResultDoesNotDependOnThePlaceInTheArray) {
  const std::vector<float> x = random_floats(67, 3);
  for (const Unary function : {Unary::kExp, Unary::kTanh, Unary::kSin, Unary::kErf, Unary::kLog, Unary::kMish}) {
    std::vector<float> all(x.size());
    apply_unary({function}, x.data(), all.data(), x.size());
    for (std::size_t start = 0; start < x.size(); start += 5) {
      std::vector<float> some(x.size() - start);
      apply_unary({function}, x.data() + start, some.data(), some.size());
      for (std::size_t i = 0; i < some.size(); ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(some[i]), std::bit_cast<std::uint32_t>(all[start + i])) << start << i;
      }
    }
  }
}

TEST_P(MathTest, PowIsThatOfC) {
  const std::vector<float> special = {0.0F,   -0.0F,       1.0F,  -1.0F,     2.0F,       -2.0F, 0.5F,
                                      -0.5F,  3.0F,        -3.0F, 1.5F,      -1.5F,      1e30F, 1e-30F,
                                      -1e30F, 16777217.0F, 1e38F, kInfinity, -kInfinity, NAN,   127.3F};
  std::vector<float> a;
  std::vector<float> b;
  for (const float x : special) {
    for (const float y : special) a.push_back(x), b.push_back(y);
  }
  for (const float x : random_floats(20000, 1)) a.push_back(std::exp(40.0F * x));
  for (const float y : random_floats(20000, 2)) b.push_back(4.0F * y);
  std::vector<float> got(a.size());
  apply_binary(Binary::kPow, a.data(), b.data(), got.data(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double wanted = std::pow(static_cast<double>(a[i]), static_cast<double>(b[i]));
    ASSERT_LE(ulps(got[i], wanted), 1) << a[i] << " ^ " << b[i] << " = " << got[i] << ", not " << wanted;
  }
}

TEST_P(MathTest, BinaryFunctionsFollowOnnx) {
  const float nan = NAN;
  const float a[6] = {1, -3, nan, 2, 5.5F, 0};
  const float b[6] = {2, -3, 1, nan, -2, 1};
  const auto of = [&](Binary function) {
    std::vector<float> y(6);
    apply_binary(function, a, b, y.data(), 6);
    return y;
  };
  EXPECT_EQ(of(Binary::kMax)[0], 2);
  EXPECT_TRUE(std::isnan(of(Binary::kMax)[2]) && std::isnan(of(Binary::kMax)[3]));
  EXPECT_TRUE(std::isnan(of(Binary::kMin)[2]) && std::isnan(of(Binary::kMin)[3]));
  EXPECT_EQ(of(Binary::kMin)[4], -2);
  EXPECT_EQ(of(Binary::kFmod)[4], 1.5F);
  EXPECT_EQ(of(Binary::kPRelu)[1], 9);
  EXPECT_EQ(of(Binary::kEqual), (std::vector<float>{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(of(Binary::kLess), (std::vector<float>{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(of(Binary::kGreaterOrEqual), (std::vector<float>{0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(of(Binary::kXor)[5], 1);
  EXPECT_EQ(of(Binary::kAnd)[5], 0);
  EXPECT_EQ(of(Binary::kOr)[5], 1);
}

}  // namespace
}  // namespace leapp::native::kernels
