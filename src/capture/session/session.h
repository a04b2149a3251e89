// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "capture/hook/heap_limits.h"
#include "capture/hook/tensor_notices.h"
#include "capture/recorder/op_recorder.h"
#include "capture/session/annotations.h"
#include "capture/session/front_end.h"
#include "capture/state/state_analysis.h"
#include "capture/trace/record.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// From start() to stop(): when operators are recorded. What the program says meanwhile is the business of Annotations,
/// what happens to its tensors that of TensorNotices, and what all of it means that of StateAnalysis.
class Session {
 public:
  /// `recording` has a name, a folder, options and a log.
  Session(CaptureResult recording, std::shared_ptr<FrontEnd> front_end);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// REQUIRES: !stopped().
  [[nodiscard]] Annotations& annotations() { return *annotations_; }
  /// REQUIRES: !stopped().
  [[nodiscard]] TensorNotices tensors() { return {recorder_, *front_end_}; }
  /// What was recorded is not the program. REQUIRES: !stopped().
  void mark_incomplete(StatusCode code) noexcept { recorder_->mark_incomplete(code); }
  /// What stop() is to warn about. Replaces what was given before.
  void set_changed_values(std::vector<ChangedValues> changes) { changed_values_ = std::move(changes); }

  /// Ends capture, whatever goes wrong; nodes, samples and constants stay for compile_graph. A call that is not
  /// finished is dropped. The status is what went wrong inside an operator and was not told before, or why what was
  /// recorded is not complete. Waits for calls of other threads that use the session, and lets no more in.
  /// kFailedPrecondition: another thread ends it already, or this one is inside of such a call.
  Status stop();
  /// The same, but nothing stays.
  Status drop();
  [[nodiscard]] bool stopped() const { return stopped_.load(); }
  /// Neither stopped nor about to be.
  [[nodiscard]] bool active() const { return !closing_.load(); }

  [[nodiscard]] CaptureResult& recording() { return recording_; }

 private:
  friend class SessionUse;

  void begin();
  void end();
  /// Keeps everybody else out.
  Status close();

  std::atomic<int> users_{0};
  std::atomic<bool> closing_{false};
  std::atomic<bool> stopped_{false};
  CaptureResult recording_;
  std::shared_ptr<FrontEnd> front_end_;
  std::optional<HeapLimits> heap_{std::in_place};
  std::shared_ptr<OpRecorder> recorder_;
  TorchEvaluator evaluator_;
  StateAnalysis analysis_;
  std::optional<Annotations> annotations_;
  std::vector<ChangedValues> changed_values_;
};

/// The session between start() and the next start(), or null. After a fork, a child has none that was active.
std::shared_ptr<Session> current_session();
void set_current_session(std::shared_ptr<Session> session) noexcept;

/// How many sessions have begun in this process.
[[nodiscard]] std::uint64_t sessions_begun() noexcept;

/// The session that is active, for as long as this object lives: stop() waits for it. Of one thread.
class SessionUse {
 public:
  SessionUse();
  ~SessionUse();
  SessionUse(const SessionUse&) = delete;
  SessionUse& operator=(const SessionUse&) = delete;

  explicit operator bool() const { return session_ != nullptr; }
  /// REQUIRES: there is one.
  Session* operator->() const { return session_.get(); }
  Session& operator*() const { return *session_; }

 private:
  void leave();

  std::shared_ptr<Session> session_;
};

}  // namespace leapp::capture
