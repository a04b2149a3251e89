// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "capture/front_end.h"
#include "capture/heap.h"
#include "capture/leaks.h"
#include "capture/record.h"
#include "capture/recorder.h"
#include "capture/reentry.h"
#include "capture/unread_state.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// What a call gives. `constant`: of each, whether it is a static output.
struct CallOutputs {
  PortTensors ports;
  std::vector<bool> constant;
};

/// From start() to stop(): nodes, ports, passes and where inputs come from.
class Session {
 public:
  /// `recording` has a name, a folder, options and a log.
  Session(Recording recording, std::shared_ptr<FrontEnd> front_end);
  ~Session();

  Result<std::vector<at::Tensor>> input_tensors(const std::string& node, const PortTensors& tensors);
  /// `static_outputs` are `options.static_outputs`, flattened.
  Result<std::vector<at::Tensor>> output_tensors(const std::string& node, const PortTensors& tensors,
                                                 const PortTensors& static_outputs, const OutputOptions& options);
  Result<std::vector<at::Tensor>> state_tensors(const std::string& node, const NamedTensors& tensors);
  Result<std::vector<at::Tensor>> update_state(const std::string& node, const NamedTensors& tensors);
  Result<std::vector<at::Tensor>> register_buffer(const std::string& node, const NamedTensors& tensors);
  Status module(const std::string& node, const std::vector<annotate::Buffer>& buffers);
  Status mirror(const at::Tensor& source, const at::Tensor& target);
  /// Buffers of a module that was called: state in nodes that change them.
  void watch(const std::vector<annotate::Buffer>& buffers);
  /// The call of `node` that is under way will not be finished; as if it had not begun. False: it is not open.
  bool abandon(const std::string& node);
  [[nodiscard]] bool is_open(const std::string& node);
  void name_tensor(const at::Tensor& tensor, const std::string& name, bool parameter);
  /// A default argument of the function that is `node`: an output may be computed from such alone.
  void note_default(const std::string& node, const at::Tensor& tensor);
  /// The view of `base` at the index that `start` holds, one or `length` elements along `dim`, recorded as depending on
  /// it; with `stop`, up to there. Undefined: no node is open, it cannot be followed or torch would refuse it.
  struct IndexedView {
    at::Tensor base;
    std::int64_t dim = 0;
    at::Tensor start;
    at::Tensor stop;
    std::optional<std::int64_t> length;
  };
  at::Tensor view_at(const IndexedView& wanted);
  /// Python is about to exchange what two tensors are; torch refuses while anyone holds weak references.
  void release(const at::Tensor& tensor);
  /// `tensor` was written to without an operator (apply_, map_).
  void rewritten(const at::Tensor& tensor);
  /// `copy` was made from `source` without an operator (deepcopy).
  void copied(const at::Tensor& source, const at::Tensor& copy);
  void note_escape(const at::Tensor& tensor, const std::string& how);
  [[nodiscard]] bool is_live(const at::Tensor& tensor);
  /// What stop() is to warn about. Replaces what was given before.
  void set_changed_values(std::vector<ChangedValues> changes) { changed_values_ = std::move(changes); }

  /// Ends capture, whatever goes wrong; nodes, samples and constants stay for compile_graph. A call that is not
  /// finished is dropped. The status is what went wrong inside an operator and was not told before.
  Status stop();
  [[nodiscard]] bool stopped() const { return recorder_ == nullptr; }

  [[nodiscard]] Recording& recording() { return recording_; }
  [[nodiscard]] FrontEnd& front_end() { return *front_end_; }

 private:
  struct OpenCall {
    ActivationId activation = 0;
    std::vector<PortRecord> inputs;
    std::vector<at::Tensor> values;                          ///< of the inputs: copies
    std::vector<ValuePtr> traced;                            ///< of the inputs
    std::vector<std::pair<std::string, ValuePtr>> replaced;  ///< inputs as they were before they were announced again
    std::vector<Place> places;
    std::vector<std::function<at::Tensor()>> getters;  ///< of the places; empty: the tensor stays the same
    PortTensors updates;                               ///< next values of declared state
  };
  using Watched = std::vector<std::pair<annotate::Buffer, at::Tensor>>;

