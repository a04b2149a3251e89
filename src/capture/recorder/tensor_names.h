// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/recorder/tensor_content.h"
#include "capture/trace/trace.h"

namespace leapp::capture {

/// What the program calls its tensors, and constants that wait for a name. Guarded by the recorder's lock.
class TensorNames {
 public:
  TensorNames() { names_.reserve(64); }

  /// Gives constants made from this tensor a name.
  void set(const at::Tensor& tensor, std::string name, bool parameter);

  /// A constant without a name, and the tensor it was read from.
  struct Unnamed {
    std::shared_ptr<ConstantCell> cell;
    const c10::TensorImpl* tensor = nullptr;
  };
  /// Names a constant that was read from `tensor`; one that has no name yet waits for it.
  void name(const std::shared_ptr<ConstantCell>& cell, const at::Tensor& tensor);
  /// Those that wait, made since the last call.
  std::vector<Unnamed> take_unnamed() { return std::exchange(unnamed_, {}); }
  /// Takes over the name that the tensor has been given by now. REQUIRES: the tensor is still there.
  void name_again(const Unnamed& constant) const;

  void forget(const at::Tensor& tensor) { names_.erase(tensor.unsafeGetTensorImpl()); }
  /// Lets go of tensors that are gone.
  void sweep();

 private:
  struct Name {
    WeakTensor tensor;
    std::string name;
    bool parameter = false;
  };

  std::unordered_map<const c10::TensorImpl*, Name> names_;
  std::vector<Unnamed> unnamed_;
};

}  // namespace leapp::capture
