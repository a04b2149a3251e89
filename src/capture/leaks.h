// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What a node reads without having been told: its own state from an earlier call, other nodes' values.
//
// Everything a node reads and did not compute is a constant at first. A constant is a leak when the tensor
// held a value of a node before (its provenance), or when its memory holds something else by the time the node closes,
// or when the place it was taken from (a buffer of a module) holds another tensor by then.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/record.h"
#include "capture/storage_content.h"

namespace leapp::capture {

class Recorder;

/// A tensor that may hold something else when the node closes.
struct Place {
  std::string name;
  bool declared = false;  ///< else: a buffer of a module that was called
  at::Tensor tensor;      ///< when the call began
  at::Tensor at_end;      ///< when it ends
  at::Tensor content;     ///< copy of what `tensor` held
  std::shared_ptr<StorageContent> memory;
  Geometry geometry;
};

/// What a constant of a call made in `pass` stands for; nothing: a constant indeed.
std::optional<LeakSource> source_of(const ConstantCell& cell, std::uint64_t pass);

/// Whether a tensor at `inner` can be read from the elements of one at `outer`.
bool contains(const Geometry& outer, const Geometry& inner);

/// What `place` holds at the end of the call; null: what it held at its beginning.
ValuePtr end_value(const Place& place, Recorder& recorder, ActivationId activation);
ValuePtr end_value(StorageContent& memory, const Geometry& place, Recorder& recorder, ActivationId activation);

/// Looks for leaks in the first call of a node. REQUIRES: the node is about to close; the recorder is locked.
class LeakFinder {
 public:
  LeakFinder(Recorder& recorder, ActivationId activation, std::uint64_t pass, const std::vector<Place>& places)
      : recorder_(recorder), activation_(activation), pass_(pass), places_(places) {}

  /// All that the values, and the next values of what is found, depend on.
  void search(const std::vector<ValuePtr>& values);
  /// Whether a value that depends on constants only depends on something that changes from call to call.
  [[nodiscard]] bool depends_on_state(const ValuePtr& value) const;
  std::vector<Leak> take() { return std::move(leaks_); }

 private:
  void visit(const ValuePtr& value);
  void drain();
  void visit_constant(const Use& use, const ValuePtr& value);
  bool visit_place(const Use& use, const ConstantCell& cell);
  bool visit_memory(const Use& use, const ConstantCell& cell);
  void join_unchanged();
  void search_declared();
  const Place* place_of(const ConstantCell& cell) const;
  Leak& leak_for(const LeakSource& source, const ValuePtr& value);
  Leak& leak_in_memory(const ConstantCell& cell, const Geometry& place, const ValuePtr& update);

  Recorder& recorder_;
  ActivationId activation_;
  std::uint64_t pass_;
  const std::vector<Place>& places_;
  std::vector<Leak> leaks_;
  std::vector<TraceOp*> pending_;
  std::vector<std::pair<Use, std::shared_ptr<ConstantCell>>> unchanged_;  // read from memory that was written elsewhere
  std::map<const TraceOp*, bool> seen_;
};

/// What a value that depends on constants only is.
at::Tensor constant_value(const ValuePtr& value);

}  // namespace leapp::capture
