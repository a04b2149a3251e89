// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways that the calls of a node take in turn become paths between which a number decides: the phase of the calls, which
// the model counts itself.
//
//   phase == 0 ──yes──> fills the queue            phase' = (phase + 1) % 4
//              └─no──> takes what is left of it: where(phase == 1, entry 1, where(phase == 2, entry 2, entry 3))
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "capture/path_reads.h"
#include "capture/record.h"
#include "capture/schedule.h"
#include "capture/trace_builder.h"

namespace leapp::capture {

class PhasePaths {
 public:
  /// Nothing: the calls of `node` show no turn.
  static std::unique_ptr<PhasePaths> find(const NodeRecord& node);

  /// In the order of their first calls, with guards that ask for the phase. Until undo(), operands of the node's own
  /// trace are chosen by the phase, too.
  [[nodiscard]] std::vector<NodeRecord*> paths() const;
  void undo();

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  /// Lines that read something kept, and nobody saw them do it in every phase in which they may.
  [[nodiscard]] const std::set<LocationId>& unseen() const { return unseen_; }
  [[nodiscard]] bool is_phase(const ValuePtr& value) const { return value == phase_; }
  /// That of the next call.
  [[nodiscard]] ValuePtr next(TraceBuilder& builder) const;
  /// Whether all calls that come set the state that `uses` read before any of them reads it: from the beginning on, or
  /// after any call that took `path`. `sets`: by path.
  [[nodiscard]] bool is_set_first(const std::map<Use, Geometry>& uses, const std::vector<bool>& sets) const;
  [[nodiscard]] bool is_set_after(std::size_t path, const std::map<Use, Geometry>& uses,
                                  const std::vector<bool>& sets) const;

 private:
  using Phases = std::set<std::size_t>;
  using Kept = std::pair<std::string, std::uint64_t>;  // port, key
  /// What a read stands for in some phases: what each way left for it.
  struct ReadClass {
    Phases phases;
    std::map<std::size_t, Kept> left;  // by way
    Leak::Seen seen;                   // one of them
    ValuePtr value;                    // what that found
  };
  /// What ways between which data decides find at one place of the program.
  struct PointReads {
    std::map<std::size_t, ReadClass> by_phase;
    bool agree = true;  // the same in the same phase
  };

  explicit PhasePaths(std::vector<std::unique_ptr<NodeRecord>> ways);
  bool find_schedule_of(std::size_t calls);
  [[nodiscard]] bool is_decided(const std::set<std::size_t>& ways) const;
  bool ask_for_phases();
  bool split_reads();
  void look_at_reads(std::size_t group);
  void look_at(const Leak& leak, PointReads& reads) const;
  bool split_reads_of(NodeRecord& way, std::size_t group);
  std::optional<std::vector<ReadClass>> classes_of(const Leak& leak, const PathReads& points) const;
  [[nodiscard]] bool covers(const std::vector<ReadClass>& classes, std::size_t group) const;
  void split(const Leak& leak, const std::vector<ReadClass>& classes, std::vector<Leak>& made);
  ValuePtr condition(const Phases& phases);
  [[nodiscard]] Phases phases_that_read(const std::map<Use, Geometry>& uses) const;
  [[nodiscard]] bool is_set_from(std::size_t phase, const Phases& reading, const std::vector<bool>& sets) const;

  std::vector<std::unique_ptr<NodeRecord>> ways_;
  std::vector<std::size_t> way_of_call_;
  std::map<std::uint64_t, std::size_t> way_in_;  // by pass
  std::map<std::uint64_t, std::size_t> call_in_;
  Schedule schedule_;
  ValuePtr phase_;
  TraceBuilder builder_;
  std::map<Phases, ValuePtr> conditions_;
  std::vector<Phases> groups_;
  std::vector<std::size_t> group_of_;   // by way
  std::map<Point, PointReads> points_;  // of the group at hand
  std::set<LocationId> unseen_;
  std::vector<std::pair<Use, ValuePtr>> replaced_;
  std::map<Use, Phases> chosen_;                  // in which phases a choice takes it
  std::map<const TraceOp*, std::size_t> way_of_;  // an operator
};

}  // namespace leapp::capture
