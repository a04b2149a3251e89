// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "capture/hook/op_info.h"
#include "capture/state/constant_outputs.h"
#include "capture/trace/trace_scanner.h"
#include "capture/trace/trace_text.h"
#include "capture/trace/trace_values.h"
#include "capture/trace/value_key.h"

namespace leapp::capture {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text), builder_([](auto&&...) {}) {}

  Result<Trace> parse() {
    while (!scanner_.at_end()) LEAPP_RETURN_IF_ERROR(call());
    return std::move(trace_);
  }

 private:
  Status call() {
    TracedCall& call = trace_.calls.emplace_back();
    call.trace.activation = static_cast<ActivationId>(trace_.calls.size());
    LEAPP_RETURN_IF_ERROR(scanner_.expect("call"));
    LEAPP_ASSIGN_OR_RETURN(call.trace.node, scanner_.name("the name of a node"));
    LEAPP_RETURN_IF_ERROR(scanner_.expect("in"));
    LEAPP_ASSIGN_OR_RETURN(call.trace.pass, scanner_.pass());
    LEAPP_RETURN_IF_ERROR(graph(call));
    while (!scanner_.at_end() && !scanner_.looking_at("call")) LEAPP_RETURN_IF_ERROR(fact(call));
    for (ValuePtr& output : call.trace.outputs) output = set_apart(output, builder_);
    return {};
  }

  Status graph(TracedCall& call) {
    if (!scanner_.looking_at("graph")) return scanner_.error("a graph");
    const std::size_t begin = scanner_.position();
    LEAPP_ASSIGN_OR_RETURN(const graph::Graph parsed, scanner_.graph());
    const std::size_t end = scanner_.position();
    scanner_.go_back(begin);
    if (const Status made = add_values(parsed, call, builder_); !made.ok()) return scanner_.within("the graph", made);
    scanner_.go_back(end);
    return {};
  }

  Status fact(TracedCall& call) {
    if (scanner_.accept("constant")) return constant(call);
    if (scanner_.accept("keep")) return keep(call);
    if (scanner_.accept("memory")) return memory(call);
    if (scanner_.accept("wrote")) return place(call, &MemoryState::writes);
    if (scanner_.accept("took")) return place(call, &MemoryState::inputs);
    if (scanner_.accept("holds")) return holds(call);
    if (scanner_.accept("buffer")) return buffer(call);
    if (scanner_.accept("number")) return number(call);
    if (scanner_.accept("guard")) return guard(call, false);
    if (scanner_.accept("rows")) return guard(call, true);
    if (scanner_.accept("state")) return state(call);
    return scanner_.error(
        "a fact (constant, keep, memory, wrote, took, holds, buffer, number, guard, rows, state) or a call");
  }

  Status constant(TracedCall& call) {
    LEAPP_ASSIGN_OR_RETURN(const ValuePtr found, value(call));
    if (found->kind != TracedKind::kConstant) return scanner_.complain("expected a constant");
    auto& cell = static_cast<LiteralCell&>(*found->cell);
    while (true) {
      if (scanner_.accept("named")) {
        LEAPP_ASSIGN_OR_RETURN(cell.name, scanner_.quoted("a name"));
      } else if (scanner_.accept("at")) {
        LEAPP_ASSIGN_OR_RETURN(cell.location, scanner_.location());
      } else if (scanner_.accept("given")) {
        cell.given = true;
      } else if (scanner_.accept("random")) {
        cell.drawn = Drawn::kElsewhere;
      } else if (scanner_.accept("overwritten")) {
        cell.overwritten = true;
      } else if (scanner_.accept("copied")) {
        cell.by_reference = false;
      } else if (scanner_.accept("alone")) {
        cell.holders = 1;
      } else if (scanner_.accept("from")) {
        LEAPP_ASSIGN_OR_RETURN(cell.provenance, origin());
      } else if (scanner_.accept("in")) {
        LEAPP_ASSIGN_OR_RETURN(const std::shared_ptr<LiteralMemory> memory, known_memory());
        cell.home = memory;
        LEAPP_ASSIGN_OR_RETURN(cell.place, scanner_.geometry(*memory));
        while (scanner_.accept("covered")) {
          LEAPP_ASSIGN_OR_RETURN(Geometry covered, scanner_.geometry(*memory));
          cell.covered.push_back(std::move(covered));
        }
      } else {
        return {};
      }
    }
  }

  // NODE %v of pass N [part] | NODE/PORT of pass N [through "OP"]
  Result<ValuePtr> origin() {
    LEAPP_ASSIGN_OR_RETURN(const std::string name, scanner_.name("a node or a port"));
    if (!scanner_.looking_at("%")) return published(name);
    LEAPP_ASSIGN_OR_RETURN(const std::string wanted, scanner_.value_name());
    LEAPP_RETURN_IF_ERROR(scanner_.expect("of"));
    LEAPP_ASSIGN_OR_RETURN(const std::uint64_t made_in, scanner_.pass());
    const ValuePtr value = earlier(name, made_in, wanted);
    if (!value)
      return scanner_.complain(fmt::format("no call of '{}' in pass {} has a value %{}", name, made_in, wanted));
    Origin origin{.node = name, .pass = made_in, .key = ValueKeys().of(value)};
    origin.part = scanner_.accept("part");
    return make_value(TracedKind::kFormer, value->type, std::move(origin));
  }

  Result<ValuePtr> published(const std::string& name) {
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) return scanner_.error("%value, or a port as node/port");
    Origin origin{.node = name.substr(0, slash), .port = name.substr(slash + 1)};
    LEAPP_RETURN_IF_ERROR(scanner_.expect("of"));
    LEAPP_ASSIGN_OR_RETURN(origin.pass, scanner_.pass());
    ValuePtr value = make_value(TracedKind::kPublished, {}, std::move(origin));
    if (!scanner_.accept("through")) return value;
    LEAPP_ASSIGN_OR_RETURN(const std::string op, scanner_.quoted("an operator"));
    return make_value(TracedKind::kGlue, {}, {.source = std::move(value), .glue_op = op});
  }

  ValuePtr earlier(const std::string& node, std::uint64_t pass, const std::string& name) const {
    for (const TracedCall& call : std::span(trace_.calls).first(trace_.calls.size() - 1)) {
      if (call.trace.node != node || call.trace.pass != pass) continue;
      if (const ValuePtr found = find(call, name)) return found;
    }
    return nullptr;
  }

  Status keep(TracedCall& call) {
    LEAPP_ASSIGN_OR_RETURN(ValuePtr kept, value(call));
    TracedCall::Kept& added = call.kept.emplace_back(TracedCall::Kept{std::move(kept), {}});
    if (!scanner_.accept("in")) return {};
    const bool attribute = scanner_.accept("attribute");
    if (!attribute) LEAPP_RETURN_IF_ERROR(scanner_.expect("variable"));
    added.holder.kind = attribute ? Holder::Kind::kAttribute : Holder::Kind::kVariable;
    LEAPP_ASSIGN_OR_RETURN(added.holder.name, scanner_.quoted("a name"));
    return {};
  }

  Status memory(TracedCall& call) {
    LEAPP_RETURN_IF_ERROR(scanner_.expect("@"));
    LEAPP_ASSIGN_OR_RETURN(const std::string name, scanner_.name("the name of a memory"));
    const auto known = memories_.find(name);
    std::shared_ptr<LiteralMemory> memory = known == memories_.end() ? nullptr : known->second;
    if (!memory) {
      LEAPP_RETURN_IF_ERROR(scanner_.expect("="));
      LEAPP_ASSIGN_OR_RETURN(graph::Constant before, scanner_.literal());
      memory = std::make_shared<LiteralMemory>(name, std::move(before));
      memories_[name] = memory;
    }
    const bool twice =
        std::any_of(call.memories.begin(), call.memories.end(), [&](const auto& item) { return item.first == memory; });
    if (twice) return scanner_.complain(fmt::format("@{} stands in this call already", name));
    MemoryState state;
    state.alive = !scanner_.accept("gone");
    call.memories.emplace_back(std::move(memory), std::move(state));
    return {};
  }

  Status place(TracedCall& call, std::vector<Geometry> MemoryState::*places) {
    LEAPP_ASSIGN_OR_RETURN(MemoryState * state, state_of(call));
    LEAPP_ASSIGN_OR_RETURN(Geometry added, scanner_.geometry(*at_));
    (state->*places).push_back(std::move(added));
    return {};
  }

  Status holds(TracedCall& call) {
    LEAPP_ASSIGN_OR_RETURN(MemoryState * state, state_of(call));
    LEAPP_ASSIGN_OR_RETURN(Geometry where, scanner_.geometry(*at_));
    LEAPP_RETURN_IF_ERROR(scanner_.expect("="));
    LEAPP_ASSIGN_OR_RETURN(ValuePtr held, value(call));
    state->layers.push_back({std::move(where), std::move(held)});
    return {};
  }

  Status buffer(TracedCall& call) {
    BufferTrace& buffer = call.trace.buffers.emplace_back();
    LEAPP_ASSIGN_OR_RETURN(buffer.name, scanner_.quoted("the name of a buffer"));
    buffer.declared = scanner_.accept("declared");
    LEAPP_RETURN_IF_ERROR(scanner_.expect("in"));
    LEAPP_ASSIGN_OR_RETURN(const std::shared_ptr<LiteralMemory> memory, known_memory());
    buffer.memory = memory;
    LEAPP_ASSIGN_OR_RETURN(buffer.geometry, scanner_.geometry(*memory));
    buffer.content = memory->content_before(buffer.geometry);
    if (scanner_.accept("gone")) {
      buffer.in_place = false;
    } else if (scanner_.accept("becomes")) {
      buffer.in_place = false;
      LEAPP_ASSIGN_OR_RETURN(ValuePtr successor, value(call));
      buffer.successor = [successor] { return successor; };
    }
    return {};
  }

  Status number(TracedCall& call) {
    LEAPP_ASSIGN_OR_RETURN(ValuePtr read, value(call));
    LEAPP_RETURN_IF_ERROR(scanner_.expect("at"));
    LEAPP_ASSIGN_OR_RETURN(const LocationId where, scanner_.location());
    call.trace.numbers.emplace_back(std::move(read), where);
    return {};
  }

  Status guard(TracedCall& call, bool rows) {
    LEAPP_ASSIGN_OR_RETURN(const ValuePtr decides, value(call));
    if (decides->type != ValueType{at::kBool, {}}) return scanner_.complain("expected a value of type bool[]");
    BranchCondition& added = call.trace.guards.emplace_back();
    added.rows = rows;
    added.taken = scanner_.accept("true");
    if (!added.taken) LEAPP_RETURN_IF_ERROR(scanner_.expect("false"));
    LEAPP_RETURN_IF_ERROR(scanner_.expect("at"));
    LEAPP_ASSIGN_OR_RETURN(const LocationId where, scanner_.location());
    const OpInfo* asked = rows ? op_info("aten::nonzero", "") : op_info("aten::is_nonzero", "");
    builder_.set_current(asked, where);
    added.op = builder_.make(asked, {TraceArgument::of(decides)});
    added.value = set_apart(decides, builder_);
    return {};
  }

  Status state(TracedCall& call) {
    LEAPP_ASSIGN_OR_RETURN(const std::string name, scanner_.name("the name of an input"));
    const auto named = [&](const PortRecord& port) { return port.name == name; };
    const auto input = std::find_if(call.inputs.begin(), call.inputs.end(), named);
    if (input == call.inputs.end()) return scanner_.complain(fmt::format("no input is called '{}'", name));
    input->state = true;
    const auto output = std::find_if(call.outputs.begin(), call.outputs.end(), named);
    if (output == call.outputs.end()) return {};
    output->state = true;
    input->source = Source{call.trace.node, name, true};
    return {};
  }

  Result<ValuePtr> value(const TracedCall& call) {
    LEAPP_ASSIGN_OR_RETURN(const std::string name, scanner_.value_name());
    ValuePtr found = find(call, name);
    if (!found) return scanner_.complain(fmt::format("the call has no value %{}", name));
    return found;
  }

  static ValuePtr find(const TracedCall& call, const std::string& name) {
    const auto found =
        std::find_if(call.values.begin(), call.values.end(), [&](const auto& item) { return item.first == name; });
    return found == call.values.end() ? nullptr : found->second;
  }

  Result<std::shared_ptr<LiteralMemory>> known_memory() {
    LEAPP_RETURN_IF_ERROR(scanner_.expect("@"));
    LEAPP_ASSIGN_OR_RETURN(const std::string name, scanner_.name("the name of a memory"));
    const auto found = memories_.find(name);
    if (found == memories_.end()) return scanner_.complain(fmt::format("no memory is called @{}", name));
    return found->second;
  }

  /// Of the memory that comes next, which is then at_.
  Result<MemoryState*> state_of(TracedCall& call) {
    LEAPP_ASSIGN_OR_RETURN(at_, known_memory());
    for (auto& [memory, state] : call.memories) {
      if (memory == at_) return &state;
    }
    return scanner_.complain(fmt::format("this call does not say 'memory @{}'", at_->name()));
  }

  TraceScanner scanner_;
  TraceBuilder builder_;
  Trace trace_;
  std::map<std::string, std::shared_ptr<LiteralMemory>> memories_;
  std::shared_ptr<LiteralMemory> at_;
};

}  // namespace

Result<Trace> parse_trace(std::string_view text) try {
  return Parser(text).parse();
} catch (const std::exception& failure) {
  // Of torch, for a device or a layout that it does not know.
  return invalid_argument(failure.what());
}

}  // namespace leapp::capture
