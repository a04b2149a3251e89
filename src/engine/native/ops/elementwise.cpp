// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "engine/native/scalar/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "engine/native/op_table.h"
#include "engine/native/ops/common.h"

namespace leapp::native {
namespace {

using kernels::Activation;
using kernels::Binary;
using kernels::Elementwise;
using kernels::ElementwiseOp;
using kernels::Unary;

/// The axes of a result with the operands' strides, in elements; neighbours that every operand walks alike are one.
struct Walked {
  Shape shape;
  std::array<std::vector<std::int64_t>, 3> strides;
};

Walked walked(Lowering& b, const Shape& shape, std::span<const ValueId> operands) {
  Walked result;
  std::array<std::vector<std::int64_t>, 3> strides;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Shape& own = b.shape(operands[k]);
    const auto dense = dense_strides(own);
    strides[k].assign(shape.size(), 0);
    const std::size_t shift = shape.size() - own.size();
    for (std::size_t i = shift; i < shape.size(); ++i) {
      if (own[i - shift] != 1) strides[k][i] = dense[i - shift];
    }
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    bool same = !result.shape.empty();
    for (std::size_t k = 0; same && k < operands.size(); ++k) {
      same = result.strides[k].back() == strides[k][i] * shape[i];
    }
    if (same) {
      result.shape.back() *= shape[i];
    } else {
      result.shape.push_back(shape[i]);
    }
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (!same) result.strides[k].push_back(0);
      result.strides[k].back() = strides[k][i];
    }
  }
  return result;
}

/// `op` on single-precision and bool operands.
ValueId add_vector(Lowering& b, ElementwiseOp op, std::vector<ValueId> operands, DType dtype, const Shape& shape) {
  const ValueId y = b.make(dtype, shape);
  if (b.elements(y) == 0) return y;
  Walked axes = walked(b, shape, operands);
  if (axes.shape.size() > 2) {
    for (ValueId& operand : operands) {
      if (b.elements(operand) != 1) operand = expanded(b, operand, shape);
    }
    axes = walked(b, shape, operands);
  }
  Elementwise args;
  args.columns = axes.shape.empty() ? 1 : axes.shape.back();
  args.rows = axes.shape.size() < 2 ? 1 : axes.shape.front();
  args.input_count = static_cast<std::uint8_t>(operands.size());
  args.output_count = 1;
  args.op_count = 1;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    auto& operand = args.operands[k];
    operand.storage = storage_of(b.dtype(operands[k]));
    operand.reg = static_cast<std::uint8_t>(k);
    operand.column_stride = axes.shape.empty() ? 1 : static_cast<std::uint8_t>(axes.strides[k].back());
    operand.row_stride = axes.shape.size() < 2 ? 0 : axes.strides[k].front();
  }
  auto& result = args.operands[operands.size()];
  result.storage = storage_of(dtype);
  result.reg = static_cast<std::uint8_t>(operands.size());
  result.column_stride = 1;
  result.row_stride = args.columns;
  op.result = result.reg;
  op.a = 0;
  op.b = operands.size() > 1 ? 1 : 0;
  op.c = operands.size() > 2 ? 2 : 0;
  args.ops[0] = op;
  CallMaker make(kElementwise, args);
  for (std::size_t k = 0; k < operands.size(); ++k) make.read(args.operands[k].data, operands[k]);
  b.add(make.write(args.operands[operands.size()].data, y, true).take());
  return y;
}

struct Scalar {
  const Kernel* kernel = nullptr;
  int function = 0;
  double alpha = 0;
  double beta = 0;
};

ValueId add_scalar(Lowering& b, const Scalar& scalar, std::vector<ValueId> operands, DType dtype, const Shape& shape) {
  if (scalar.kernel == nullptr) refuse(fmt::format("not for {}", dtype_name(b.dtype(operands.back()))));
  const ValueId y = b.make(dtype, shape);
  if (b.elements(y) == 0) return y;
  const Walked axes = walked(b, shape, operands);
  if (axes.shape.size() > kMaxRank) refuse("too many dimensions");
  Walk args;
  args.function = scalar.function;
  args.alpha = scalar.alpha;
  args.beta = scalar.beta;
  args.rank = std::max(1, static_cast<int>(axes.shape.size()));
  args.shape[0] = 1;
  const std::array<std::int64_t*, 3> strides = {args.a_stride, args.b_stride, args.c_stride};
  for (std::size_t i = 0; i < axes.shape.size(); ++i) {
    args.shape[i] = axes.shape[i];
    for (std::size_t k = 0; k < operands.size(); ++k) strides[k][i] = axes.strides[k][i];
  }
  CallMaker make(*scalar.kernel, args);
  make.read(args.a, operands[0]);
  // Kernels of one operand read a second one all the same: the first.
  make.read(args.b, operands.size() > 1 ? operands[1] : operands[0]);
  if (operands.size() > 2) make.read(args.c, operands[2]);
  b.add(make.write(args.y, y).take());
  return y;
}

