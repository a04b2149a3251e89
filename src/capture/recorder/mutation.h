// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "capture/hook/pending_op.h"
#include "capture/recorder/capture_state.h"
#include "capture/recorder/result_binder.h"

namespace leapp::capture {

/// Operators that write to their arguments, turned into their functional form plus "this memory now holds that value".
/// REQUIRES: the recorder is locked.
class Mutation {
 public:
  Mutation(CaptureState& state, ResultBinder& binder) : state_(state), binder_(binder) {}

  /// Any operator that writes, by its functional form.
  void write(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs, bool random);
  /// One that changes only how its argument looks at its memory (t_).
  void inplace_view(const PendingOp& op);
  void fill(const PendingOp& op);
  void fill_diagonal(const PendingOp& op);
  void copy(const PendingOp& op);
  void as_strided_scatter(const PendingOp& op, const at::Tensor& output);

 private:
  CaptureState& state_;
  ResultBinder& binder_;
};

}  // namespace leapp::capture
