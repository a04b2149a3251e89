// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "capture/hook/pending_op.h"
#include "capture/recorder/capture_state.h"

namespace leapp::capture {

/// What an operator is given, looked up before it runs. REQUIRES: the recorder is locked.
class OpReader {
 public:
  explicit OpReader(CaptureState& state) : state_(state) {}

  /// Whether anything is known of what the operator reads or writes.
  bool touches_known(const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs);
  /// Fills in the arguments of `op`. REQUIRES: its info and location are set.
  void read(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs);

 private:
  void in_node(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs);
  void idle(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs);
  void written(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs);
  TraceArgument argument(PendingOp& op, std::size_t at, const c10::IValue& value, ActivationId preferred);
  ValuePtr operand(PendingOp& op, const at::Tensor& tensor, ActivationId preferred);
  TraceArgument drawn_over(PendingOp& op, const at::Tensor& tensor);
  ActivationId preferred(c10::ArrayRef<const c10::IValue> inputs);

  CaptureState& state_;
};

}  // namespace leapp::capture
