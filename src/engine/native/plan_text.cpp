// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.h"
#include "engine/native/plan.h"

namespace leapp::native {
namespace {

std::string place_text(const PlannedAddress& place) {
  switch (place.space) {
    case MemorySpace::kArena:
      return fmt::format("arena+{}", place.offset);
    case MemorySpace::kConstant:
      return fmt::format("weights+{}", place.offset);
    case MemorySpace::kInput:
      return fmt::format("input {}+{}", place.port, place.offset);
    case MemorySpace::kOutput:
      return fmt::format("output {}+{}", place.port, place.offset);
  }
  return "";
}

const char* access_text(Access access) {
  switch (access) {
    case Access::kRead:
      return "read";
    case Access::kWrite:
      return "write";
    case Access::kUpdate:
      return "update";
    case Access::kScratch:
      return "scratch";
  }
  return "";
}

void print_block(const Plan& plan, const Block& block, const std::string& indent, std::string& text) {
  for (const KernelCall& call : block) {
    text += fmt::format("{}{}", indent, call.kernel->name);
    for (const Operand& operand : call.operands) {
      const PlanValue& value = plan.values[operand.value];
      text += fmt::format(" {} {}@{}", access_text(operand.access), type_text(value.dtype, value.shape),
                          place_text(value.place));
    }
    text += fmt::format("  # {}\n", call.node);
    for (const Block& inner : call.blocks) {
      text += indent + "{\n";
      print_block(plan, inner, indent + "  ", text);
      text += indent + "}\n";
    }
  }
}

}  // namespace

std::string print_plan(const Plan& plan) {
  std::string text = fmt::format("arena {} bytes, weights {} bytes\n", plan.arena_bytes, plan.constant_bytes);
  for (const PlanValue& value : plan.values) {
    if (!value.input && !value.output) continue;
    text += fmt::format("{} {} {}\n", place_text(value.place), type_text(value.dtype, value.shape), quote(value.name));
  }
  print_block(plan, plan.calls, "", text);
  return text;
}

}  // namespace leapp::native
