// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Contents and constants as torch has them: the only place where a trace leads to tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "capture/trace/trace.h"

namespace leapp::capture {

/// Does not keep a tensor alive. To lock one may take Python's lock, which a thread that waits for ours may have: do it
/// without any lock of ours held.
using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
at::Tensor locked(const WeakTensor& tensor);  ///< undefined: it is gone

/// Null for an undefined tensor. Nobody may write to it any more.
ContentPtr content_of(at::Tensor tensor);
/// Undefined for null. REQUIRES: content_of made it.
const at::Tensor& tensor_of(const ContentPtr& content);

/// A constant of a program that runs.
struct TensorCell : ConstantCell {
  at::Tensor tensor;

  [[nodiscard]] ValueType type() const override;
  /// What is on a device is copied from there, this once.
  void seal() override;
  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] ContentPtr copy() const override;
  [[nodiscard]] std::optional<graph::Constant> exported() const override;
  [[nodiscard]] bool is_same_memory(const ConstantCell& other) const override;
  [[nodiscard]] const void* storage() const override;
  [[nodiscard]] std::size_t storage_holders() const override;
};

/// REQUIRES: it is a TensorCell.
const at::Tensor& tensor_of(const ConstantCell& cell);

/// A constant with `tensor` for ever in it.
ValuePtr constant_of(at::Tensor tensor, LocationId location);

/// "float32[1, 48]"
std::string describe(const at::Tensor& tensor);

/// Contiguous, in memory of the CPU, and nobody else's.
at::Tensor dense_copy(const at::Tensor& tensor);
ContentPtr copied_content(const at::Tensor& tensor);

/// Over the tensor's elements in row-major order, whatever its strides.
std::uint64_t content_hash(const at::Tensor& tensor);

}  // namespace leapp::capture
