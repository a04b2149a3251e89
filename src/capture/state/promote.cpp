// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/promote.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "capture/state/constant_outputs.h"
#include "capture/trace/evaluate.h"
#include "capture/trace/record.h"
#include "capture/trace/slice.h"
#include "capture/trace/trace_builder.h"

namespace leapp::capture {
namespace {

bool has_port(const std::vector<PortRecord>& ports, const std::string& name) {
  return std::any_of(ports.begin(), ports.end(), [&](const PortRecord& port) { return port.name == name; });
}

/// The operand, where a use stands for it.
void replace_operand(const Use& use, const ValuePtr& value) {
  std::size_t operand = 0;
  for_each_operand(*use.op, [&](ValuePtr& slot) {
    if (operand++ == use.operand) slot = value;
  });
}

class Promoter {
 public:
  Promoter(const std::vector<std::unique_ptr<NodeRecord>>& nodes, Leaks policy, ConstantEvaluator& evaluator,
           Logger& log)
      : nodes_(nodes), policy_(policy), evaluator_(evaluator), log_(log), builder_([](auto&&...) {}, 0) {}

  void run() {
    for (const auto& node : nodes_) {
      for (Leak& leak : node->leaks) promote(*node, leak);
      drop_explained(*node);
    }
  }

 private:
  NodeRecord* find(const std::string& name) const {
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& node) { return node->name == name; });
    return found == nodes_.end() ? nullptr : found->get();
  }

  void promote(NodeRecord& node, Leak& leak) {
    NodeRecord* producer = find(leak.source.node);
    const ValuePtr value = producer && leak.source.port.empty() ? value_of(*producer, leak) : nullptr;
    const bool resolved = producer && (!leak.source.port.empty() || value);
    if (!resolved) return warn_unresolved(node, leak);
    const bool kept = leak.declared || leak.memory;
    if (value && !kept && depends_on_nothing(*producer, value)) return;
    if (!leak.source.port.empty() && is_same_for_ever(*producer, leak)) return;
    const std::string wanted = wanted_name(leak);
    if (!leak.declared && policy_ == Leaks::kError) {
      node.refusals.push_back(advice(node, leak, wanted));
      return;
    }
    if (!leak.declared && policy_ == Leaks::kConstant) return warn_constant(node, leak, wanted);
    add_reads(node, leak);
    make_ports(node, *producer, leak, {wanted, value});
    promoted_.insert(&leak);
  }

  // What calls read before it was known that they read state: a row of tensors that were there from the beginning.
  void add_reads(const NodeRecord& node, Leak& leak) {
    for (const Divergence& divergence : node.divergences) {
      if (divergence.now && leak.uses.contains(divergence.use) && !leak.read.contains(divergence.call))
        leak.read[divergence.call] = evaluator_.value_of(divergence.now);
    }
  }

  static ValuePtr value_of(const NodeRecord& producer, const Leak& leak) {
    if (leak.update) return leak.update;
    const auto found = producer.survivors.find(leak.source.key);
    return found == producer.survivors.end() ? nullptr : found->second;
  }

  // Made in one call, read in another, but the same in each: a lazily made table.
  bool depends_on_nothing(const NodeRecord& producer, const ValuePtr& value) const {
    if (!is_constant(*value)) return false;
    const Slice slice = slice_of({value});
    return std::none_of(slice.ops.begin(), slice.ops.end(), [&](const TraceOp* op) {
      return op->random || std::any_of(producer.leaks.begin(), producer.leaks.end(), [&](const Leak& leak) {
               return std::any_of(leak.uses.begin(), leak.uses.end(),
                                  [&](const auto& use) { return use.first.op == op; });
             });
    });
  }