bool gives_bool(Binary function) { return function >= Binary::kEqual; }

}  // namespace

ValueId apply(Lowering& b, Activation function, ValueId x, DType result) {
  const DType dtype = b.dtype(x);
  if (is_single(dtype) || dtype == DType::kBool) {
    ElementwiseOp op;
    op.kind = ElementwiseOp::Kind::kUnary;
    op.unary = function.function;
    op.alpha = function.alpha;
    op.beta = function.beta;
    return add_vector(b, op, {x}, result, b.shape(x));
  }
  return add_scalar(
      b, {scalar_unary(function.function, dtype), static_cast<int>(function.function), function.alpha, function.beta},
      {x}, result, b.shape(x));
}

ValueId apply(Lowering& b, Binary function, ValueId x, ValueId y) {
  const DType dtype = b.dtype(x);
  if (b.dtype(y) != dtype) {
    refuse(fmt::format("its inputs are {} and {}", dtype_name(dtype), dtype_name(b.dtype(y))));
  }
  const Shape shape = broadcast(b.shape(x), b.shape(y));
  const DType result = gives_bool(function) ? DType::kBool : dtype;
  const bool logical = function == Binary::kAnd || function == Binary::kOr || function == Binary::kXor;
  if (logical != (dtype == DType::kBool) && !(function == Binary::kEqual && dtype == DType::kBool)) {
    refuse(fmt::format("not for {}", dtype_name(dtype)));
  }
  if (is_single(dtype) || dtype == DType::kBool) {
    ElementwiseOp op;
    op.kind = ElementwiseOp::Kind::kBinary;
    op.binary = function;
    return add_vector(b, op, {x, y}, result, shape);
  }
  return add_scalar(b, {scalar_binary(function, dtype), static_cast<int>(function)}, {x, y}, result, shape);
}

ValueId select(Lowering& b, ValueId condition, ValueId x, ValueId y) {
  if (b.dtype(condition) != DType::kBool || b.dtype(x) != b.dtype(y)) refuse("its inputs are of different types");
  const Shape shape = broadcast(b.shape(condition), broadcast(b.shape(x), b.shape(y)));
  if (b.dtype(x) == DType::kFloat32) {
    ElementwiseOp op;
    op.kind = ElementwiseOp::Kind::kWhere;
    return add_vector(b, op, {condition, x, y}, DType::kFloat32, shape);
  }
  return add_scalar(b, {scalar_select(b.dtype(x))}, {condition, x, y}, b.dtype(x), shape);
}

