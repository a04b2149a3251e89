// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/hook/pending_op.h"
#include "capture/recorder/capture_state.h"
#include "capture/recorder/op_reader.h"
#include "capture/recorder/op_results.h"
#include "capture/session/front_end.h"
#include "leapp/base/status.h"
#include "torch_types/failure.h"

namespace leapp::capture {

/// Turns operators into values: what an operator is given is looked up before it runs (OpReader), what it gives is
/// written down after (OpResults). One lock guards everything; it is never held while user code, Python or a kernel
/// runs.
class OpRecorder {
 public:
  OpRecorder(std::shared_ptr<FrontEnd> front_end, CaptureState::Warn warn);

  /// Before the kernel runs. False: nothing to remember. Never throws.
  bool begin(PendingOp& op, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs);
  /// After it has run. Never throws.
  void finish(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  /// Whether the operators that `op` called account for all its live results. If not, it computes on its own and must
  /// be recorded itself.
  bool fully_decomposed(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  /// It threw.
  void abandon(PendingOp& op);

  /// A value left the graph in a way the dispatcher does not show (tolist, numpy). Thread-safe.
  void note_escape(const at::Tensor& tensor, const std::string& how);

  /// A branch or a loop of scripted code, on the line that runs, is recorded the way it went.
  void note_written_out(bool loop, const std::string& why);

  /// The first thing that went wrong inside an operator since the last call; for good once something is lost.
  Status take_error();

  /// Nothing more is written down, and what was is no model of the program: an exception came in between. Never throws.
  void mark_incomplete(StatusCode code) noexcept { state_.completeness.mark_incomplete(code); }
  /// kOk: nothing is lost.
  [[nodiscard]] StatusCode lost() const noexcept { return state_.completeness.lost(); }
  [[nodiscard]] bool is_complete() const noexcept { return lost() == StatusCode::kOk; }
  /// The exception that is being handled ended something by halves. `during()`: the text of what. Never throws.
  /// REQUIRES: called while one is handled.
  template <typename During>
  void lose_to_exception(const During& during) noexcept;
  void lose_to_exception(const char* during) noexcept {
    lose_to_exception([during] { return std::string(during); });
  }
  /// Nothing more is written down from here on.
  void end();

  /// Keeps the recorder to this thread. An exception that leaves it leaves something half done: all is lost. Tensors
  /// that the recorder let go of meanwhile are dropped after the lock is: their owner may need Python's lock, which a
  /// thread that waits for ours may have.
  class Lock {
   public:
    explicit Lock(OpRecorder& recorder)
        : recorder_(recorder), exceptions_(std::uncaught_exceptions()), guard_(recorder.mutex_) {}
    ~Lock() {
      if (std::uncaught_exceptions() > exceptions_) recorder_.mark_incomplete(StatusCode::kInternal);
      released_ = recorder_.state_.table.memories().take_released();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    OpRecorder& recorder_;
    int exceptions_;
    std::vector<at::Tensor> released_;  // before the guard, so that it goes after it
    std::unique_lock<std::mutex> guard_;
  };

  // The rest is called with lock() held.
  [[nodiscard]] Lock lock() { return Lock(*this); }
  TensorTable& table() { return state_.table; }
  TraceBuilder& builder() { return state_.builder; }
  Escapes& escapes() { return state_.escapes; }
  ConditionLog& guards() { return state_.guards; }
  [[nodiscard]] const OpenCalls& calls() const { return state_.calls; }
  [[nodiscard]] const std::vector<std::pair<ValuePtr, LocationId>>& numbers_of_constants() const {
    return state_.numbers_of_constants;
  }

  ActivationId open(const std::string& node);
  Survivors close(ActivationId activation, std::uint64_t pass);

 private:
  bool begin_unguarded(PendingOp& op, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs);
  void name_parameters(const std::vector<TensorNames::Unnamed>& unnamed);

  /// Whether there is any use in writing something down.
  [[nodiscard]] bool records() const noexcept { return !ended_.load() && is_complete(); }

  std::mutex mutex_;
  std::atomic<bool> ended_{false};
  std::shared_ptr<FrontEnd> front_end_;
  CaptureState state_;
  OpReader reader_;
  OpResults results_;
  std::set<LocationId> written_out_;  // lines that were told of
};

template <typename During>
void OpRecorder::lose_to_exception(const During& during) noexcept {
  mark_incomplete(StatusCode::kInternal);
  try {
    throw;
  } catch (const std::exception& failure) {
    try {
      Status status = failure_status(failure, [&] { return during() + ": " + failure.what(); });
      mark_incomplete(status.code());
      state_.errors.note(std::move(status));
    } catch (const std::exception&) {
      mark_incomplete(StatusCode::kOutOfMemory);  // not even for the text
    }
  } catch (...) {  // of no kind that anybody knows
  }
}

}  // namespace leapp::capture
