// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include "capture/hook/pending_op.h"
#include "capture/recorder/capture_state.h"
#include "capture/recorder/result_binder.h"

namespace leapp::capture {

/// Operators that normalise and write running statistics, as operators that return them. False: they write none, and
/// nothing has been recorded. REQUIRES: the recorder is locked.
class Normalisation {
 public:
  Normalisation(CaptureState& state, ResultBinder& binder) : state_(state), binder_(binder) {}

  bool batch_norm(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  bool instance_norm(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs);

 private:
  CaptureState& state_;
  ResultBinder& binder_;
};

}  // namespace leapp::capture
