// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>

#include "capture/hook/pending_op.h"
#include "capture/recorder/capture_state.h"
#include "capture/recorder/mutation.h"
#include "capture/recorder/normalisation.h"
#include "capture/recorder/result_binder.h"

namespace leapp::capture {

/// What an operator gave, written into the trace after it has run. REQUIRES: the recorder is locked.
class OpResults {
 public:
  explicit OpResults(CaptureState& state)
      : state_(state), binder_(state), mutation_(state, binder_), normalisation_(state, binder_) {}

  /// An operator that began while a node was open.
  void in_node(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  /// One that began while none was.
  void idle(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  /// Whether the operators that `op` called account for all its live results.
  bool fully_decomposed(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs);

 private:
  void plain(PendingOp& op, c10::ArrayRef<c10::IValue> outputs, bool random);
  void reshape(const PendingOp& op, const at::Tensor& output);
  void as_strided(const PendingOp& op, const at::Tensor& output);
  void full(PendingOp& op, const at::Tensor& output);
  void note_outside(const PendingOp& op, const at::Tensor& tensor);
  void control(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  void drawn(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  void drawn_for_several(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  bool note_guard(const PendingOp& op, const std::shared_ptr<TraceOp>& trace, c10::ArrayRef<c10::IValue> outputs);
  void note_numbers(const PendingOp& op, const std::shared_ptr<TraceOp>& trace, c10::ArrayRef<c10::IValue> outputs);
  bool is_published_whole(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs);

  CaptureState& state_;
  ResultBinder binder_;
  Mutation mutation_;
  Normalisation normalisation_;
};

}  // namespace leapp::capture
