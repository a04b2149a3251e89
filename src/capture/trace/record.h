// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a session leaves for the exporter: nodes, their ports and samples, and what was found out about their state.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "capture/branches/branch_conditions.h"
#include "capture/hook/source_location.h"
#include "capture/recorder/geometry.h"
#include "capture/session/notes.h"
#include "capture/trace/trace.h"
#include "leapp/capture.h"

namespace leapp::capture {

/// The output an input takes its value from.
struct Source {
  std::string node;
  std::string port;
  bool feedback = false;  ///< produced in an earlier pass
};

/// One port of one call.
struct PortTensor {
  std::string name;
  at::Tensor tensor;
  Semantics semantics = {};
};
using PortTensors = std::vector<PortTensor>;

struct PortRecord {
  std::string name;
  ValueType type;
  std::optional<Source> source;  ///< inputs only
  Semantics semantics = {};
  bool state = false;  ///< an input declared by state_tensors; an output that is its next value, or that of found state
  std::optional<c10::Device> device = {};  ///< where its tensor was in the first call
};

/// One call's inputs and outputs, copied. An output that is not known is null.
struct Sample {
  std::size_t call = 0;  ///< of the node
  std::vector<ContentPtr> inputs;
  std::vector<ContentPtr> outputs;
};

/// One tensor operand of an operator, counted over all of them.
struct Use {
  TraceOp* op = nullptr;
  std::size_t operand = 0;
  auto operator<=>(const Use&) const = default;
};

/// The value that a leak is.
struct LeakSource {
  std::string node;
  std::string port;         ///< a published output; empty: a value that the node kept to itself
  std::uint64_t key = 0;    ///< which one
  std::uint64_t delay = 0;  ///< passes between it was made and it is read
  bool operator==(const LeakSource&) const = default;
};

/// What a node reads without having been told. Becomes an input of the node.
struct Leak {
  LeakSource source;
  std::shared_ptr<Memory> memory;  ///< state kept in place: where. Null otherwise
  Geometry place;                  ///< of the port in that memory
  bool in_place = false;           ///< it stays in that memory; else the first call found it there
  ValueType type;
  std::string name;              ///< of the attribute or variable; empty: not known
  int asked = 0;                 ///< how often nobody knew its name
  bool declared = false;         ///< by module or register_buffer
  ValuePtr update;               ///< its next value, where it is known to be one of the first call. Else see `source`
  LocationId location = 0;       ///< of the first read
  std::map<Use, Geometry> uses;  ///< in the first call; with `memory`, where in it
  std::map<std::size_t, ContentPtr> read;  ///< by call: what it read; of those whose sample is kept
  std::map<std::size_t, ContentPtr> next;  ///< likewise: what it left for the next

