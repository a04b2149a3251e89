// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/state/outside_counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "capture/hook/op_info.h"
#include "capture/recorder/memory.h"
#include "capture/recorder/tensor_content.h"
#include "capture/trace/trace_builder.h"
#include "capture/trace/value_key.h"

namespace leapp::capture {
namespace {

using Writes = std::vector<OutsideWrite>;
using NameOf = std::function<std::string(const at::Tensor&)>;

/// What the calls of a node read at one place of it.
struct CounterReads {
  NodeRecord* node = nullptr;
  std::vector<Use> uses;
  std::map<std::size_t, ValuePtr> by_call;
  LocationId location = 0;
};

/// One tensor that is advanced, and who reads it.
struct OutsideCounter {
  std::shared_ptr<Memory> memory;
  Geometry place;
  std::size_t begins = 0;  // of the writes: how many came before the first read
  Writes step;             // from one call to the next
  std::string why_not;     // it cannot be a node; empty: it can
  std::vector<CounterReads> readers;
};

ValuePtr constant_at(const Use& use) {
  ValuePtr found;
  std::size_t operand = 0;
  for_each_operand(*use.op, [&](const ValuePtr& value) {
    if (operand++ == use.operand) found = value;
  });
  return found;
}

bool same_write(const OutsideWrite& a, const OutsideWrite& b) {
  if (a.info != b.info || !(a.place == b.place) || a.arguments.size() != b.arguments.size()) return false;
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    if (!same_attribute(a.arguments[i], b.arguments[i])) return false;
  }
  return true;
}

std::string text_of_write(const OutsideWrite& write) {
  return fmt::format("{}{}", write.info->qualified_name(), at_line(write.location));
}

/// Applied once to `value`.
ValuePtr advanced(const Writes& step, ValuePtr value, TraceBuilder& builder) {
  for (const OutsideWrite& write : step) {
    builder.set_current(write.info, write.location);
    const FunctionalVariant& twin = write.info->twin();
    std::vector<TraceArgument> arguments;
    for (std::size_t i = 0; i < twin.arguments.size(); ++i) {
      const int from = twin.arguments[i];
      if (from < 0) {
        arguments.push_back(TraceArgument::of(twin.op->schema().arguments()[i].default_value().value()));
      } else if (static_cast<std::size_t>(from) == write.info->writes()[0]) {
        arguments.push_back(TraceArgument::of(value));
      } else {
        arguments.push_back(TraceArgument::of(write.arguments[static_cast<std::size_t>(from)]));
      }
    }
    const ValueType type = value->type;
    const auto op = builder.make(twin.op, std::move(arguments));
    value = builder.cast_always(builder.result(op, twin.leading_results, type), type.dtype);
  }
  return value;
}

class CounterFinder {
 public:
  CounterFinder(CaptureResult& recording, ConstantEvaluator& evaluator)
      : recording_(recording), evaluator_(evaluator) {}

  std::vector<OutsideCounter> find() {
    for (const auto& node : recording_.nodes) {
      std::map<Use, std::vector<const Divergence*>> places;
      for (const Divergence& divergence : node->divergences) {
        const bool constant = divergence.kind == Divergence::Kind::kConstant && divergence.use.op && divergence.now;
        if (constant && divergence.now->kind == TracedKind::kConstant) places[divergence.use].push_back(&divergence);
      }
      for (const auto& [use, divergences] : places) add(*node, use, divergences);
    }
    for (OutsideCounter& counter : found_) settle(counter);
    return std::move(found_);
  }

 private:
  void add(NodeRecord& node, const Use& use, const std::vector<const Divergence*>& divergences) {
    const ValuePtr first = constant_at(use);
    if (!first || first->kind != TracedKind::kConstant) return;
    const auto memory = first->cell->home.lock();
    if (!memory || memory->outside().all().empty() || memory->outside().too_many()) return;
    CounterReads reads{&node, {use}, {{node.first_call, first}}, divergences.front()->location};
    for (const Divergence* divergence : divergences) {
      const ConstantCell& cell = *divergence->now->cell;
      if (cell.home.lock() != memory || !(cell.place == first->cell->place)) return;
      reads.by_call[divergence->call] = divergence->now;
    }
    OutsideCounter& counter = counter_at(memory, *first->cell);
    const auto known = std::find_if(counter.readers.begin(), counter.readers.end(),
                                    [&](const CounterReads& reader) { return reader.node == &node; });
    if (known == counter.readers.end()) return counter.readers.push_back(std::move(reads));
    known->uses.push_back(use);
  }

  OutsideCounter& counter_at(const std::shared_ptr<Memory>& memory, const ConstantCell& first) {
    for (OutsideCounter& counter : found_) {
      if (counter.memory == memory && counter.place == first.place && counter.begins == first.outside) return counter;
    }
    return found_.emplace_back(OutsideCounter{memory, first.place, first.outside, {}, "", {}});
  }

