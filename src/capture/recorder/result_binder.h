// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <memory>

#include "capture/hook/pending_op.h"
#include "capture/recorder/capture_state.h"

namespace leapp::capture {

/// Says which value a tensor holds that an operator has given. REQUIRES: the recorder is locked.
class ResultBinder {
 public:
  explicit ResultBinder(CaptureState& state) : state_(state) {}

  /// Nothing, if `output` is one of the arguments.
  void bind(const PendingOp& op, const at::Tensor& output, ValuePtr value);
  /// The tensors in `outputs` are results of `trace`, from the one of number `first` on.
  void bind_all(const PendingOp& op, const std::shared_ptr<TraceOp>& trace, std::size_t first,
                c10::ArrayRef<c10::IValue> outputs);

 private:
  CaptureState& state_;
};

}  // namespace leapp::capture