  // An output that is read from what it was in the call before, and so on back to the first.
  static bool is_same_for_ever(const NodeRecord& producer, const Leak& leak) {
    for (std::size_t i = 0; i < producer.outputs.size(); ++i) {
      const ValuePtr& value = producer.output_values[i];
      if (producer.outputs[i].name == leak.source.port && is_set_apart(*value))
        return leak.uses.contains({value->op.get(), 0});
    }
    return false;
  }

  std::string wanted_name(const Leak& leak) {
    std::string name = leak.name.empty() ? fmt::format("state_{}", unnamed_++) : leak.name;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '.' || c == '/'; }, '_');
    return name;
  }

  struct Wanted {
    std::string name;
    ValuePtr value;
  };

  void make_ports(NodeRecord& node, NodeRecord& producer, Leak& leak, const Wanted& wanted) {
    std::string name = wanted.name;
    const bool own_output = leak.source.port.empty();
    for (int i = 1; has_port(node.inputs, name) || (own_output && clashes(producer, name, wanted.value)); ++i) {
      name = fmt::format("{}_{}", wanted.name, i);
    }
    Source source{producer.name, leak.source.port, leak.source.delay > 0};
    if (own_output) source.port = output_for(producer, leak, {name, wanted.value});
    if (leak.source.delay > 1) source = delayed(node, leak, source, name);
    const ValuePtr input = add_input(node, leak, {name, leak.type, source});
    for (const auto& [use, place] : leak.uses) replace_operand(use, part(input, leak, place));
    if (!leak.declared) log_.warning(notice(node, leak, source, name));
    const std::size_t samples = node.samples.size();
    for (std::size_t i = 0; i < samples; ++i) {
      const auto read = leak.read.find(node.samples[i].call);
      node.samples[i].inputs.push_back(read != leak.read.end() ? read->second : leak.read.at(0));
    }
  }

  static bool clashes(const NodeRecord& producer, const std::string& name, const ValuePtr& value) {
    for (std::size_t i = 0; i < producer.outputs.size(); ++i) {
      if (producer.outputs[i].name == name) return bare(producer.output_values[i]) != value;
    }
    return false;
  }

  std::string output_for(NodeRecord& producer, const Leak& leak, const Wanted& wanted) {
    for (std::size_t i = 0; i < producer.outputs.size(); ++i) {
      if (bare(producer.output_values[i]) == wanted.value) return producer.outputs[i].name;
    }
    producer.outputs.push_back({.name = wanted.name, .type = wanted.value->type, .state = true});
    producer.output_values.push_back(wanted.value);
    for (std::size_t i = 0; i < producer.samples.size(); ++i) {
      const auto next = leak.next.find(producer.samples[i].call);
      const auto read = leak.read.find(producer.samples[i].call + leak.source.delay);
      producer.samples[i].outputs.push_back(next != leak.next.end()   ? next->second
                                            : read != leak.read.end() ? read->second
                                                                      : nullptr);
    }
    return wanted.name;
  }

  // A value of several passes ago goes through one port a pass.
  Source delayed(NodeRecord& node, const Leak& leak, Source source, const std::string& name) {
    for (std::uint64_t late = 1; late < leak.source.delay; ++late) {
      std::string port = fmt::format("{}_{}", name, late);
      while (has_port(node.inputs, port) || has_port(node.outputs, port)) port += "_";
      source.feedback = true;
      const ValuePtr input = add_input(node, leak, {port, leak.type, source});
      // What the call `delay - late` passes later read is what this port held now.
      for (std::size_t i = 0; i < node.samples.size(); ++i) {
        const auto read = leak.read.find(node.samples[i].call + leak.source.delay - late);
        node.samples[i].inputs.push_back(read != leak.read.end() ? read->second : leak.read.at(0));
        node.samples[i].outputs.push_back(node.samples[i].inputs.back());
      }
      node.outputs.push_back({.name = port, .type = leak.type, .state = true});
      node.output_values.push_back(input);
      source = {node.name, port, true};
    }
    return source;
  }

  static ValuePtr add_input(NodeRecord& node, const Leak& leak, PortRecord port) {
    ValuePtr value = make_value(TracedKind::kInput, leak.type, {.port = port.name});
    node.inputs.push_back(std::move(port));
    return value;
  }

  ValuePtr part(const ValuePtr& input, const Leak& leak, const Geometry& place) {
    if (!leak.memory || place == leak.place) return input;
    const ValuePtr flat = builder_.reshape(input, {leak.place.element_count()});
    const std::int64_t offset = (place.byte_offset - leak.place.byte_offset) / place.item_size();
    return builder_.as_strided(flat, place.sizes, place.strides, offset);
  }

  std::string what(const NodeRecord& node, const Leak& leak, const std::string& name) const {
    const std::string where = line_prefix(leak.location);
    if (!leak.source.port.empty() || leak.source.node != node.name) {
      return fmt::format("{}node '{}' reads {} without announcing it", where, node.name,
                         leak.source.port.empty() ? fmt::format("'{}' of node '{}'", name, leak.source.node)
                                                  : fmt::format("{}/{}", leak.source.node, leak.source.port));
    }
    return fmt::format("{}node '{}' keeps '{}' from one call to the next without announcing it", where, node.name,
                       name);
  }

  std::string notice(const NodeRecord& node, const Leak& leak, const Source& source, const std::string& name) const {
    return fmt::format("{}. It is exported as input '{}', fed by {}/{}{}; {}", what(node, leak, name), name,
                       source.node, source.port, source.feedback ? " of the pass before" : "",
                       remedy(node, leak, name));
  }

  static std::string remedy(const NodeRecord& node, const Leak& leak, const std::string& name) {
    if (!leak.source.port.empty()) {
      return fmt::format("pass it through annotate.input_tensors('{}', {{'{}': ...}}) to name it yourself", node.name,
                         name);
    }
    if (leak.source.node != node.name) {
      return fmt::format("make it an output of '{}' and an input of '{}' to name it yourself", leak.source.node,
                         node.name);
    }
    return fmt::format(
        "announce it with {} = annotate.state_tensors('{}', {{'{}': {}}}) before it is read and "
        "annotate.update_state('{}', {{'{}': ...}}) with its next value",
        name, node.name, name, name, node.name, name);
  }

  std::string advice(const NodeRecord& node, const Leak& leak, const std::string& name) const {
    return fmt::format("{}: {}", what(node, leak, name), remedy(node, leak, name));
  }

  void warn_constant(const NodeRecord& node, const Leak& leak, const std::string& name) {
    log_.warning(fmt::format("{}. It is exported as a constant; {}", what(node, leak, name), remedy(node, leak, name)));
    promoted_.insert(&leak);
  }

  void warn_unresolved(const NodeRecord& node, const Leak& leak) {
    log_.warning(fmt::format("{}. It is exported as a constant: the first call of '{}' computed no such value",
                             what(node, leak, leak.name.empty() ? "a value" : leak.name), leak.source.node));
  }

  // A constant that differed from call to call because it is state is no constant any more.
  void drop_explained(NodeRecord& node) const {
    std::erase_if(node.divergences, [&](const Divergence& divergence) {
      return divergence.use.op && std::any_of(node.leaks.begin(), node.leaks.end(), [&](const Leak& leak) {
               return promoted_.contains(&leak) && leak.uses.contains(divergence.use);
             });
    });
  }

  const std::vector<std::unique_ptr<NodeRecord>>& nodes_;
  Leaks policy_;
  ConstantEvaluator& evaluator_;
  Logger& log_;
  TraceBuilder builder_;
  std::set<const Leak*> promoted_;
  int unnamed_ = 0;
};

}  // namespace

void promote_leaks(const std::vector<std::unique_ptr<NodeRecord>>& nodes, Leaks policy, ConstantEvaluator& evaluator,
                   Logger& log) {
  Promoter(nodes, policy, evaluator, log).run();
}

}  // namespace leapp::capture