namespace {

void lower_unary(Lowering& b) {
  Activation function{static_cast<Unary>(b.entry().detail)};
  switch (function.function) {
    case Unary::kLeakyRelu:
      function.alpha = b.attr_float("alpha", 0.01F);
      break;
    case Unary::kElu:
    case Unary::kCelu:
    case Unary::kThresholdedRelu:
    case Unary::kSwish:
      function.alpha = b.attr_float("alpha", 1);
      break;
    case Unary::kSelu:
      function.alpha = b.attr_float("alpha", 1.67326319217681884765625F);
      function.beta = b.attr_float("gamma", 1.05070102214813232421875F);
      break;
    case Unary::kHardSigmoid:
      function.alpha = b.attr_float("alpha", 0.2F);
      function.beta = b.attr_float("beta", 0.5F);
      break;
    case Unary::kGelu:
      if (b.attr_string("approximate", "none") == "tanh") function.function = Unary::kGeluTanh;
      break;
    case Unary::kIsInf:
      function.alpha = static_cast<float>(b.attr_int("detect_positive", 1));
      function.beta = static_cast<float>(b.attr_int("detect_negative", 1));
      break;
    default:
      break;
  }
  const ValueId x = b.input(0);
  const bool test = function.function == Unary::kIsNaN || function.function == Unary::kIsInf;
  if ((b.dtype(x) == DType::kBool) != (function.function == Unary::kNot)) {
    refuse(fmt::format("not for {}", dtype_name(b.dtype(x))));
  }
  b.bind(0, apply(b, function, x, test ? DType::kBool : b.dtype(x)));
}

void lower_binary(Lowering& b) { b.bind(0, apply(b, static_cast<Binary>(b.entry().detail), b.input(0), b.input(1))); }

// Max, Min, Sum and Mean take any number of inputs.
void lower_variadic(Lowering& b) {
  ValueId result = b.input(0);
  for (std::size_t i = 1; i < b.input_count(); ++i) {
    result = apply(b, static_cast<Binary>(b.entry().detail), result, b.input(i));
  }
  if (b.op() == "Mean") {
    if (b.dtype(result) != DType::kFloat32) refuse("only for float32");
    result = apply(b, Binary::kDiv, result, b.constant_float(static_cast<float>(b.input_count())));
  }
  if (b.input_count() == 1) result = b.reshaped(result, b.shape(result));
  b.bind(0, result);
}

void lower_mod(Lowering& b) {
  const ValueId x = b.input(0);
  const ValueId y = b.input(1);
  const bool c_like = b.attr_int("fmod", 0) != 0;
  if (is_float(b.dtype(x))) {
    if (!c_like) refuse("the remainder of floats needs fmod=1");
    return b.bind(0, apply(b, Binary::kFmod, x, y));
  }
  if (b.dtype(x) != b.dtype(y)) refuse("its inputs are of different types");
  const Scalar scalar{scalar_binary(Binary::kFmod, b.dtype(x)), static_cast<int>(Binary::kFmod), c_like ? 0.0 : 1.0};
  b.bind(0, add_scalar(b, scalar, {x, y}, b.dtype(x), broadcast(b.shape(x), b.shape(y))));
}

void lower_pow(Lowering& b) {
  const ValueId x = b.input(0);
  ValueId y = b.input(1);
  if (is_integer(b.dtype(x)) && is_float(b.dtype(y))) {
    const ValueId wide = apply(b, Binary::kPow, cast(b, x, DType::kFloat64), cast(b, y, DType::kFloat64));
    return b.bind(0, cast(b, wide, b.dtype(x)));
  }
  if (is_single(b.dtype(x)) && b.is_constant(y) && b.elements(y) == 1) {
    const double exponent = b.numbers(y, "the exponent").front();
    const bool keeps = broadcast(b.shape(x), b.shape(y)) == b.shape(x);
    if (keeps && exponent == 2) return b.bind(0, apply(b, Binary::kMul, x, x));
    if (keeps && exponent == 1) return b.bind(0, b.reshaped(x, b.shape(x)));
  }
  y = cast(b, y, b.dtype(x));
  b.bind(0, apply(b, Binary::kPow, x, y));
}

void lower_where(Lowering& b) { b.bind(0, select(b, b.input(0), b.input(1), b.input(2))); }

ValueId limit(Lowering& b, std::size_t input, std::string_view attribute) {
  if (b.has_input(input)) return b.input(input);
  return b.has_attr(attribute) ? b.constant_float(b.attr_float(attribute, 0)) : kNoValue;
}

void lower_clip(Lowering& b) {
  ValueId x = b.input(0);
  const ValueId low = limit(b, 1, "min");
  const ValueId high = limit(b, 2, "max");
  const auto known = [&](ValueId id) { return id == kNoValue || (b.is_constant(id) && b.elements(id) == 1); };
  if (b.dtype(x) == DType::kFloat32 && known(low) && known(high)) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    Activation clip{Unary::kClip, -kInfinity, kInfinity};
    if (low != kNoValue) clip.alpha = static_cast<float>(b.numbers(low, "min").front());
    if (high != kNoValue) clip.beta = static_cast<float>(b.numbers(high, "max").front());
    return b.bind(0, apply(b, clip, x, b.dtype(x)));
  }
  if (low != kNoValue) x = apply(b, Binary::kMax, x, low);
  if (high != kNoValue) x = apply(b, Binary::kMin, x, high);
  b.bind(0, b.reshaped(x, b.shape(x)));
}

void lower_bits(Lowering& b) {
  const auto function = static_cast<Bits>(b.entry().detail);
  const ValueId x = b.input(0);
  std::vector<ValueId> operands = {x};
  if (function != Bits::kNot) operands.push_back(b.input(1));
  const Shape shape = operands.size() == 1 ? b.shape(x) : broadcast(b.shape(x), b.shape(operands[1]));
  if (b.dtype(operands.back()) != b.dtype(x)) refuse("its inputs are of different types");
  b.bind(0,
         add_scalar(b, {scalar_bits(function, b.dtype(x)), static_cast<int>(function)}, operands, b.dtype(x), shape));
}

