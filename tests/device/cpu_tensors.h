// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace leapp::annex {

/// The device's tensors as tensors of the CPU over the very same memory, for as long as one operator runs. Tensors that
/// share memory still do: writes through one are seen through the other, as on the CPU.
class CpuTensors {
 public:
  /// `tensor` itself if it is not the device's.
  at::Tensor to_cpu(const at::Tensor& tensor);
  /// The same in lists; devices become the CPU, generators the CPU's.
  c10::IValue to_cpu(const c10::IValue& value);

  /// What the operator did to a tensor that it wrote to, other than to its elements.
  void write_back(const at::Tensor& on_cpu);
  /// A result of the operator, on the device.
  at::Tensor to_device(const at::Tensor& result);
  c10::IValue to_device(const c10::IValue& value);

  /// Of the first of the device's tensors, or what a Device argument said.
  [[nodiscard]] std::optional<c10::Device> device() const { return device_; }
  /// Tensors of the CPU with elements, which real devices do not take beside their own.
  [[nodiscard]] bool met_cpu_tensor() const { return met_cpu_tensor_; }
  [[nodiscard]] bool met_own_tensor() const { return !pairs_.empty(); }

 private:
  struct Pair {
    at::Tensor own;
    at::Tensor on_cpu;
  };
  struct Memory {
    c10::Storage own;
    c10::Storage on_cpu;
  };
  const Pair* pair_of(const at::Tensor& on_cpu) const;
  const Memory& memory_of(const at::Tensor& tensor);

  std::vector<Pair> pairs_;
  std::unordered_map<const c10::StorageImpl*, Memory> memories_;
  std::optional<c10::Device> device_;
  std::vector<const c10::TensorImpl*> others_;
  bool met_cpu_tensor_ = false;
};

/// Makes `tensor` look at `storage` with the geometry of `like`.
at::Tensor over(const c10::Storage& storage, c10::DispatchKeySet keys, const at::Tensor& like);

/// Any operator that has no kernel of its own: the CPU's kernel over the device's memory.
void run_with_cpu_kernel(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace leapp::annex
