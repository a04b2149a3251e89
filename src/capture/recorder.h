// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/SmallVector.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/escapes.h"
#include "capture/front_end.h"
#include "capture/guards.h"
#include "capture/tensor_table.h"
#include "capture/trace.h"
#include "capture/trace_builder.h"
#include "leapp/base/status.h"

namespace leapp::capture {

/// An operator between its start and its end.
struct PendingOp {
  const OpInfo* info = nullptr;
  std::vector<TraceArgument> arguments;
  LocationId location = 0;
  ActivationId owner = 0;
  bool in_node = false;       ///< some node was open when it began
  bool only_checked = false;  ///< the number it gives is looked at by checks of a library and nobody else

  struct Written {
    at::Tensor tensor;
    std::size_t argument;
    std::uint32_t version;  ///< before the operator ran
  };
  std::vector<Written> written;
  std::optional<std::vector<at::ScalarType>> twin_dtypes;  ///< of the functional form's results, where torch can tell

  c10::SmallVector<const c10::TensorImpl*, 6> input_impls;
  c10::SmallVector<const c10::StorageImpl*, 6> input_storages;
  ValuePtr identity;   ///< what the first tensor argument holds (the source, for copy_)
  at::Tensor self;     ///< kept only where the class of the operator needs it
  ValuePtr published;  ///< some published output among the arguments
};

/// Turns operators into values. One lock guards everything; it is never held while user code, Python or
/// a kernel runs.
class Recorder {
 public:
  using Warn = std::function<void(const std::string&)>;
  Recorder(std::shared_ptr<FrontEnd> front_end, Warn warn);

  /// Before the kernel runs. False: nothing to remember. Never throws.
  bool begin(PendingOp& op, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs);
  /// After it has run. Never throws.
  void finish(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  /// Whether the operators that `op` called account for all its live results. If not, it computes on its own and must
  /// be recorded itself.
  bool explained(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  /// It threw.
  void abandon(PendingOp& op);

  /// A value left the graph in a way the dispatcher does not show (tolist, numpy). Thread-safe.
  void note_escape(const at::Tensor& tensor, const std::string& how);

  /// Keeps the recorder to this thread. Tensors that the recorder let go of meanwhile are dropped after the lock is:
  /// their owner may need Python's lock, which a thread that waits for ours may have.
  class Lock {
   public:
    explicit Lock(Recorder& recorder) : recorder_(recorder), guard_(recorder.mutex_) {}
    ~Lock() { released_ = recorder_.table_.take_released(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Recorder& recorder_;
    std::vector<at::Tensor> released_;  // before the guard, so that it goes after it
    std::unique_lock<std::mutex> guard_;
  };

  // The rest is called with lock() held.
  [[nodiscard]] Lock lock() { return Lock(*this); }
  TensorTable& table() { return table_; }
  TraceBuilder& builder() { return builder_; }
  Escapes& escapes() { return escapes_; }
  GuardLog& guards() { return guards_; }
  ActivationId open(const std::string& node);
  Survivors close(ActivationId activation, std::uint64_t pass);
  [[nodiscard]] const std::string& name_of(ActivationId activation) const;
  [[nodiscard]] bool any_open() const { return !open_.empty(); }
  /// 0: none, or several.
  [[nodiscard]] ActivationId only_open() const { return open_.size() == 1 ? open_.begin()->first : 0; }

  /// Results of operators that read a number out of constants while nodes were open, and where.
  [[nodiscard]] const std::vector<std::pair<ValuePtr, LocationId>>& numbers_of_constants() const { return numbers_; }

  /// The first thing that went wrong inside an operator since the last call.
  Status take_error();
  void note_error(Status status);

 private:
  bool begin_unguarded(PendingOp& op, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs);
  bool touches_known(const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs);
  void gather_written(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs);
  void gather_idle(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs);
  void gather(PendingOp& op, c10::ArrayRef<const c10::IValue> inputs);
  TraceArgument argument(PendingOp& op, const c10::IValue& value, ActivationId preferred);
  ValuePtr operand(PendingOp& op, const at::Tensor& tensor, ActivationId preferred);
  ActivationId preferred(c10::ArrayRef<const c10::IValue> inputs);
  bool is_random(const PendingOp& op) const;

  void finish_locked(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  void finish_idle(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  void finish_plain(PendingOp& op, c10::ArrayRef<c10::IValue> outputs, bool random);
  bool note_guard(const PendingOp& op, const std::shared_ptr<TraceOp>& trace, c10::ArrayRef<c10::IValue> outputs);
  void finish_identity(PendingOp& op, const at::Tensor& output);
  void finish_full(PendingOp& op, const at::Tensor& output);
  void finish_drawn(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  void bind_results(PendingOp& op, const std::shared_ptr<TraceOp>& trace, std::size_t first,
                    c10::ArrayRef<c10::IValue> outputs);
  void bind_result(PendingOp& op, const at::Tensor& output, ValuePtr value);

  // mutation.cpp
  void finish_write(PendingOp& op, c10::ArrayRef<c10::IValue> outputs, bool random);
  void finish_fill(PendingOp& op);
  void finish_copy(PendingOp& op);
  void finish_fill_diagonal(PendingOp& op);
  bool is_published_whole(const PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  void finish_batch_norm(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  void finish_instance_norm(PendingOp& op, c10::ArrayRef<c10::IValue> outputs);
  void finish_as_strided_scatter(PendingOp& op, const at::Tensor& output);
  void finish_inplace_view(PendingOp& op);

  std::mutex mutex_;
  std::shared_ptr<FrontEnd> front_end_;
  Warn warn_;
  TraceBuilder builder_;
  TensorTable table_;
  Escapes escapes_;
  GuardLog guards_;
  std::map<ActivationId, std::string> open_;
  std::vector<std::pair<ValuePtr, LocationId>> numbers_;
  std::atomic<int> open_count_{0};
  ActivationId next_activation_ = 0;
  std::mutex error_mutex_;
  Status error_;
};

}  // namespace leapp::capture
