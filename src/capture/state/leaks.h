// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a node reads without having been told: its own state from an earlier call, other nodes' values.
//
// Everything a node reads and did not compute is a constant at first. A constant is a leak when the tensor held a value
// of a node before (its provenance), or when its memory holds something else by the time the node closes, or when the
// place it was taken from (a buffer of a module) holds another tensor by then.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/recorder/memory.h"
#include "capture/trace/evaluate.h"
#include "capture/trace/record.h"

namespace leapp::capture {

/// A buffer that a module has, or that was registered, as one call saw it. It may hold something else at the end.
struct BufferTrace {
  std::string name;
  bool declared = false;  ///< else: a buffer of a module that was called
  std::shared_ptr<Memory> memory;
  Geometry geometry;
  ContentPtr content;    ///< what it held when the call began
  bool in_place = true;  ///< at the end it is the same tensor
  /// Else: the value of the one that has taken its place; empty: there is none, or one of another type. Asked for only
  /// where it matters, as it may add to the trace.
  std::function<ValuePtr()> successor;
};

/// One call of a node, complete but not closed.
struct CallTrace {
  std::string node;
  std::size_t call = 0;  ///< of the node
  std::uint64_t pass = 0;
  ActivationId activation = 0;
  std::vector<ValuePtr> outputs;        ///< set apart (constant_outputs.h)
  std::vector<BranchCondition> guards;  ///< with their values
  std::vector<BufferTrace> buffers;
  std::vector<MemoryEnd> ends;  ///< known only where there are guards
  /// Results of operators that read a number out of constants, and where.
  std::vector<std::pair<ValuePtr, LocationId>> numbers;
  std::uint64_t signature = 0;  ///< of the operators that ran (unguarded_variants.h)
  bool is_variant = false;      ///< it is looked at as the first of a way, whose state others may have left
};

/// Of what a constant stands for, which is of `type` and has the name and the line of `read`.
[[nodiscard]] Leak leak_of(const LeakSource& source, const ValueType& type, const ConstantCell& read);

/// For messages: its name in quotes, or where it is read when nobody gave it one.
std::string title(const Leak& leak);

/// What a constant of a call made in `pass` stands for; nothing: a constant indeed.
std::optional<LeakSource> source_of(const ConstantCell& cell, std::uint64_t pass);

/// Whether a tensor at `inner` can be read from the elements of one at `outer`.
bool contains(const Geometry& outer, const Geometry& inner);

/// What `buffer` holds at the end of the call; null: what it held at its beginning.
ValuePtr end_value(const BufferTrace& buffer, ActivationId activation, TraceBuilder& builder);
ValuePtr end_value(Memory& memory, const Geometry& place, ActivationId activation, TraceBuilder& builder);

/// Looks for leaks in the first call of a node. REQUIRES: the node is about to close.
class LeakFinder {
 public:
  LeakFinder(const CallTrace& call, TraceBuilder& builder, ConstantEvaluator& evaluator)
      : call_(call), builder_(builder), evaluator_(evaluator) {}

  /// All that the values, and the next values of what is found, depend on.
  void search(const std::vector<ValuePtr>& values);
  /// After that: all that decides which way the program goes.
  void search(const std::vector<BranchCondition>& guards);
  /// Whether a value that depends on constants only depends on something that changes from call to call.
  [[nodiscard]] bool depends_on_state(const ValuePtr& value) const;
  /// Whether any operator that was met draws random numbers.
  [[nodiscard]] bool any_random() const { return random_; }
  std::vector<Leak> take() { return std::move(leaks_); }

 private:
  void visit(const ValuePtr& value);
  void drain();
  void visit_constant(const Use& use, const ValuePtr& value);
  bool visit_buffer(const Use& use, const ConstantCell& cell);
  bool visit_memory(const Use& use, const ConstantCell& cell);
  bool is_written_in_place(const ConstantCell& cell) const;
  void join_unchanged();
  void search_declared();
  const BufferTrace* buffer_of(const ConstantCell& cell) const;
  Leak& leak_for(const LeakSource& source, const ValuePtr& value);
  Leak& leak_in_memory(const ConstantCell& cell, const Geometry& place, const ValuePtr& update);

  const CallTrace& call_;
  TraceBuilder& builder_;
  ConstantEvaluator& evaluator_;
  std::vector<Leak> leaks_;
  std::vector<TraceOp*> pending_;
  std::vector<std::pair<Use, std::shared_ptr<ConstantCell>>> unchanged_;  // read from memory that was written elsewhere
  std::map<const TraceOp*, bool> seen_;
  bool random_ = false;
};

}  // namespace leapp::capture