  // inputs.cpp
  Status check_inputs(const std::string& node, const PortTensors& tensors, bool state);
  Status check_source(const std::string& node, const std::string& port, const at::Tensor& tensor);
  Result<std::vector<at::Tensor>> add_inputs(const std::string& node, const PortTensors& tensors, bool state);
  Status bind_inputs(const std::string& node, const PortTensors& tensors, const std::vector<at::Tensor>& aliases,
                     bool state);
  void bind_input(const std::string& node, PortRecord port, const at::Tensor& tensor, const at::Tensor& alias);
  bool is_same_input(const OpenCall& call, std::size_t at, const PortRecord& port, const at::Tensor& tensor);

  // matching.cpp
  Status check_reentry(const std::string& node, const PortTensors& outputs) const;
  Status check_mixed_inputs(const std::string& node, const PortTensors& outputs);
  static void merge_sources(NodeRecord& record, const OpenCall& call);
  static CallOutputs in_order(const NodeRecord* record, const PortTensors& outputs, std::size_t computed);

  Status check_outputs(const std::string& node, const PortTensors& tensors, const PortTensors& static_outputs);
  Status check_depends(const std::string& node, const PortTensor& output);
  Status check_static(const std::string& node, const PortTensors& static_outputs);
  Status check_ports(const std::string& node, const char* direction, const PortTensors& tensors) const;
  Status check_open(const char* call, const std::string& node) const;
  Status check_update(const std::string& node, const std::string& name, const at::Tensor& tensor);
  Status check_place(const std::string& node, const std::string& name, const at::Tensor& tensor);
  bool is_declared(const OpenCall& call, const std::string& name, const at::Tensor& tensor);
  std::optional<Source> source_of(const std::string& node, const std::string& port, const at::Tensor& tensor);
  void report_glue(const std::string& node, const std::string& port, const Origin& published, const std::string& op,
                   LocationId where);
  OpenCall& open(const std::string& node);
  NodeRecord* find(const std::string& node) const;
  void add_place(OpenCall& call, const annotate::Buffer& buffer, const at::Tensor& tensor, bool declared);
  Watched buffers_of_called_modules(const std::string& node);
  void look_at_places(const std::string& node);
  void name_divergences();
  void drop_open_calls();
  void end_recording(std::vector<KeptTensor>& left);
  void report(const std::vector<KeptTensor>& left);

  // closing.cpp
  static void sort_updates(OpenCall& call);
  ValuePtr computed_value(const at::Tensor& tensor, const OpenCall& call);
  NodeRecord& begin_record(const std::string& node, const OpenCall& call, const OutputOptions& options);
  void record_first(NodeRecord& record, const OpenCall& call, const CallOutputs& outputs);
  /// What a later call computed, before its node closes.
  struct LaterCall {
    std::vector<ValuePtr> outputs;
    std::vector<ValuePtr> updates;  ///< of the leaks known so far; null: not known
    std::vector<at::Tensor> reads;  ///< what these held before the call; undefined: not known
  };
  LaterCall look_at(NodeRecord& record, const OpenCall& call, const CallOutputs& outputs);
  /// Gives whether the call's inputs and outputs are worth keeping.
  bool record_again(NodeRecord& record, const LaterCall& later, const Survivors& survivors);
  [[nodiscard]] bool keeps_sample(const NodeRecord& record) const;
  void keep_sample(NodeRecord& record, const OpenCall& call, const PortTensors& outputs);
  /// By position of the leak.
  using Holders = std::vector<std::pair<std::size_t, WeakTensor>>;
  /// Gives those whose next value only a tensor of the user's has.
  Holders keep_next_values(NodeRecord& record, const OpenCall& call);
  void keep_held_values(const std::string& node, std::size_t call, const Holders& holders);
  void publish(const NodeRecord& node, const CallOutputs& outputs);
  Holders nameless(const NodeRecord& record);
  void name_leaks(const std::string& node, const Holders& holders);

  Recording recording_;
  std::shared_ptr<FrontEnd> front_end_;
  std::optional<HeapWithoutHoles> heap_{std::in_place};
  std::shared_ptr<Recorder> recorder_;
  std::map<std::string, OpenCall> open_;
  std::vector<annotate::Buffer> watched_;
  std::set<std::string> closed_in_pass_;
  std::uint64_t pass_ = 0;
  std::set<std::string> mixed_;  // "node/input" that was warned about: outputs depend on two values of it
  std::vector<ChangedValues> changed_values_;
};

/// The session between start() and the next start(), or null.
std::shared_ptr<Session> current_session();
void set_current_session(std::shared_ptr<Session> session);

}  // namespace leapp::capture
