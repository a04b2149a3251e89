// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules that prepare themselves in their first call: weights that are rescaled once, a table that is filled once.
#pragma once

#include <map>

#include "capture/trace/record.h"

namespace leapp::capture {

/// What later calls do to the memory that the first one wrote to.
class OneTimeInit {
 public:
  /// `update` is what a later call leaves in the memory of `leak`; null: it did not write there.
  void look_at(const Leak& leak, const ValuePtr& update);

  /// Takes away the leaks of memory that the first call wrote to, from constants alone, and that later calls only read:
  /// what the first call computed from constants is a constant, and no state.
  /// REQUIRES: all calls have been recorded, and nothing is promoted yet.
  void forget_leaks_of(NodeRecord& node) const;

 private:
  struct Later {
    bool wrote = false;
    bool left_alone = false;
  };

  [[nodiscard]] bool is_written_once(const Leak& leak) const;
  [[nodiscard]] bool was_prepared(const Leak& leak, const std::vector<Leak>& all) const;

  std::map<const Memory*, Later> later_;
};

}  // namespace leapp::capture
