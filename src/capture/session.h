// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/front_end.h"
#include "capture/heap_limits.h"
#include "capture/node_call.h"
#include "capture/record.h"
#include "capture/record_call.h"
#include "capture/recorder.h"
#include "capture/state_analysis.h"
#include "capture/tensor_notices.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// From start() to stop(): which calls of which nodes are open, and passes. What is in a call is the business of
/// NodeCall, what becomes of one that ends that of CallRecorder, and what it means that of StateAnalysis.
class Session {
 public:
  /// `recording` has a name, a folder, options and a log.
  Session(Recording recording, std::shared_ptr<FrontEnd> front_end);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Result<std::vector<at::Tensor>> input_tensors(const std::string& node, const PortTensors& tensors);
  /// `static_outputs` are `options.static_outputs`, flattened.
  Result<std::vector<at::Tensor>> output_tensors(const std::string& node, const PortTensors& tensors,
                                                 const PortTensors& static_outputs, const OutputOptions& options);
  Result<std::vector<at::Tensor>> state_tensors(const std::string& node, const NamedTensors& tensors);
  Result<std::vector<at::Tensor>> update_state(const std::string& node, const NamedTensors& tensors);
  Status reset_from(const std::string& node, const std::vector<std::string>& states, const std::string& from);
  Result<std::vector<at::Tensor>> register_buffer(const std::string& node, const NamedTensors& tensors);
  Status module(const std::string& node, const std::vector<annotate::Buffer>& buffers);
  /// Buffers of a module that was called: state in nodes that change them.
  void watch(const std::vector<annotate::Buffer>& buffers);
  /// A default argument of the function that is `node`: an output may be computed from such alone.
  void note_default(const std::string& node, const at::Tensor& tensor);
  /// The call of `node` that is under way will not be finished; as if it had not begun. False: it is not open.
  bool abandon(const std::string& node);
  [[nodiscard]] bool is_open(const std::string& node);

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
  using Watched = std::vector<std::pair<annotate::Buffer, at::Tensor>>;

  NodeRecord* find(const std::string& node) const;
  Status check_open(const char* call, const std::string& node) const;
  Result<std::vector<at::Tensor>> add_inputs(const std::string& node, const PortTensors& tensors, bool state);
  Status bind_inputs(NodeCall& call, const PortTensors& tensors, const std::vector<at::Tensor>& aliases, bool state);
  NodeCall& open(const std::string& node);
  void close(const std::string& node);
  Watched buffers_of_called_modules(const std::string& node);
  void look_at_buffers(const std::string& node);
  void answer(const std::string& node, const OpenQuestions& questions);
  void drop_open_calls();
  void finish(const std::vector<std::pair<WeakTensor, KeptTensor>>& left);
  void name_divergences();
  void report(NodeRecord& node);

  Recording recording_;
  std::shared_ptr<FrontEnd> front_end_;
  std::optional<HeapLimits> heap_{std::in_place};
  std::shared_ptr<Recorder> recorder_;
  TorchEvaluator evaluator_;
  StateAnalysis analysis_;
  std::map<std::string, NodeCall> open_;
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
