// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// What the ways of a node read of what it kept, by the phase of the call.
//
// One place of the program may read another entry in each phase. Its leak becomes one leak for each of them, between
// which the phase chooses: where(phase == 1, entry 1, where(phase == 2, entry 2, entry 3)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/branches/path_reads.h"
#include "capture/branches/phase_number.h"
#include "capture/branches/schedule.h"
#include "capture/trace/record.h"

namespace leapp::capture {

class PhaseReads {
 public:
  /// `way_in`: the way that the call of a pass took. All outlive this.
  PhaseReads(const Schedule& schedule, const std::map<std::uint64_t, std::size_t>& way_in, PhaseNumber& number)
      : schedule_(schedule), way_in_(way_in), number_(number) {}

  /// `ways`: those between which data decides in `phases`. False: in one phase they read now this, now that. Until
  /// undo(), operands of their traces are chosen by the phase.
  bool split(const std::vector<NodeRecord*>& ways, const Phases& phases);
  void undo();

  /// The phases in which a choice takes an operand. Null: it is not one of a choice.
  [[nodiscard]] const Phases* phases_of(const Use& use) const;
  /// Lines that read something kept, and nobody saw them do it in every phase in which they may.
  [[nodiscard]] const std::set<LocationId>& unseen() const { return unseen_; }

 private:
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
  using Points = std::map<CallPoint, PointReads>;

  [[nodiscard]] Points look_at(const std::vector<NodeRecord*>& ways) const;
  void look_at(const Leak& leak, PointReads& reads) const;
  bool split_way(NodeRecord& way, const Points& found, const Phases& phases);
  static std::optional<std::vector<ReadClass>> classes_of(const Leak& leak, const PathReads& points,
                                                          const Points& found);
  void split_leak(const Leak& leak, const std::vector<ReadClass>& classes, std::vector<Leak>& made);

  const Schedule& schedule_;
  const std::map<std::uint64_t, std::size_t>& way_in_;
  PhaseNumber& number_;
  std::set<LocationId> unseen_;
  std::vector<std::pair<Use, ValuePtr>> replaced_;
  std::map<Use, Phases> chosen_;
};

}  // namespace leapp::capture
