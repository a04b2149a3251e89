// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/trace/trace_values.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "capture/hook/attributes.h"
#include "capture/hook/op_info.h"

namespace leapp::capture {
namespace {

class ValueMaker {
 public:
  ValueMaker(TracedCall& call, TraceBuilder& builder) : call_(call), builder_(builder) {}

  Status make(const graph::Graph& graph) {
    for (const auto& input : graph.inputs()) {
      const ValueType type = to_value_type(input->type());
      const ValuePtr value = make_value(TracedKind::kInput, type, {.port = input->name()});
      value->owner = call_.trace.activation;
      add(input.get(), value);
      call_.inputs.push_back({.name = input->name(), .type = type, .source = std::nullopt});
    }
    for (const auto& constant : graph.constants()) {
      auto cell = std::make_shared<LiteralCell>();
      cell->constant = constant->constant();
      cell->parameter = cell->constant.parameter;
      add(constant.get(), make_constant(std::move(cell)));
    }
    for (const auto& node : graph.nodes()) LEAPP_RETURN_IF_ERROR(make(*node));
    for (const graph::Output& output : graph.outputs()) {
      const ValuePtr& value = made_.at(output.value);
      call_.outputs.push_back({.name = output.name, .type = value->type, .source = std::nullopt});
      call_.trace.outputs.push_back(value);
    }
    return {};
  }

 private:
  void add(const graph::Value* value, const ValuePtr& made) {
    made_[value] = made;
    call_.values.emplace_back(value->name(), made);
  }

  Status make(const graph::Node& node) {
    const OpInfo* info = find_op_info(node.op(), node.overload());
    if (!info) return invalid_argument(fmt::format("{}: torch has no such operator", node.qualified_name()));
    std::vector<TraceArgument> arguments;
    for (const c10::Argument& wanted : info->schema().arguments()) {
      const graph::Attribute* given = node.find(wanted.name());
      if (!given && !wanted.default_value()) {
        return invalid_argument(fmt::format("{}: the argument '{}' is missing", node.qualified_name(), wanted.name()));
      }
      arguments.push_back(given ? argument(*given) : TraceArgument::of(*wanted.default_value()));
    }
    for (const graph::Argument& given : node.arguments()) {
      if (info->argument(given.name) >= 0) continue;
      return invalid_argument(fmt::format("{}: it has no argument '{}'", node.qualified_name(), given.name));
    }
    const graph::SourceLocation& at = node.location();
    builder_.set_current(info, at.file.empty() ? 0 : intern_location(at.file, at.line, at.function));
    const auto op = builder_.make(info, std::move(arguments), node.is_random());
    for (std::size_t i = 0; i < node.results().size(); ++i)
      add(node.result(i), builder_.result(op, i, to_value_type(node.result(i)->type())));
    return {};
  }

  TraceArgument argument(const graph::Attribute& given) {
    if (const auto* value = std::get_if<graph::Value*>(&given)) return TraceArgument::of(made_.at(*value));
    if (const auto* list = std::get_if<std::vector<graph::Value*>>(&given)) {
      std::vector<ValuePtr> values;
      for (const graph::Value* value : *list) values.push_back(value ? made_.at(value) : nullptr);
      return TraceArgument::of(std::move(values));
    }
    return TraceArgument::of(to_ivalue(given));
  }

  TracedCall& call_;
  TraceBuilder& builder_;
  std::map<const graph::Value*, ValuePtr> made_;
};

}  // namespace

Status add_values(const graph::Graph& graph, TracedCall& call, TraceBuilder& builder) {
  return ValueMaker(call, builder).make(graph);
}

}  // namespace leapp::capture