  static std::optional<Writes> between(const OutsideCounter& counter, const ValuePtr& a, const ValuePtr& b) {
    const Writes& all = counter.memory->outside().all();
    const auto from = static_cast<std::ptrdiff_t>(a->cell->outside);
    const auto to = static_cast<std::ptrdiff_t>(b->cell->outside);
    if (from >= to) return std::nullopt;
    return Writes(all.begin() + from, all.begin() + to);
  }

  void settle(OutsideCounter& counter) {
    for (const CounterReads& reader : counter.readers) {
      auto before = reader.by_call.begin();
      for (auto now = std::next(before); now != reader.by_call.end() && counter.why_not.empty(); before = now++) {
        compare(counter, *before, *now);
      }
      if (reader.by_call.size() < 3 && counter.why_not.empty())
        counter.why_not = "run at least three passes to show how";
    }
  }

  using Read = std::pair<const std::size_t, ValuePtr>;

  void compare(OutsideCounter& counter, const Read& before, const Read& now) {
    const auto writes = between(counter, before.second, now.second);
    if (!writes) {
      counter.why_not = fmt::format("call {} read another content of it, and no operator wrote to it", now.first);
      return;
    }
    for (const OutsideWrite& write : *writes) {
      const OpClass kind = write.info->op_class();
      const bool follows = write.repeatable && write.place == counter.place && kind == OpClass::kPlain &&
                           !write.info->facts().inplace_view && write.info->twin().op;
      if (follows) continue;
      counter.why_not = fmt::format("{} depends on more than what it held", text_of_write(write));
      return;
    }
    const std::size_t passes = now.first - before.first;
    if (counter.step.empty() && passes == 1) counter.step = *writes;
    bool same = writes->size() == counter.step.size() * passes;
    for (std::size_t i = 0; same && i < writes->size(); ++i) {
      same = same_write((*writes)[i], counter.step[i % counter.step.size()]);
    }
    if (!same) {
      counter.why_not = fmt::format("between call {} and call {} it does something else than before: {}", before.first,
                                    now.first, text_of_write(writes->back()));
      return;
    }
    TraceBuilder builder([](auto&&...) {}, 0);
    ValuePtr value = before.second;
    for (std::size_t i = 0; i < passes; ++i) value = advanced(counter.step, value, builder);
    if (same_content(*evaluator_.value_of(value), *evaluator_.value_of(now.second))) return;
    counter.why_not =
        fmt::format("call {} read something else than {} gives", now.first, text_of_write(writes->back()));
  }

  CaptureResult& recording_;
  ConstantEvaluator& evaluator_;
  std::vector<OutsideCounter> found_;
};

class CounterPromoter {
 public:
  CounterPromoter(CaptureResult& recording, ConstantEvaluator& evaluator, const NameOf& name_of)
      : recording_(recording), evaluator_(evaluator), name_of_(name_of), builder_([](auto&&...) {}, 0) {}

  void promote(OutsideCounter& counter) {
    const std::string name = name_for(counter);
    if (!counter.why_not.empty()) return explain(counter, name);
    if (recording_.options.leaks == Leaks::kConstant) return;
    if (recording_.options.leaks == Leaks::kError) {
      for (CounterReads& reader : counter.readers) {
        reader.node->refusals.push_back(fmt::format("{}: {}", what(counter, reader, name), remedy(reader, name)));
        forget(reader);
      }
      return;
    }
    const std::string node = add_node(counter, name);
    for (CounterReads& reader : counter.readers) feed(counter, reader, node, name);
  }

 private:
  /// What it held in that call: the calls in between, for which nothing differs, are computed.
  ContentPtr content_in(const OutsideCounter& counter, const CounterReads& reader, std::size_t call) {
    auto known = reader.by_call.upper_bound(call);
    if (known == reader.by_call.begin()) return nullptr;
    --known;
    ValuePtr value = known->second;
    for (std::size_t i = known->first; i < call; ++i) value = advanced(counter.step, value, builder_);
    return evaluator_.value_of(value);
  }

