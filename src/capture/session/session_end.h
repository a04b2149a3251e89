// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "capture/recorder/tensor_content.h"
#include "capture/session/front_end.h"
#include "capture/state/state_analysis.h"
#include "capture/trace/evaluate.h"
#include "capture/trace/record.h"

namespace leapp::capture {

/// Tensors that hold what nodes made when a session ends, and what is known of each.
using LeftTensors = std::vector<std::pair<WeakTensor, KeptTensor>>;

struct Finishing {
  StateAnalysis& analysis;
  ConstantEvaluator& evaluator;
  FrontEnd& front_end;
};

/// Everything that can be said when all calls have been recorded: which state gets which port, names that only the
/// program's variables tell, and what to warn about. REQUIRES: no lock is held; operators are not recorded any more.
void finish_recording(CaptureResult& recording, const LeftTensors& left, const std::vector<ChangedValues>& changed,
                      Finishing with);

}  // namespace leapp::capture
