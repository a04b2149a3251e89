// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways that the calls of a node take in turn become paths between which a number decides: the phase of the calls, which
// the model counts itself.
//
//   phase == 0 ──yes──> fills the queue            phase' = (phase + 1) % 4
//              └─no──> takes what is left of it (phase_reads.h)
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "capture/branches/phase_number.h"
#include "capture/branches/phase_reads.h"
#include "capture/branches/schedule.h"
#include "capture/trace/record.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {

class PhasePaths {
 public:
  /// Nothing: the calls of `node` show no turn.
  static std::unique_ptr<PhasePaths> find(const NodeRecord& node);

  /// In the order of their first calls, with guards that ask for the phase. Until undo(), operands of the node's own
  /// trace are chosen by the phase, too.
  [[nodiscard]] std::vector<NodeRecord*> paths() const;
  void undo() { reads_.undo(); }

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  /// Lines that read something kept, and nobody saw them do it in every phase in which they may.
  [[nodiscard]] const std::set<LocationId>& unseen() const { return reads_.unseen(); }
  [[nodiscard]] bool is_phase(const ValuePtr& value) const { return value == number_.value(); }
  /// That of the next call.
  [[nodiscard]] ValuePtr next(TraceBuilder& builder) const { return number_.next(schedule_, builder); }
  /// Whether all calls that come set the state that `uses` read before any of them reads it: from the beginning on, or
  /// after any call that took `path`. `sets`: by path.
  [[nodiscard]] bool is_set_first(const std::map<Use, Geometry>& uses, const std::vector<bool>& sets) const;
  [[nodiscard]] bool is_set_after(std::size_t path, const std::map<Use, Geometry>& uses,
                                  const std::vector<bool>& sets) const;

 private:
  explicit PhasePaths(std::vector<std::unique_ptr<NodeRecord>> ways) : ways_(std::move(ways)) {}
  bool find_schedule_of(std::size_t calls);
  [[nodiscard]] bool is_decided(const std::set<std::size_t>& ways) const;
  bool ask_for_phases();
  bool split_reads();
  [[nodiscard]] Phases phases_that_read(const std::map<Use, Geometry>& uses) const;
  [[nodiscard]] bool is_set_from(std::size_t phase, const Phases& reading, const std::vector<bool>& sets) const;

  std::vector<std::unique_ptr<NodeRecord>> ways_;
  std::vector<std::size_t> way_of_call_;
  std::map<std::uint64_t, std::size_t> way_in_;  // by pass
  Schedule schedule_;
  PhaseNumber number_;
  PhaseReads reads_{schedule_, way_in_, number_};
  std::vector<Phases> groups_;
  std::vector<std::size_t> group_of_;             // by way
  std::map<const TraceOp*, std::size_t> way_of_;  // an operator
};

}  // namespace leapp::capture