void lower_shift(Lowering& b) {
  const bool left = b.attr_string("direction", "") == "LEFT";
  const auto function = left ? Bits::kShiftLeft : Bits::kShiftRight;
  const ValueId x = b.input(0);
  const ValueId y = b.input(1);
  if (b.dtype(x) != b.dtype(y)) refuse("its inputs are of different types");
  b.bind(0, add_scalar(b, {scalar_bits(function, b.dtype(x)), static_cast<int>(function)}, {x, y}, b.dtype(x),
                       broadcast(b.shape(x), b.shape(y))));
}

constexpr LowerEntry unary(std::string_view name, Unary function) {
  return {name, lower_unary, static_cast<std::int32_t>(function)};
}
constexpr LowerEntry binary(std::string_view name, Binary function) {
  return {name, lower_binary, static_cast<std::int32_t>(function)};
}
constexpr LowerEntry variadic(std::string_view name, Binary function) {
  return {name, lower_variadic, static_cast<std::int32_t>(function)};
}
constexpr LowerEntry bitwise(std::string_view name, Bits function) {
  return {name, lower_bits, static_cast<std::int32_t>(function)};
}

constexpr std::array kElementwiseOps = {
    unary("Abs", Unary::kAbs),
    unary("Neg", Unary::kNeg),
    unary("Exp", Unary::kExp),
    unary("Log", Unary::kLog),
    unary("Sqrt", Unary::kSqrt),
    unary("Reciprocal", Unary::kReciprocal),
    unary("Floor", Unary::kFloor),
    unary("Ceil", Unary::kCeil),
    unary("Round", Unary::kRound),
    unary("Sign", Unary::kSign),
    unary("Sin", Unary::kSin),
    unary("Cos", Unary::kCos),
    unary("Tan", Unary::kTan),
    unary("Asin", Unary::kAsin),
    unary("Acos", Unary::kAcos),
    unary("Atan", Unary::kAtan),
    unary("Sinh", Unary::kSinh),
    unary("Cosh", Unary::kCosh),
    unary("Tanh", Unary::kTanh),
    unary("Asinh", Unary::kAsinh),
    unary("Acosh", Unary::kAcosh),
    unary("Atanh", Unary::kAtanh),
    unary("Sigmoid", Unary::kSigmoid),
    unary("Erf", Unary::kErf),
    unary("Relu", Unary::kRelu),
    unary("LeakyRelu", Unary::kLeakyRelu),
    unary("Elu", Unary::kElu),
    unary("Selu", Unary::kSelu),
    unary("Celu", Unary::kCelu),
    unary("ThresholdedRelu", Unary::kThresholdedRelu),
    unary("Softplus", Unary::kSoftplus),
    unary("Softsign", Unary::kSoftsign),
    unary("HardSigmoid", Unary::kHardSigmoid),
    unary("HardSwish", Unary::kHardSwish),
    unary("Mish", Unary::kMish),
    unary("Gelu", Unary::kGelu),
    unary("Swish", Unary::kSwish),
    unary("Not", Unary::kNot),
    unary("IsNaN", Unary::kIsNaN),
    unary("IsInf", Unary::kIsInf),
    binary("Add", Binary::kAdd),
    binary("Sub", Binary::kSub),
    binary("Mul", Binary::kMul),
    binary("Div", Binary::kDiv),
    binary("PRelu", Binary::kPRelu),
    binary("Equal", Binary::kEqual),
    binary("Less", Binary::kLess),
    binary("LessOrEqual", Binary::kLessOrEqual),
    binary("Greater", Binary::kGreater),
    binary("GreaterOrEqual", Binary::kGreaterOrEqual),
    binary("And", Binary::kAnd),
    binary("Or", Binary::kOr),
    binary("Xor", Binary::kXor),
    variadic("Max", Binary::kMax),
    variadic("Min", Binary::kMin),
    variadic("Sum", Binary::kAdd),
    variadic("Mean", Binary::kAdd),
    bitwise("BitwiseAnd", Bits::kAnd),
    bitwise("BitwiseOr", Bits::kOr),
    bitwise("BitwiseXor", Bits::kXor),
    bitwise("BitwiseNot", Bits::kNot),
    LowerEntry{"BitShift", lower_shift},
    LowerEntry{"Mod", lower_mod},
    LowerEntry{"Pow", lower_pow},
    LowerEntry{"Where", lower_where},
    LowerEntry{"Clip", lower_clip},
};

}  // namespace

LowerEntries elementwise_ops() { return kElementwiseOps; }

}  // namespace leapp::native
