// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "capture/hook/attributes.h"
#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"
#include "capture/trace/to_graph.h"
#include "capture/trace/trace_text.h"
#include "capture/trace/value_key.h"
#include "graph/literals.h"
#include "graph/text.h"

namespace leapp::capture {
namespace {

class CallPrinter {
 public:
  CallPrinter(const Trace& trace, const TracedCall& call, std::set<const Memory*>& known)
      : trace_(trace), call_(call), known_(known) {
    for (const auto& [name, value] : call.values) names_[value.get()] = name;
  }

  std::string print() {
    text_ = fmt::format("call {} in pass {}\n", graph::quote_if_needed(call_.trace.node), call_.trace.pass);
    text_ += graph::print(graph());
    print_memories();
    for (const auto& [name, value] : call_.values) {
      if (value->kind == TracedKind::kConstant) print_constant(value);
    }
    for (const TracedCall::Kept& kept : call_.kept) {
      text_ += fmt::format("keep {}", reference(kept.value));
      if (kept.holder.kind == Holder::Kind::kAttribute)
        text_ += fmt::format(" in attribute {}", quote(kept.holder.name));
      if (kept.holder.kind == Holder::Kind::kVariable) text_ += fmt::format(" in variable {}", quote(kept.holder.name));
      text_ += "\n";
    }
    print_buffers();
    for (const auto& [value, where] : call_.trace.numbers)
      text_ += fmt::format("number {} at {}\n", reference(value), place(where));
    for (const BranchCondition& guard : call_.trace.guards) {
      text_ += fmt::format("{} {} {} at {}\n", guard.rows ? "rows" : "guard", reference(bare(guard.value)), guard.taken,
                           place(guard.location()));
    }
    for (const PortRecord& input : call_.inputs) {
      if (input.state) text_ += fmt::format("state {}\n", graph::quote_if_needed(input.name));
    }
    return std::move(text_);
  }

 private:
  graph::Graph graph() {
    graph::Graph graph(call_.trace.node);
    std::map<const TracedValue*, graph::Value*> made;
    std::map<const TraceOp*, graph::Node*> nodes;
    for (const auto& [name, value] : call_.values) {
      if (value->kind == TracedKind::kInput) {
        made[value.get()] = graph.add_input(name, to_graph_type(value->type));
      } else if (value->kind == TracedKind::kConstant) {
        made[value.get()] = graph.add_constant(value->cell->exported().value(), name);
      } else {
        graph::Node*& node = nodes[value->op.get()];
        if (!node) node = graph.append(spec(*value->op, made));
        made[value.get()] = node->result(value->index);
      }
    }
    for (std::size_t i = 0; i < call_.outputs.size(); ++i)
      graph.add_output(call_.outputs[i].name, made.at(bare(call_.trace.outputs[i]).get()));
    return graph;
  }

  graph::NodeSpec spec(const TraceOp& op, const std::map<const TracedValue*, graph::Value*>& made) {
    graph::NodeSpec spec = spec_of(op);
    const auto& schema = op.info->schema().arguments();
    const auto operand = [&](const ValuePtr& value) { return value ? made.at(value.get()) : nullptr; };
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      const TraceArgument& argument = op.arguments[i];
      std::vector<graph::Value*> list;
      for (const ValuePtr& item : argument.list) list.push_back(operand(item));
      spec.arguments.push_back({schema[i].name(), argument.kind == TraceArgument::Kind::kTensor
                                                      ? graph::Attribute(operand(argument.tensor))
                                                  : argument.kind == TraceArgument::Kind::kTensorList
                                                      ? graph::Attribute(std::move(list))
                                                      : to_attribute(argument.attribute, schema[i].real_type())});
    }
    spec.result_names.resize(op.results.size());
    for (const ValueType& type : op.results) spec.results.push_back(to_graph_type(type));
    for (const auto& [name, value] : call_.values) {
      if (value->op.get() == &op) spec.result_names[value->index] = name;
    }
    return spec;
  }

  std::string reference(const ValuePtr& value) const { return "%" + graph::quote_if_needed(names_.at(value.get())); }

  static std::string place(LocationId id) {
    const graph::SourceLocation at = location(id);
    return fmt::format("{}:{}", quote(at.file), at.line);
  }

