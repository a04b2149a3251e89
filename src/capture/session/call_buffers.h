// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "capture/state/leaks.h"
#include "leapp/capture.h"

namespace leapp::capture {

class OpRecorder;

/// Tensors that one call of a node may write to or exchange: buffers that the user declared, and those of modules that
/// ran. Guarded by the recorder's lock.
class CallBuffers {
 public:
  CallBuffers(std::string node, OpRecorder& recorder) : node_(std::move(node)), recorder_(&recorder) {}

  [[nodiscard]] bool has_declared(const std::string& name) const;
  /// Whether this very tensor was declared under that name.
  [[nodiscard]] bool is_declared(const std::string& name, const at::Tensor& tensor) const;
  /// What `tensor` holds now is what the buffer held when the call began.
  void add(const annotate::Buffer& buffer, const at::Tensor& tensor, bool declared);

  /// How to get at what the buffers hold now, to be asked without the lock; empty: the tensor stays the same.
  [[nodiscard]] std::vector<std::function<at::Tensor()>> getters() const;
  /// The answers, in the same order: `call` ends.
  void look(const std::vector<at::Tensor>& now, ActivationId call, Logger& log);

  [[nodiscard]] const std::vector<BufferTrace>& traces() const { return traces_; }
  /// What the buffer that `leak` is of held when the call ended; null: it is of none.
  [[nodiscard]] const at::Tensor* at_end(const Leak& leak) const;

 private:
  struct Held {
    std::function<at::Tensor()> get;  // empty: the tensor stays the same
    at::Tensor tensor;                // when the call began
    at::Tensor at_end;                // when it ends
  };

  std::string node_;
  OpRecorder* recorder_;
  std::vector<BufferTrace> traces_;
  std::vector<Held> held_;  // of each of these
};

}  // namespace leapp::capture
