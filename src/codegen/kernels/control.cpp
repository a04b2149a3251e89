// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
//
// Branches and loops: the language's own.
#include <fmt/format.h>

#include <array>

#include "codegen/kernel_table.h"
#include "engine/native/ops/arguments.h"

namespace leapp::codegen {
namespace {

using native::Branch;
using native::Rounds;

void emit_inside(Emitter& e, const native::Block& block) {
  e.indent(1);
  e.emit_block(block);
  e.indent(-1);
}

void emit_branch(Emitter& e, const native::KernelCall& call) {
  e.line(fmt::format("if (*({})) {{", e.pointer(call, &Branch::condition)));
  emit_inside(e, call.blocks[0]);
  e.line("} else {");
  emit_inside(e, call.blocks[1]);
  e.line("}");
}

void emit_loop(Emitter& e, const native::KernelCall& call) {
  const native::ValueId limit = e.operand(call, &Rounds::limit);
  const native::ValueId start = e.operand(call, &Rounds::start);
  const std::string keep_on = e.pointer(call, &Rounds::keep_on);
  const std::string round = e.pointer(call, &Rounds::round);
  e.line(
      fmt::format("*{} = {};", keep_on, start == native::kNoValue ? "true" : fmt::format("*({})", e.pointer(start))));
  const std::string below = limit == native::kNoValue ? "" : fmt::format("*{} < *({}) && ", round, e.pointer(limit));
  e.line(fmt::format("for (*{0} = 0; {1}*{2}; ++*{0}) {{", round, below, keep_on));
  emit_inside(e, call.blocks[0]);
  e.line("}");
}

constexpr std::array kControlKernels = {KernelEntry{"if", emit_branch}, KernelEntry{"loop", emit_loop}};

}  // namespace

Family control_family() { return {kControlKernels, {}}; }

}  // namespace leapp::codegen
