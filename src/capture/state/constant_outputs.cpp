// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/constant_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "capture/hook/op_info.h"
#include "capture/trace/record.h"
#include "capture/trace/slice.h"

namespace leapp::capture {
namespace {

/// What a value that was set apart depends on.
struct Grounds {
  bool input = false;       ///< an input, or state that has become one
  bool random = false;      ///< an operator that draws
  bool leak = false;        ///< state that the user wants to be a constant, or an error
  bool over_input = false;  ///< something that was written over an input
  bool given = false;       ///< a default argument
};

Grounds grounds_of(const ValuePtr& value, const NodeRecord& node) {
  Grounds found;
  const auto look_at = [&](const ValuePtr& one) {
    found.input = found.input || one->kind == TracedKind::kInput;
    found.over_input = found.over_input || one->over_input;
    found.given = found.given || (one->kind == TracedKind::kConstant && one->cell->given);
  };
  look_at(bare(value));
  for (const TraceOp* op : slice_of({value}).ops) {
    found.random = found.random || op->random;
    for_each_operand(*op, look_at);
    for (const Leak& leak : node.leaks) {
      found.leak = found.leak ||
                   std::any_of(leak.uses.begin(), leak.uses.end(), [&](const auto& use) { return use.first.op == op; });
    }
  }
  return found;
}

bool is_use_of_a_leak(const NodeRecord& node, const TracedValue& value) {
  return std::any_of(node.leaks.begin(), node.leaks.end(), [&](const Leak& leak) {
    return leak.uses.contains({value.op.get(), 0});
  });
}

std::string refusal_text(const NodeRecord& node, const PortRecord& output) {
  std::string text = fmt::format(
      "{}output '{}' of node '{}': the tensor ({}) depends neither on the node's inputs nor on state; a constant "
      "output is announced with static_outputs",
      line_prefix(node.closed_at), output.name, node.name, type_text(output.type));
  if (node.calls == 1) {
    text +=
        ". If it is something that the node remembers, one call cannot show it: run at least 2 passes before "
        "leapp.stop()";
  }
  return text;
}

void settle(NodeRecord& node, std::size_t index, const StartOptions& options, Logger& log) {
  const PortRecord& output = node.outputs[index];
  const Grounds grounds = grounds_of(node.output_values[index], node);
  if (output.state || grounds.input || grounds.random) return;
  if (grounds.leak && options.leaks != Leaks::kPromote) return;  // said already
  if (grounds.over_input) {
    log.warning(
        fmt::format("{}output '{}' of node '{}' depends on no input: what it is computed from was written over one. "
                    "It is exported as a constant",
                    line_prefix(node.closed_at), output.name, node.name));
  } else if (grounds.given) {
    log.info(
        fmt::format("output '{}' of node '{}' is computed from default arguments only: it is exported as a constant",
                    output.name, node.name));
  } else {
    node.refusals.push_back(refusal_text(node, output));
  }
}

}  // namespace

ValuePtr set_apart(const ValuePtr& value, TraceBuilder& builder) {
  return is_constant(*value) ? builder.unary("aten::alias", value) : value;
}

// The recorder makes no such operator: to it they are the value that they are of.
bool is_set_apart(const TracedValue& value) {
  static const OpInfo* const alias = op_info("aten::alias", "");
  return value.kind == TracedKind::kResult && value.op->info == alias;
}

const ValuePtr& bare(const ValuePtr& value) { return is_set_apart(*value) ? value->op->arguments[0].tensor : value; }

void settle_constant_outputs(const std::vector<std::unique_ptr<NodeRecord>>& nodes, const StartOptions& options,
                             Logger& log) {
  for (const auto& node : nodes) {
    const auto& without_model = options.non_traced;
    const bool exported = node->options.export_with && !options.dry_run &&
                          std::find(without_model.begin(), without_model.end(), node->name) == without_model.end();
    for (std::size_t i = 0; i < node->output_values.size(); ++i) {
      if (!is_set_apart(*node->output_values[i])) continue;
      if (exported) settle(*node, i, options, log);
      if (!exported && !grounds_of(node->output_values[i], *node).input) node->left_torch = true;
      // A leak that points to the operator still needs it.
      if (!is_use_of_a_leak(*node, *node->output_values[i])) node->output_values[i] = bare(node->output_values[i]);
    }
  }
}

}  // namespace leapp::capture
