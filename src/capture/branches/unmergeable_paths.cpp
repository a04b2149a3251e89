// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/branches/unmergeable_paths.h"

#include <c10/util/accumulate.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "capture/branches/branch_report.h"
#include "capture/state/leaks.h"

namespace leapp::capture {
namespace {

/// Memory as a whole, without the shape that the program has given it.
bool is_flat(const TracedValue& value, const Leak& leak) {
  return leak.in_place && value.type.dtype == leak.type.dtype &&
         c10::multiply_integers(value.type.sizes) == c10::multiply_integers(leak.type.sizes);
}

}  // namespace

std::optional<UnmergeablePath> find_baked(const std::vector<StateSlot>& slots, std::size_t paths, Leaks policy) {
  const bool constant = policy == Leaks::kConstant && std::any_of(slots.begin(), slots.end(), [](const auto& slot) {
                          return slot.own && !slot.leak.declared;
                        });
  if (!constant) return std::nullopt;
  return UnmergeablePath{paths - 1, "what the node keeps is exported as a constant (leaks='constant')"};
}

std::optional<UnmergeablePath> find_undecided(const DecisionTree& tree, const std::vector<StateSlot>& slots,
                                              const std::vector<NodeRecord*>& paths) {
  const std::map<Use, std::string> states = operands_of(slots);
  std::optional<UnmergeablePath> odd;
  tree.visit([&](std::size_t path, std::size_t guard, std::size_t other) {
    if (odd || depends(paths[path]->guards[guard].value, states)) return;
    odd = UnmergeablePath{other, fmt::format("what decided{} depends neither on the node's inputs nor on state",
                                             at_line(paths[path]->guards[guard].location()))};
  });
  return odd;
}

std::optional<UnmergeablePath> find_other_types(const std::vector<StateSlot>& slots) {
  for (const StateSlot& slot : slots) {
    for (std::size_t i = 0; i < slot.next.size(); ++i) {
      const ValuePtr& value = slot.next[i];
      if (slot.own && value && value->type != slot.leak.type && !is_flat(*value, slot.leak)) {
        return UnmergeablePath{i, fmt::format("it leaves {} in {}, which is {}", type_text(value->type),
                                              title(slot.leak), type_text(slot.leak.type))};
      }
    }
  }
  return std::nullopt;
}

}  // namespace leapp::capture
