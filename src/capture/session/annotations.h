// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/recorder/op_recorder.h"
#include "capture/session/front_end.h"
#include "capture/session/passes.h"
#include "capture/state/state_analysis.h"
#include "capture/trace/record.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// What the program says of its nodes while a session is active: include/leapp/capture.h with ports that are flat. What
/// is in a call is the business of NodeCall, what becomes of one that ends that of CallRecorder. Thread-safe.
class Annotations {
 public:
  Annotations(CaptureResult& recording, OpRecorder& recorder, FrontEnd& front_end, StateAnalysis& analysis)
      : recording_(recording),
        recorder_(recorder),
        front_end_(front_end),
        analysis_(analysis),
        passes_(recording, recorder) {}

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

  [[nodiscard]] bool is_open(const std::string& node);
  /// The call of `node` that is under way will not be finished; as if it had not begun. False: it is not open.
  bool abandon(const std::string& node);
  /// Every call that is not finished, with a line in the log.
  void abandon_all();

 private:
  using Watched = std::vector<std::pair<annotate::Buffer, at::Tensor>>;

  [[nodiscard]] NodeRecord* record_of(const std::string& node) const;
  Result<std::vector<at::Tensor>> add_inputs(const std::string& node, const PortTensors& tensors, bool state);
  Status bind_inputs(NodeCall& call, const PortTensors& tensors, const std::vector<at::Tensor>& aliases, bool state);
  Watched buffers_of_called_modules(const std::string& node);
  void look_at_buffers(const std::string& node);

  CaptureResult& recording_;
  OpRecorder& recorder_;
  FrontEnd& front_end_;
  StateAnalysis& analysis_;
  Passes passes_;
  std::vector<annotate::Buffer> watched_;
  std::set<std::string> mixed_;  // "node/input" that was warned about: outputs depend on two values of it
};

}  // namespace leapp::capture
