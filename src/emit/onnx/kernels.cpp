// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "emit/onnx/kernels.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace leapp::onnx_ops {
namespace {

using Mask = std::uint32_t;

constexpr Mask bit(DType dtype) { return Mask{1} << static_cast<unsigned>(dtype); }

constexpr Mask kSingle = bit(DType::kFloat16) | bit(DType::kFloat32);
constexpr Mask kFloats = kSingle | bit(DType::kFloat64);
constexpr Mask kInts = bit(DType::kInt32) | bit(DType::kInt64);
constexpr Mask kWideUnsigned = bit(DType::kUInt32) | bit(DType::kUInt64);
constexpr Mask kBytes = bit(DType::kInt8) | bit(DType::kUInt8);
constexpr Mask kShorts = bit(DType::kInt16) | bit(DType::kUInt16);
constexpr Mask kAllInts = kInts | kWideUnsigned | kBytes | kShorts;
constexpr Mask kBool = bit(DType::kBool);
constexpr Mask kBFloat = bit(DType::kBFloat16);
constexpr Mask kEverything = kFloats | kAllInts | kBool | kBFloat;

struct Kernel {
  std::string_view op;
  Mask dtypes;
};

/// What ONNX Runtime's CPU provider implements, of every opset from 13 to 23. Sorted by name.
constexpr std::array kKernels = {
    Kernel{"Abs", kFloats | kAllInts},
    Kernel{"Acos", kSingle},
    Kernel{"Acosh", kSingle},
    Kernel{"Add", kFloats | kInts | kWideUnsigned},
    Kernel{"And", kBool},
    Kernel{"ArgMax", kFloats | kInts | kBytes},
    Kernel{"ArgMin", kFloats | kInts | kBytes},
    Kernel{"Asin", kSingle},
    Kernel{"Asinh", kSingle},
    Kernel{"Atan", kSingle},
    Kernel{"Atanh", kSingle},
    Kernel{"AveragePool", kSingle},
    Kernel{"BatchNormalization", kSingle},
    Kernel{"BitwiseAnd", kAllInts},
    Kernel{"BitwiseNot", kAllInts},
    Kernel{"BitwiseOr", kAllInts},
    Kernel{"BitwiseXor", kAllInts},
    Kernel{"Cast", kEverything},
    Kernel{"Ceil", kFloats},
    Kernel{"Celu", bit(DType::kFloat32)},
    Kernel{"Clip", kFloats | kInts | kBytes | kWideUnsigned},
    Kernel{"Concat", kEverything},
    Kernel{"Conv", kSingle},
    Kernel{"ConvTranspose", kSingle},
    Kernel{"Cos", kFloats},
    Kernel{"Cosh", kSingle},
    Kernel{"CumSum", bit(DType::kFloat32) | bit(DType::kFloat64) | kInts},
    Kernel{"DFT", bit(DType::kFloat32) | bit(DType::kFloat64)},
    Kernel{"Det", kSingle},
    Kernel{"Div", kFloats | kInts | kWideUnsigned},
    Kernel{"Einsum", kFloats | kInts},
    Kernel{"Elu", kSingle},
    Kernel{"Equal", kFloats | kAllInts | kBool},
    Kernel{"Erf", kSingle},
    Kernel{"Exp", kFloats},
    Kernel{"Expand", kFloats | kAllInts | kBool},
    Kernel{"Floor", kFloats},
    Kernel{"GRU", bit(DType::kFloat32)},
    Kernel{"Gather", kEverything},
    Kernel{"GatherElements", kEverything},
    Kernel{"GatherND", kEverything},
    Kernel{"Gelu", kSingle},
    Kernel{"Gemm", kFloats},
    Kernel{"GlobalAveragePool", kSingle},
    Kernel{"GlobalMaxPool", kSingle},
    Kernel{"Greater", kFloats | kAllInts},
    Kernel{"GreaterOrEqual", kFloats | kAllInts},
    Kernel{"GridSample", kSingle},
    Kernel{"GroupNormalization", kFloats},
    Kernel{"HardSigmoid", kSingle},
    Kernel{"HardSwish", kSingle},
    Kernel{"Identity", kEverything},
    Kernel{"InstanceNormalization", kSingle},
    Kernel{"IsInf", bit(DType::kFloat32) | bit(DType::kFloat64)},
    Kernel{"IsNaN", kFloats},
    Kernel{"LRN", kSingle},
    Kernel{"LSTM", bit(DType::kFloat32)},
    Kernel{"LayerNormalization", kFloats},
    Kernel{"LeakyRelu", kSingle},
    Kernel{"Less", kFloats | kAllInts},
    Kernel{"LessOrEqual", kFloats | kAllInts},
    Kernel{"Log", kFloats},
    Kernel{"LogSoftmax", kFloats},
    Kernel{"MatMul", kFloats | kInts | kWideUnsigned},
    Kernel{"Max", kFloats | kInts},
    Kernel{"MaxPool", kFloats},
    Kernel{"Min", kFloats | kInts},
    Kernel{"Mish", kSingle},
    Kernel{"Mod", kFloats | kAllInts},
    Kernel{"Mul", kFloats | kInts | kWideUnsigned},
    Kernel{"Neg", kFloats | kInts | bit(DType::kInt8) | bit(DType::kInt16)},
    Kernel{"NonMaxSuppression", bit(DType::kFloat32)},
    Kernel{"Not", kBool},
    Kernel{"Or", kBool},
    Kernel{"PRelu", kSingle},
    Kernel{"Pad", kFloats | kInts | kBytes | kBool | kWideUnsigned},
    Kernel{"Pow", kFloats | kInts},
    Kernel{"RNN", bit(DType::kFloat32)},
    Kernel{"Reciprocal", kFloats},
    Kernel{"ReduceL1", kFloats | kInts},
    Kernel{"ReduceL2", kFloats | kInts},
    Kernel{"ReduceLogSum", kFloats},
    Kernel{"ReduceLogSumExp", kFloats},
    Kernel{"ReduceMax", kFloats | kInts | kBytes},
    Kernel{"ReduceMean", kFloats | kInts},
    Kernel{"ReduceMin", kFloats | kInts | kBytes},
    Kernel{"ReduceProd", kFloats | kInts},
    Kernel{"ReduceSum", kFloats | kInts},
    Kernel{"ReduceSumSquare", kFloats | kInts},
    Kernel{"Relu", kFloats},
    Kernel{"Reshape", kEverything},
    Kernel{"Resize", bit(DType::kFloat32)},
    Kernel{"RoiAlign", bit(DType::kFloat32) | bit(DType::kFloat64)},
    Kernel{"Round", kFloats},
    Kernel{"ScatterElements", kEverything},
    Kernel{"ScatterND", kEverything},
    Kernel{"Selu", kSingle},
    Kernel{"Sigmoid", kFloats},
    Kernel{"Sign", kFloats | kAllInts},
    Kernel{"Sin", kFloats},
    Kernel{"Sinh", kSingle},
    Kernel{"Slice", kEverything},
    Kernel{"Softmax", kFloats},
    Kernel{"Softplus", kSingle},
    Kernel{"Softsign", kSingle},
    Kernel{"Split", kEverything},
    Kernel{"Sqrt", kFloats},
    Kernel{"Squeeze", kEverything},
    Kernel{"Sub", kFloats | kInts | kWideUnsigned},
    Kernel{"Tan", kSingle},
    Kernel{"Tanh", kFloats},
    Kernel{"ThresholdedRelu", kSingle},
    Kernel{"Tile", kFloats | kAllInts | kBool},
    Kernel{"TopK", bit(DType::kFloat32) | bit(DType::kFloat64) | kInts},
    Kernel{"Transpose", kEverything},
    Kernel{"Trilu", kFloats | kInts | kBool},
    Kernel{"Unsqueeze", kEverything},
    Kernel{"Where", kFloats | kInts | kBytes},
    Kernel{"Xor", kBool},
};

// Looked up by bisection.
static_assert(std::is_sorted(kKernels.begin(), kKernels.end(),
                             [](const Kernel& a, const Kernel& b) { return a.op < b.op; }));

/// Wider dtypes that hold everything `dtype` does, nearest first.
std::span<const DType> wider(DType dtype) {
  static constexpr std::array kOfHalf = {DType::kFloat32};
  static constexpr std::array kOfSmall = {DType::kInt32, DType::kInt64};
  static constexpr std::array kOfInt = {DType::kInt64};
  static constexpr std::array kOfBool = {DType::kUInt8, DType::kInt32, DType::kInt64};
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return kOfHalf;
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kInt16:
    case DType::kUInt16:
      return kOfSmall;
    case DType::kInt32:
    case DType::kUInt32:
      return kOfInt;
    case DType::kBool:
      return kOfBool;
    default:
      return {};
  }
}

}  // namespace

std::optional<DType> compute_dtype(std::string_view op, DType dtype, int opset) {
  const auto found = std::lower_bound(kKernels.begin(), kKernels.end(), op,
                                      [](const Kernel& kernel, std::string_view name) { return kernel.op < name; });
  if (found == kKernels.end() || found->op != op) return dtype;
  Mask dtypes = found->dtypes;
  if (opset >= 14 && (op == "Add" || op == "Sub" || op == "Mul" || op == "Div")) dtypes |= kAllInts;
  if ((dtypes & bit(dtype)) != 0) return dtype;
  for (const DType candidate : wider(dtype)) {
    if ((dtypes & bit(candidate)) != 0) return candidate;
  }
  return std::nullopt;
}

}  // namespace leapp::onnx_ops