  struct Seen {
    std::size_t call = 0;
    std::uint64_t pass = 0;
    LeakSource source;
    ValuePtr fresh = nullptr;         ///< a constant that no node computed; then there is no source
    std::weak_ptr<Memory> home = {};  ///< of `source`: where it lay
    bool elsewhere = false;           ///< of state that is kept in place: another tensor has taken its place
  };
  std::vector<Seen> seen;  ///< what calls found there
  /// Of a way (unguarded_variants.h): by port and key, what was found there, each once.
  std::map<std::pair<std::string, std::uint64_t>, ValuePtr> values;
};

/// Something that was not the same in a later call of a node as in the first, and that an output depends on.
struct Divergence {
  enum class Kind : std::uint8_t {
    kValue,     ///< another value is used
    kBranch,    ///< another operator
    kNumber,    ///< another Python number
    kConstant,  ///< another content of a tensor
    kEarlier,   ///< what an earlier call computed, in place of what the first one did
  };
  Use use;                  ///< a constant that differs; op null: anything else
  std::size_t call = 0;     ///< the later call
  std::string text;         ///< what, where, and both values
  std::uint64_t order = 0;  ///< of the operator in the first call
  Kind kind = Kind::kValue;
  LocationId location = 0;  ///< in the first call
  LocationId other = 0;     ///< kBranch: in the later one
  std::string name;         ///< kNumber: the argument; kConstant: what the program calls the tensor, if known
  ValuePtr now;             ///< kConstant: what the later call read
  std::string step;         ///< kConstant: it grows by so much from each call to the next; empty: it does not
  bool of_guard = false;    ///< no output depends on it, only which way the program goes
};

/// What a call left in memory that was there before it.
struct MemoryEnd {
  std::shared_ptr<Memory> memory;
  Geometry place;
  ValuePtr value;
  std::string name = {};                        ///< of the attribute or variable; empty: not known
  std::map<std::size_t, ContentPtr> read = {};  ///< by call: what lay there before it
};

/// How often a guard of a node went which way.
struct ConditionCount {
  const OpInfo* op = nullptr;
  bool rows = false;   ///< about the number of rows
  bool asked = false;  ///< by the program; else nobody is known to have
  std::size_t yes = 0;
  std::size_t no = 0;
};

/// A line that decides, and for how many times in one call: the rounds of a loop.
struct ConditionPlace {
  LocationId location = 0;
  std::size_t round = 0;
  bool unasked = false;  ///< whether there are rows, which the program may not have asked
  auto operator<=>(const ConditionPlace&) const = default;
};

struct NodeRecord;

/// Calls of a path that ran other operators than its first, and no guard told so (unguarded_variants.h).
struct VariantLog {
  std::map<std::uint64_t, std::size_t> by_signature;         ///< of calls: which of `variants`
  std::vector<std::unique_ptr<NodeRecord>> variants;         ///< the first is a copy of the path's own; none: no other
  std::vector<std::pair<std::size_t, std::uint64_t>> calls;  ///< of a path without guards, and their passes
  bool diverged = false;                                     ///< the variants do not give the same
  bool given_up = false;                                     ///< there were too many
};

/// One annotated stage, over all its calls; or those of its calls that took one path through the program.
struct NodeRecord {
  std::string name;
  std::vector<PortRecord> inputs;
  std::vector<PortRecord> outputs;
  std::vector<ValuePtr> output_values;  ///< what the first call computed
  std::vector<Sample> samples;
  OutputOptions options;
  std::size_t calls = 0;                ///< completed
  bool left_torch = false;              ///< without a model: an output depends on no input, as far as was seen
  std::uint64_t first_pass = 0;         ///< of the session, in which the first call was
  std::set<std::uint64_t> later_paths;  ///< the passes in which other paths were taken first

  Survivors survivors;                  ///< of the first call
  std::vector<Leak> leaks;              ///< until stop() makes ports of them
  std::vector<Divergence> divergences;  ///< what was not the same in every call
  std::vector<std::string> refusals;    ///< what makes compile_graph fail: leaks that the user wants to be errors, ...
  LocationId closed_at = 0;             ///< where the first call announced its outputs

  // Of nodes that have guards, until stop() makes one of the paths.
  std::vector<BranchCondition> guards;                       ///< of the first call
  std::vector<MemoryEnd> ends;                               ///< likewise
  std::size_t first_call = 0;                                ///< of the path
  std::vector<std::pair<std::size_t, std::uint64_t>> taken;  ///< calls that took it, and their passes
  std::set<std::uint64_t> made_once;                ///< survivors that a later call of the path did not make again
  std::vector<Divergence> unsettled;                ///< differences, if there are no other paths
  std::vector<std::unique_ptr<NodeRecord>> others;  ///< paths that later calls took
  std::map<std::uint64_t, std::size_t> not_kept;    ///< how often other paths, known by hash, were taken
  std::map<ConditionPlace, ConditionCount> guard_counts;  ///< over all paths
  VariantLog variants;
  bool is_variant = false;  ///< one of such
  bool left_graph = false;  ///< the program was given numbers or lengths that it may decide with, without being seen
  std::vector<ValuePtr> joined;  ///< of all paths: leaks and differences point to their operators
};

/// All that a session has recorded; complete when it has ended.
struct CaptureResult {
  /// What the program said of histories: node, state → the input, or nothing when it is none.
  using Resets = std::map<std::pair<std::string, std::string>, std::string>;

  std::string name;
  std::string folder;
  StartOptions options;
  std::shared_ptr<Logger> log;  ///< an operator that is under way on another thread may warn after the session
  std::vector<std::unique_ptr<NodeRecord>> nodes;  ///< with a completed call, in the order of their first completion
  std::vector<Note> notes;                         ///< what was warned about while nodes ran
  /// The passes in which the calls of a node began, in their order; also of nodes that never finished a call.
  std::map<std::string, std::vector<std::uint64_t>> call_passes;
  Resets resets;
  StatusCode lost = StatusCode::kOk;  ///< why it is not complete (capture_state.h): then it is no model of the program
};

}  // namespace leapp::capture
