// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "capture/annotations.h"
#include "capture/front_end.h"
#include "capture/heap_limits.h"
#include "capture/record.h"
#include "capture/recorder.h"
#include "capture/state_analysis.h"
#include "capture/tensor_notices.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// From start() to stop(): when operators are recorded. What the program says meanwhile is the business of Annotations,
/// what happens to its tensors that of TensorNotices, and what all of it means that of StateAnalysis.
class Session {
 public:
  /// `recording` has a name, a folder, options and a log.
  Session(Recording recording, std::shared_ptr<FrontEnd> front_end);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// REQUIRES: !stopped().
  [[nodiscard]] Annotations& annotations() { return *annotations_; }
  /// REQUIRES: !stopped().
  [[nodiscard]] TensorNotices tensors() { return {recorder_, *front_end_}; }
  /// What stop() is to warn about. Replaces what was given before.
  void set_changed_values(std::vector<ChangedValues> changes) { changed_values_ = std::move(changes); }

  /// Ends capture, whatever goes wrong; nodes, samples and constants stay for compile_graph. A call that is not
  /// finished is dropped. The status is what went wrong inside an operator and was not told before.
  Status stop();
  [[nodiscard]] bool stopped() const { return recorder_ == nullptr; }

  [[nodiscard]] Recording& recording() { return recording_; }

 private:
  Recording recording_;
  std::shared_ptr<FrontEnd> front_end_;
  std::optional<HeapLimits> heap_{std::in_place};
  std::shared_ptr<Recorder> recorder_;
  TorchEvaluator evaluator_;
  StateAnalysis analysis_;
  std::optional<Annotations> annotations_;
  std::vector<ChangedValues> changed_values_;
};

/// The session between start() and the next start(), or null.
std::shared_ptr<Session> current_session();
void set_current_session(std::shared_ptr<Session> session);

}  // namespace leapp::capture