  static std::string print_geometry(const Geometry& place) {
    const graph::TensorType type = to_graph_type({place.dtype, place.sizes});
    std::string text = type_text(type.dtype, type.shape);
    if (place.strides != dense_geometry({place.dtype, place.sizes}).strides)
      text += fmt::format(" strides [{}]", fmt::join(place.strides, ", "));
    if (place.byte_offset != 0) text += fmt::format(" offset {}", place.byte_offset / place.item_size());
    return text;
  }

  static std::string memory_name(const Memory& memory) {
    return "@" + graph::quote_if_needed(static_cast<const LiteralMemory&>(memory).name());
  }

  void print_memories() {
    for (const auto& [memory, state] : call_.memories) {
      const std::string name = memory_name(*memory);
      text_ += "memory " + name;
      if (known_.insert(memory.get()).second) text_ += " = " + literal(memory->before());
      text_ += state.alive ? "\n" : " gone\n";
      for (const Geometry& wrote : state.writes) text_ += fmt::format("wrote {} {}\n", name, print_geometry(wrote));
      for (const Geometry& took : state.inputs) text_ += fmt::format("took {} {}\n", name, print_geometry(took));
      for (const Memory::Layer& layer : state.layers)
        text_ += fmt::format("holds {} {} = {}\n", name, print_geometry(layer.geometry), reference(layer.value));
    }
  }

  static std::string literal(const graph::Constant& constant) {
    const auto elements = graph::print_elements(constant.type.dtype, constant.bytes());
    return fmt::format("{} [{}]", type_text(constant.type.dtype, constant.type.shape), elements.value_or(""));
  }

  void print_constant(const ValuePtr& value) {
    const auto& cell = static_cast<const LiteralCell&>(*value->cell);
    std::string facts;
    if (!cell.name.empty()) facts += " named " + quote(cell.name);
    if (cell.location != 0) facts += " at " + place(cell.location);
    if (cell.given) facts += " given";
    if (cell.is_random()) facts += " random";
    if (cell.overwritten) facts += " overwritten";
    if (!cell.by_reference) facts += " copied";
    if (cell.holders == 1) facts += " alone";
    if (cell.provenance) facts += " from " + origin(*cell.provenance);
    if (const auto memory = cell.home.lock()) {
      facts += fmt::format(" in {} {}", memory_name(*memory), print_geometry(cell.place));
      for (const Geometry& covered : cell.covered) facts += " covered " + print_geometry(covered);
    }
    if (!facts.empty()) text_ += fmt::format("constant {}{}\n", reference(value), facts);
  }

  std::string origin(const TracedValue& value) const {
    const Origin& origin = *value.origin;
    if (value.kind == TracedKind::kGlue)
      return fmt::format("{} through {}", this->origin(*origin.source), quote(origin.glue_op));
    if (value.kind == TracedKind::kPublished)
      return fmt::format("{} of pass {}", graph::quote_if_needed(origin.node + "/" + origin.port), origin.pass);
    return fmt::format("{} %{} of pass {}{}", graph::quote_if_needed(origin.node),
                       graph::quote_if_needed(name_of(origin)), origin.pass, origin.part ? " part" : "");
  }

  /// What an earlier call calls the value.
  std::string name_of(const Origin& origin) const {
    for (const TracedCall& call : trace_.calls) {
      if (call.trace.node != origin.node || call.trace.pass != origin.pass) continue;
      for (const auto& [name, value] : call.values) {
        if (ValueKeys().of(value) == origin.key) return name;
      }
    }
    return "unknown";
  }

  void print_buffers() {
    for (const BufferTrace& buffer : call_.trace.buffers) {
      text_ += fmt::format("buffer {}{} in {} {}", quote(buffer.name), buffer.declared ? " declared" : "",
                           memory_name(*buffer.memory), print_geometry(buffer.geometry));
      if (!buffer.in_place) text_ += buffer.successor ? " becomes " + reference(buffer.successor()) : " gone";
      text_ += "\n";
    }
  }

  const Trace& trace_;
  const TracedCall& call_;
  std::set<const Memory*>& known_;
  std::map<const TracedValue*, std::string> names_;
  std::string text_;
};

}  // namespace

std::string print_trace(const Trace& trace) {
  std::string text;
  std::set<const Memory*> known;
  for (const TracedCall& call : trace.calls) text += CallPrinter(trace, call, known).print();
  return text;
}

}  // namespace leapp::capture
