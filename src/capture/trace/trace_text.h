// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// The text form of traces, in which tests of the analysis are written. A trace is a row of calls. A call is a graph
// (graph/text.h), whose results are the outputs of the node, and facts that were seen besides, one a line:
//
//   call policy in pass 1
//   graph policy(%obs: float32[2]) {
//     %ema = constant float32[2] [0.5, 1]
//     %0: float32[2] = aten::mul.Tensor(self=%ema, other=0.9)  @ "policy.py":5
//     %1: float32[2] = aten::add.Tensor(self=%0, other=%obs, alpha=1)  @ "policy.py":5
//     return (action=%1)
//   }
//   constant %ema named "ema" at "policy.py":5 from policy %1 of pass 0
//   keep %1
//
// constant %c        what is known of a constant, each in any order:
//     named "actor.0.weight"     at "file.py":3     given (a default argument)     random     overwritten
//     copied (it is a copy by now)     alone (nobody but the trace has it)
//     from NODE %v of pass N     the tensor held what that call computed          ... part: a piece of it
//     from NODE/PORT of pass N   ... that published output                        ... through "OP": computed from it
//     in @m GEOMETRY [covered GEOMETRY]...     it was read from there, but for what newer values covered
// keep %v [in attribute|variable "NAME"]       it outlives the call; held by that when the session ends
// memory @m = TYPE [ELEMENTS] [gone]           memory with its first content; at the end of the call nobody has it
// wrote @m GEOMETRY        the call wrote there
// took @m GEOMETRY         the call took it as an input
// holds @m GEOMETRY = %v   what lies there when the call ends; later ones over earlier ones
// buffer "NAME" [declared] in @m GEOMETRY [becomes %v | gone]     of a module; else it stays the same tensor
// number %v at "file.py":3     a number was read out of what depends on constants only
// guard %v true at "file.py":3 the program was told this bool[], and may go another way when it is false
// rows %v true at "file.py":3  likewise, by the length of what was found
// state NAME                   the input of that name was declared with state_tensors; an output of that name updates
// it
//
// A GEOMETRY is a type, row-major from the beginning of the memory unless it says otherwise: float32[2,3],
// float32[2] strides [4] offset 1 (in elements). Memory and values are known by name: memory over all calls, values
// within their call. `parameter` stands in the graph. '#' starts a comment.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/session/front_end.h"
#include "capture/state/leaks.h"
#include "capture/trace/literal_trace.h"
#include "capture/trace/record.h"
#include "leapp/base/status.h"

namespace leapp::capture {

/// One call of a trace.
struct TracedCall {
  struct Kept {
    ValuePtr value;
    Holder holder;  ///< kUnknown: nobody has it when the session ends
  };

  CallTrace trace;
  std::vector<PortRecord> inputs;
  std::vector<PortRecord> outputs;
  std::vector<std::pair<std::string, ValuePtr>> values;  ///< by name, in the order of the graph
  std::vector<Kept> kept;
  std::vector<std::pair<std::shared_ptr<LiteralMemory>, MemoryState>> memories;
};

/// The calls of a session in their order.
struct Trace {
  std::vector<TracedCall> calls;
};

/// Any bytes end in a trace or in an error that names the line. Operators must be known to torch and have the arguments
/// that their schema says; those left out have its defaults.
[[nodiscard]] Result<Trace> parse_trace(std::string_view text);

/// parse_trace(print_trace(trace)) prints the same.
[[nodiscard]] std::string print_trace(const Trace& trace);

}  // namespace leapp::capture
