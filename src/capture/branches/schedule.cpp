// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/schedule.h"

#include <algorithm>

namespace leapp::capture {
namespace {

/// Ways that data does not tell from some other.
std::set<std::size_t> find_rivals(const std::vector<std::size_t>& ways, const IsDecided& is_decided) {
  const std::set<std::size_t> all(ways.begin(), ways.end());
  std::set<std::size_t> found;
  for (const std::size_t way : all) {
    const bool rival = std::any_of(all.begin(), all.end(), [&](std::size_t other) {
      return other != way && !is_decided({way, other});
    });
    if (rival) found.insert(way);
  }
  return found;
}

/// How many calls did again in their phase what only the phase decides.
std::size_t confirmations(const Schedule& schedule, const std::vector<std::size_t>& ways,
                          const std::set<std::size_t>& rivals) {
  std::vector<std::set<std::size_t>> seen(schedule.count());
  std::size_t count = 0;
  for (std::size_t call = 0; call < ways.size(); ++call) {
    const bool again = !seen[schedule.phase_of(call)].insert(ways[call]).second;
    if (again && rivals.contains(ways[call])) ++count;
  }
  return count;
}

bool shares(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::size_t way) { return b.contains(way); });
}

}  // namespace

std::vector<std::set<std::size_t>> ways_by_phase(const Schedule& schedule, const std::vector<std::size_t>& ways) {
  std::vector<std::set<std::size_t>> found(schedule.count());
  for (std::size_t call = 0; call < ways.size(); ++call) found[schedule.phase_of(call)].insert(ways[call]);
  return found;
}

std::optional<Schedule> find_schedule(const std::vector<std::size_t>& ways, const IsDecided& is_decided) {
  const std::set<std::size_t> rivals = find_rivals(ways, is_decided);
  for (std::size_t count = 1; 2 * count <= ways.size(); ++count) {
    for (std::size_t warm_up = 0; warm_up < count; ++warm_up) {
      const Schedule schedule{warm_up, count - warm_up};
      if (confirmations(schedule, ways, rivals) < std::max(schedule.period, kConfirmed)) continue;
      const auto found = ways_by_phase(schedule, ways);
      if (std::all_of(found.begin(), found.end(), is_decided)) return schedule;
    }
  }
  return std::nullopt;
}

std::vector<std::set<std::size_t>> group_phases(const std::vector<std::set<std::size_t>>& ways_of,
                                                const IsDecided& is_decided) {
  struct Group {
    std::set<std::size_t> phases;
    std::set<std::size_t> ways;
  };
  std::vector<Group> groups;
  for (std::size_t phase = 0; phase < ways_of.size(); ++phase) {
    Group added{{phase}, ways_of[phase]};
    // What has become of groups may join them with each other.
    for (std::size_t i = 0; i < groups.size();) {
      std::set<std::size_t> both = groups[i].ways;
      both.insert(added.ways.begin(), added.ways.end());
      if (!shares(groups[i].ways, added.ways) || !is_decided(both)) {
        ++i;
        continue;
      }
      added.phases.insert(groups[i].phases.begin(), groups[i].phases.end());
      added.ways = std::move(both);
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
    groups.push_back(std::move(added));
  }
  std::sort(groups.begin(), groups.end(),
            [](const Group& a, const Group& b) { return *a.phases.begin() < *b.phases.begin(); });
  std::vector<std::set<std::size_t>> found;
  for (Group& group : groups) found.push_back(std::move(group.phases));
  return found;
}

}  // namespace leapp::capture
