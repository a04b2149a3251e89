// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/needed_leaks.h"

#include <algorithm>
#include <set>
#include <utility>

#include "capture/trace/slice.h"

namespace leapp::capture {

void drop_unneeded_leaks(NodeRecord& node) {
  std::set<const TraceOp*> needed;
  const auto need = [&](const std::vector<ValuePtr>& values) {
    for (const TraceOp* op : slice_of(values).ops) needed.insert(op);
  };
  need(node.output_values);
  std::set<const Leak*> kept;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Leak& leak : node.leaks) {
      const bool used = leak.declared || std::any_of(leak.uses.begin(), leak.uses.end(),
                                                     [&](const auto& use) { return needed.contains(use.first.op); });
      if (!used || !kept.insert(&leak).second) continue;
      if (leak.update) need({leak.update});
      const auto survivor = node.survivors.find(leak.source.key);
      if (!leak.update && survivor != node.survivors.end()) need({survivor->second});
      changed = true;
    }
  }
  std::vector<Leak> leaks;
  for (Leak& leak : node.leaks) {
    if (kept.contains(&leak)) leaks.push_back(std::move(leak));
  }
  node.leaks = std::move(leaks);
}

}  // namespace leapp::capture
