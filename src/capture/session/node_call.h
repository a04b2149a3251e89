// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/recorder/op_recorder.h"
#include "capture/session/call_buffers.h"
#include "capture/state/leaks.h"
#include "capture/trace/record.h"
#include "leapp/base/status.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// What a call gives. `constant`: of each, whether it is a static output.
struct CallOutputs {
  PortTensors ports;
  std::vector<bool> constant;
};

/// One call of a node, from its first input to its outputs. Guarded by the recorder's lock.
class NodeCall {
 public:
  NodeCall(const std::string& node, OpRecorder& recorder)
      : node_(node), recorder_(&recorder), buffers_(node, recorder) {}

  [[nodiscard]] const std::string& node() const { return node_; }
  [[nodiscard]] ActivationId activation() const { return activation_; }
  [[nodiscard]] const std::vector<PortRecord>& inputs() const { return inputs_; }
  /// Copies, in the order of inputs().
  [[nodiscard]] const std::vector<at::Tensor>& input_values() const { return values_; }
  [[nodiscard]] const PortTensors& updates() const { return updates_; }
  [[nodiscard]] CallBuffers& buffers() { return buffers_; }
  [[nodiscard]] const CallBuffers& buffers() const { return buffers_; }

  void open() {
    activation_ = recorder_->open(node_);
    begun_ = recorder_->builder().signature();
  }

  // node_call_inputs.cpp. What goes in: inputs and declared state, announced once or again.
  Status check_inputs(const PortTensors& tensors, bool state, const NodeRecord* known) const;
  /// A value of another open node would cut that node in two without a word.
  Status check_source(const std::string& port, const at::Tensor& tensor) const;
  void bind_input(PortRecord port, const at::Tensor& tensor, const at::Tensor& alias);

  // node_call_state.cpp. State that the user declares.
  /// Next values of declared states. On failure nothing has changed.
  Status update_state(const NamedTensors& tensors);
  /// Whether a buffer may have this name.
  Status check_buffer(const std::string& name, const at::Tensor& tensor) const;

  // node_call_outputs.cpp. What comes out, and how it is matched with the first call: by the names of the ports.
  Status check_outputs(const PortTensors& tensors, const PortTensors& static_outputs, const NodeRecord* known) const;
  /// `outputs` are all of the call's. `warned`: "node/input" of those that were warned about.
  Status check_mixed_inputs(const PortTensors& outputs, const NodeRecord* known, std::set<std::string>& warned,
                            Logger& log) const;
  /// What was announced and the updates of states.
  [[nodiscard]] PortTensors all_outputs(const PortTensors& tensors, const PortTensors& static_outputs) const;
  /// The same in the order of the first call.
  [[nodiscard]] CallOutputs outputs(const PortTensors& tensors, const PortTensors& static_outputs,
                                    const NodeRecord* known);
  /// Takes the guards of the call from the recorder.
  [[nodiscard]] CallTrace trace(const CallOutputs& outputs, std::uint64_t pass) const;

 private:
  Status check_update(const std::string& name, const at::Tensor& tensor) const;
  [[nodiscard]] bool is_same_input(std::size_t at, const PortRecord& port, const at::Tensor& tensor) const;

  std::string node_;
  OpRecorder* recorder_;
  ActivationId activation_ = 0;
  std::uint64_t begun_ = 0;  // of TraceBuilder::signature
  std::vector<PortRecord> inputs_;
  std::vector<at::Tensor> values_;                          // of the inputs: copies
  std::vector<ValuePtr> traced_;                            // of the inputs
  std::vector<std::pair<std::string, ValuePtr>> replaced_;  // inputs as they were before they were announced again
  CallBuffers buffers_;
  PortTensors updates_;  // next values of declared state
};

/// Where `port` of an input comes from, as far as `call` and its recorder know.
ValuePtr source_value(const NodeCall& call, OpRecorder& recorder, const at::Tensor& tensor);

}  // namespace leapp::capture
