// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "torch_types/tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "torch_types/host.h"

namespace leapp {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 18> kPairs = {{
    {DType::kFloat16, at::kHalf},
    {DType::kFloat32, at::kFloat},
    {DType::kFloat64, at::kDouble},
    {DType::kBFloat16, at::kBFloat16},
    {DType::kInt8, at::kChar},
    {DType::kInt16, at::kShort},
    {DType::kInt32, at::kInt},
    {DType::kInt64, at::kLong},
    {DType::kUInt8, at::kByte},
    {DType::kBool, at::kBool},
    {DType::kUInt16, at::ScalarType::UInt16},
    {DType::kUInt32, at::ScalarType::UInt32},
    {DType::kUInt64, at::ScalarType::UInt64},
    {DType::kComplex32, at::kComplexHalf},
    {DType::kComplex64, at::kComplexFloat},
    {DType::kComplex128, at::kComplexDouble},
    {DType::kFloat8E4M3FN, at::ScalarType::Float8_e4m3fn},
    {DType::kFloat8E5M2, at::ScalarType::Float8_e5m2},
}};

bool is_aligned(const void* data, DType dtype) {
  const std::size_t alignment = std::min<std::size_t>(dtype_size(dtype), alignof(double));
  return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
}

}  // namespace

std::optional<DType> to_dtype(at::ScalarType type) {
  for (const auto& [dtype, scalar] : kPairs) {
    if (scalar == type) return dtype;
  }
  return std::nullopt;
}

at::ScalarType to_scalar_type(DType dtype) {
  for (const auto& [candidate, scalar] : kPairs) {
    if (candidate == dtype) return scalar;
  }
  return at::ScalarType::Undefined;
}

at::Tensor to_tensor(const graph::Constant& constant) {
  const auto options = at::TensorOptions().dtype(to_scalar_type(constant.type.dtype)).device(at::kCPU);
  const at::IntArrayRef sizes(constant.type.shape);
  const std::size_t size = constant.byte_size();
  if (size == 0) return at::empty(sizes, options);
  if (is_aligned(constant.data.get(), constant.type.dtype)) {
    // The const is cast away because ATen knows no read-only tensors; see the contract in the header.
    return at::from_blob(
        const_cast<void*>(constant.data.get()), sizes, [keep = constant.data](void*) {}, options);
  }
  at::Tensor copy = at::empty(sizes, options);
  std::memcpy(copy.mutable_data_ptr(), constant.data.get(), size);
  return copy;
}

std::optional<graph::Constant> to_constant(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != at::kStrided || tensor.is_nested()) return std::nullopt;
  const auto dtype = to_dtype(tensor.scalar_type());
  if (!dtype) return std::nullopt;
  auto dense = std::make_shared<at::Tensor>(on_host(tensor.detach()));
  graph::Constant constant;
  constant.type = {*dtype, graph::Shape(dense->sizes().begin(), dense->sizes().end())};
  const void* data = dense->const_data_ptr();
  constant.data = std::shared_ptr<const void>(std::move(dense), data);
  return constant;
}

}  // namespace leapp
