// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/unseen_branches.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/branches/branch_report.h"

namespace leapp::capture {

std::string way_text(const std::vector<BranchCondition>& guards, std::size_t end) {
  std::string text;
  for (std::size_t i = 0; i < end; ++i) {
    if (guards[i].rows || guards[i].phase) continue;
    text += fmt::format("{}{} at {}", text.empty() ? " (" : ", ", guards[i].taken, location_text(guards[i].location()));
  }
  return text.empty() ? text : text + ")";
}

void report_unseen(const PathJoin& join, std::set<LocationId>& told, Logger& log) {
  std::set<std::pair<const TracedValue*, bool>> seen;
  for (const PathAnswers& way : join.answers()) {
    for (std::size_t i = 0; i < way.guards.size(); ++i) seen.emplace(way.conditions[i].get(), way.guards[i].taken);
  }
  for (std::size_t path = 0; path < join.paths().size(); ++path) {
    const PathAnswers& way = join.answers()[path];
    for (std::size_t i = 0; i < way.guards.size(); ++i) {
      const BranchCondition& guard = way.guards[i];
      if (guard.phase || told.contains(guard.location()) || join.tree().forks(path, i)) continue;
      const bool known = seen.contains({way.conditions[i].get(), !guard.taken});
      // Nobody sees what is asked of a length; only where another way has shown that it decides, it does.
      if (guard.rows && (!known || guard.either)) continue;
      const bool matters = known ? std::any_of(join.choices().begin(), join.choices().end(),
                                               [&](const ChoicePtr& choice) {
                                                 return decides(*choice, way.conditions[i]) &&
                                                        !decides(*choice, way.conditions[i], &way);
                                               })
                                 : depends(way.conditions[i], join.states());
      if (!matters) continue;
      told.insert(guard.location());
      log.warning(fmt::format(
          "{}node '{}' branches on a value here that was always {} on the way that call {} took{}, while on other "
          "ways it was both. It is exported that way; run a pass in which it is {} there to have both sides",
          line_prefix(guard.location()), join.node().name, guard.taken, join.paths()[path]->first_call,
          way_text(way.guards, i), !guard.taken));
    }
  }
}

void report_unproven(const PathJoin& join, std::set<LocationId>& told, Logger& log) {
  for (const auto& [at, what] : join.unproven()) {
    const LocationId line = join.answers()[at.path].guards[at.guard].location();
    if (join.answers()[at.path].guards[at.guard].rows || !told.insert(line).second) continue;
    log.warning(
        fmt::format("{}node '{}' branches on a value here that changed only together with other branches, so that "
                    "nobody can tell which of them {} depends on. It is exported as if it did not depend on this "
                    "one; run a pass that differs from another one in this branch alone",
                    line_prefix(line), join.node().name, what));
  }
}

}  // namespace leapp::capture
