// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a pipeline remembers from pass to pass, found out from its traces.
//
//   recorder ── CallTrace, before a call closes ──> first_call / look_at   (leaks.h)
//            ── Survivors, after it has closed ──> compare                 (reentry.h)
//   stop()   ── all NodeRecords, KeptTensors   ──> finish                  (promote.h, constant_outputs.h,
//   unread_state.h)
//
// A function of what was recorded: it asks nobody but the ConstantEvaluator and those who know the contents of memory,
// looks at no tensor and takes no lock. Its tests are written in the text form of traces (trace_text.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "capture/branches/paths.h"
#include "capture/branches/unguarded_variants.h"
#include "capture/state/leaks.h"
#include "capture/state/one_time_init.h"
#include "capture/state/unread_state.h"
#include "capture/trace/evaluate.h"
#include "capture/trace/record.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// A call after the first: what it computed, before its node closes.
struct LaterCall {
  std::size_t call = 0;
  std::uint64_t pass = 0;
  std::vector<ValuePtr> outputs;
  std::vector<ValuePtr> updates;  ///< of the leaks known so far; null: not known
  std::vector<ContentPtr> reads;  ///< what these held before the call; null: not known
  std::vector<BranchCondition> guards;
};

/// How a later call compares with the first.
struct Compared {
  bool keeps = false;    ///< its inputs and outputs are worth keeping
  bool differs = false;  ///< it gives something else
  bool leaves = false;   ///< it leaves something else
};

/// A call that took a way, after it has closed.
struct WayCall {
  const CallTrace& call;
  const LaterCall& later;  ///< as the way sees it; of one that is not new
  const Survivors& survivors;
  const Compared& compared;  ///< with the path
};

/// What a session knows when it ends, besides the nodes.
struct SessionEnd {
  std::vector<KeptTensor> kept;
  FindHolders find_holders;
  std::vector<ChangedValues> changed;
};

/// The buffer that `leak` is of, or null.
const BufferTrace* buffer_of(const Leak& leak, const std::vector<BufferTrace>& buffers);

class StateAnalysis {
 public:
  StateAnalysis(ConstantEvaluator& evaluator, Logger& log) : evaluator_(evaluator), log_(log) {}

  /// Finds the leaks of a node, or of a path, in its first call. REQUIRES: `call` has not closed;
  /// record.output_values are its outputs.
  void first_call(NodeRecord& record, const CallTrace& call, TraceBuilder& builder);

  /// What a later call computed. REQUIRES: `call` has not closed.
  [[nodiscard]] static LaterCall look_at(const NodeRecord& record, const CallTrace& call, TraceBuilder& builder);

  /// What memory that paths write to held before a call that took one of them. REQUIRES: it has not closed.
  static void look_at_memory(NodeRecord& node, const NodeRecord* taken, std::size_t call);

  /// Compares a later call with the first: adds leaks and divergences. `keeps_sample`: the call is among those whose
  /// sample is kept anyway.
  Compared compare(NodeRecord& record, const LaterCall& later, const Survivors& survivors, bool keeps_sample);

  /// The way (unguarded_variants.h) that a call took besides its path; looks for leaks where it is new. `ends`: what
  /// lies in memory that the call wrote to, for calls without guards. REQUIRES: `call` has not closed.
  UnguardedVariant begin_way(const TakenPath& taken, CallTrace& call, TraceBuilder& builder,
                             const std::function<std::vector<MemoryEnd>()>& ends);
  /// After it has closed, and was compared with its path.
  void compare_way(NodeRecord& path, const UnguardedVariant& taken, const WayCall& call);

  /// Makes ports of leaks, settles what constant outputs are, and warns about what nobody could see.
  void finish(const std::vector<std::unique_ptr<NodeRecord>>& nodes, const StartOptions& options,
              const SessionEnd& end);

 private:
  OneTimeInit prepared_;
  ConstantEvaluator& evaluator_;
  Logger& log_;
};

}  // namespace leapp::capture
