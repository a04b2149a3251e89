// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "capture/recorder/op_recorder.h"
#include "capture/recorder/tensor_content.h"
#include "capture/session/front_end.h"
#include "capture/session/node_call.h"
#include "capture/state/state_analysis.h"
#include "capture/trace/record.h"

namespace leapp::capture {

/// Questions that closing a call leaves open, as nobody may be asked with the recorder's lock held.
struct OpenQuestions {
  /// Tensors, with the position of the leak, or the end, in its node.
  using Holders = std::vector<std::pair<std::size_t, WeakTensor>>;
  std::size_t path = 0;  ///< that has the leaks: its first call
  std::size_t call = 0;
  Holders next;      ///< whose content is the next value of the leak
  Holders nameless;  ///< whose name is that of the leak
  Holders ends;      ///< whose name is that of the memory that the path wrote to
};

/// Asks for the tensors and names that closing a call of `node` has left open. REQUIRES: no lock is held.
void answer(const OpenQuestions& questions, NodeRecord& node, OpRecorder& recorder, FrontEnd& front_end);

/// Turns calls that end into the records of their nodes: the first becomes the record, later ones are compared with it.
/// REQUIRES: the recorder is locked.
class CallRecorder {
 public:
  CallRecorder(CaptureResult& recording, OpRecorder& recorder, StateAnalysis& analysis, std::uint64_t pass)
      : recording_(recording), recorder_(recorder), analysis_(analysis), pass_(pass) {}

  /// Closes `call`. `record`: of its node; null: this is the first call.
  OpenQuestions close(const NodeCall& call, const CallOutputs& outputs, NodeRecord* record,
                      const OutputOptions& options, LocationId where);

 private:
  NodeRecord& begin_record(const NodeCall& call, const CallOutputs& outputs, const CallTrace& trace);
  [[nodiscard]] bool keeps_sample(const NodeRecord& record) const;
  void keep_sample(NodeRecord& record, const NodeCall& call, const PortTensors& outputs);
  OpenQuestions::Holders keep_next_values(NodeRecord& record, const NodeCall& call, std::size_t number);
  void publish(const NodeRecord& node, const CallOutputs& outputs);
  OpenQuestions::Holders nameless(const NodeRecord& record);
  OpenQuestions::Holders nameless_ends(const NodeRecord& record);

  CaptureResult& recording_;
  OpRecorder& recorder_;
  StateAnalysis& analysis_;
  std::uint64_t pass_;
};

}  // namespace leapp::capture