  std::string name_for(const OutsideCounter& counter) {
    std::string name;
    for (const OutsideWrite& write : counter.memory->outside().all()) {
      const at::Tensor tensor = locked(write.tensor);
      if (!tensor.defined()) continue;
      name = name_of_(tensor);
      break;
    }
    if (name.empty()) name = fmt::format("counter_{}", unnamed_++);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '.' || c == '/'; }, '_');
    return name;
  }

  [[nodiscard]] bool is_taken(const std::string& name) const {
    return std::any_of(recording_.nodes.begin(), recording_.nodes.end(),
                       [&](const auto& node) { return node->name == name; });
  }

  /// The name that it got.
  std::string add_node(const OutsideCounter& counter, const std::string& wish) {
    const CounterReads& reader = counter.readers.front();
    auto node = std::make_unique<NodeRecord>();
    node->name = wish;
    for (int i = 1; is_taken(node->name); ++i) node->name = fmt::format("{}_{}", wish, i);
    const ValueType type = reader.by_call.begin()->second->type;
    const ValuePtr input = make_value(TracedKind::kInput, type, {.port = wish});
    node->inputs.push_back({.name = wish, .type = type, .source = Source{node->name, wish, true}, .state = true});
    node->outputs.push_back({.name = wish, .type = type, .source = std::nullopt, .state = true});
    node->output_values.push_back(advanced(counter.step, input, builder_));
    node->options.export_with = reader.node->options.export_with;
    node->options.backend_params = reader.node->options.backend_params;
    node->calls = reader.node->calls;
    node->first_pass = reader.node->first_pass;
    node->closed_at = counter.step.back().location;
    for (const Sample& sample : reader.node->samples) {
      node->samples.push_back(
          {sample.call, {content_in(counter, reader, sample.call)}, {content_in(counter, reader, sample.call + 1)}});
    }
    recording_.call_passes[node->name] = recording_.call_passes[reader.node->name];
    recording_.nodes.push_back(std::move(node));
    return recording_.nodes.back()->name;
  }

  void feed(const OutsideCounter& counter, CounterReads& reader, const std::string& node, const std::string& wish) {
    std::string port = wish;
    const auto has_input = [&] {
      return std::any_of(reader.node->inputs.begin(), reader.node->inputs.end(),
                         [&](const PortRecord& input) { return input.name == port; });
    };
    for (int i = 1; has_input(); ++i) port = fmt::format("{}_{}", wish, i);
    const ValueType type = reader.by_call.begin()->second->type;
    const ValuePtr input = make_value(TracedKind::kInput, type, {.port = port});
    reader.node->inputs.push_back({.name = port, .type = type, .source = Source{node, wish, true}});
    for (const Use& use : reader.uses) {
      std::size_t operand = 0;
      for_each_operand(*use.op, [&](ValuePtr& slot) {
        if (operand++ == use.operand) slot = input;
      });
    }
    for (Sample& sample : reader.node->samples) sample.inputs.push_back(content_in(counter, reader, sample.call));
    forget(reader);
    recording_.log->warning(
        fmt::format("{}. What it does is exported as a node of its own, '{}', which feeds input '{}' of node '{}'; {}",
                    what(counter, reader, wish), node, port, reader.node->name, remedy(reader, wish)));
  }

  /// It differs from call to call because it is fed now, or is refused for another reason.
  static void forget(CounterReads& reader) {
    std::erase_if(reader.node->divergences, [&](const Divergence& divergence) {
      return std::find(reader.uses.begin(), reader.uses.end(), divergence.use) != reader.uses.end();
    });
  }

  static std::string what(const OutsideCounter& counter, const CounterReads& reader, const std::string& name) {
    std::set<std::string> lines;
    for (const OutsideWrite& write : counter.step) lines.insert(text_of_write(write));
    return fmt::format(
        "{}node '{}' reads '{}', which the program advances between its calls, outside of all nodes ({})",
        line_prefix(reader.location), reader.node->name, name, fmt::join(lines, ", "));
  }

  static std::string remedy(const CounterReads& reader, const std::string& name) {
    return fmt::format(
        "{} = annotate.input_tensors('{}', {{'{}': {}}}) makes it an input that the robot's program gives", name,
        reader.node->name, name, name);
  }

  void explain(OutsideCounter& counter, const std::string& name) {
    for (CounterReads& reader : counter.readers) {
      for (Divergence& divergence : reader.node->divergences) {
        if (std::find(reader.uses.begin(), reader.uses.end(), divergence.use) == reader.uses.end()) continue;
        divergence.text +=
            fmt::format(". The program changes '{}' outside of all nodes, and no model can do that for it: {}; {}",
                        name, counter.why_not, remedy(reader, name));
      }
    }
  }

  CaptureResult& recording_;
  ConstantEvaluator& evaluator_;
  const NameOf& name_of_;
  TraceBuilder builder_;
  int unnamed_ = 0;
};

}  // namespace

void promote_counters(CaptureResult& recording, ConstantEvaluator& evaluator, const NameOf& name_of) {
  CounterFinder finder(recording, evaluator);
  CounterPromoter promoter(recording, evaluator, name_of);
  for (OutsideCounter& counter : finder.find()) promoter.promote(counter);
}

}  // namespace leapp::capture
