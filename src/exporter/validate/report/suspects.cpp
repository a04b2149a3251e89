// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/validate/report/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "capture/hook/unrecorded.h"
#include "capture/trace/slice.h"
#include "exporter/validate/report/snippets.h"
#include "exporter/validate/report/source_text.h"
#include "graph/conditional.h"

namespace leapp::exporter {
namespace {

using capture::Divergence;
using capture::Leak;
using capture::LocationId;
using capture::NodeRecord;
using capture::Note;

/// What happened, without what to do about it: that is said apart.
std::string without_advice(const std::string& text) {
  const std::string end = "It is exported as it was first";
  const auto at = text.find(end + ";");
  return at == std::string::npos ? text : text.substr(0, at + end.size());
}

class NodeSuspects {
 public:
  NodeSuspects(const PreparedNode& node, const capture::CaptureResult& recording, std::vector<Suspect>& found)
      : node_(node), record_(*node.record), recording_(recording), found_(found) {
    for (const capture::PortRecord& input : record_.inputs) inputs_.push_back(input.name);
  }

  void find() {
    for (const Divergence& divergence : record_.divergences) add(divergence);
    for (const Leak& leak : record_.leaks) add(leak);
    for (const Note& note : recording_.notes) {
      if (note.node == record_.name) add(note);
    }
    add_random_operators();
    for (const auto& cell : capture::slice_of(record_.output_values).constants) add(*cell);
  }

 private:
  Finding& add(Weight weight, const char* kind, LocationId where, std::string what) {
    Finding finding;
    finding.kind = kind;
    finding.fails = weight == Weight::kDiffers;
    finding.node = record_.name;
    finding.what = std::move(what);
    locate(finding, capture::location(where));
    return found_.emplace_back(Suspect{weight, std::move(finding)}).finding;
  }

  static void locate(Finding& finding, const graph::SourceLocation& location) {
    finding.file = location.file;
    finding.line = location.line;
    finding.code = line_of(location.file, location.line);
  }

  /// What differs at one line is one problem, in however many calls.
  bool is_known(const Divergence& divergence) {
    const auto same = std::find_if(record_.divergences.begin(), record_.divergences.end(), [&](const Divergence& one) {
      return one.kind == divergence.kind && one.location == divergence.location && one.other == divergence.other;
    });
    if (&*same == &divergence || divergence.location == 0) {
      first_of_[&divergence] = found_.size();
      return false;
    }
    found_[first_of_.at(&*same)].finding.details.push_back(fmt::format("so does call {}", divergence.call));
    return true;
  }

  void add(const Divergence& divergence) {
    if (is_known(divergence)) return;
    const std::string what = without_advice(divergence.text);
    switch (divergence.kind) {
      case Divergence::Kind::kBranch: {
        Finding& finding = add(Weight::kDiffers, "branch", divergence.location, what);
        const graph::SourceLocation other = capture::location(divergence.other);
        if (!other.file.empty()) {
          finding.details.push_back(fmt::format("call {}: {}:{}    {}", divergence.call, other.file, other.line,
                                                line_of(other.file, other.line)));
        }
        finding.remedy = "compute both sides and choose with tensors, so that the model has both";
        finding.snippet = branch_snippet(capture::location(divergence.location), other);
        return;
      }
      case Divergence::Kind::kNumber: {
        Finding& finding = add(Weight::kDiffers, "baked_number", divergence.location, what);
        const bool place = divergence.name == "storage_offset";  // of a part of a tensor
        finding.remedy = place ? "make the number a tensor: one that the node counts up as its state, or an input"
                               : "make the number a tensor and announce it";
        const ProgramName name = name_in(place ? index_in(finding.code) : finding.code, "", inputs_);
        finding.snippet = number_snippet(record_.name, name, finding.code);
        return;
      }
      case Divergence::Kind::kConstant: {
        Finding& finding = add(Weight::kDiffers, "missed_input", divergence.location, what);
        const ProgramName name = name_in(finding.code, divergence.name, inputs_);
        finding.remedy = "announce the tensor before the node reads it";
        finding.snippet = input_snippet(record_.name, name, finding.code);
        if (divergence.step.empty()) return;
        finding.details.push_back(fmt::format(
            "it grows by {} from each call to the next: the program counts outside of all nodes", divergence.step));
        finding.remedy =
            "let the node count, in a state of its own; or announce the tensor as an input and count on the robot";
        finding.snippet = counter_snippet(record_.name, name, divergence.step);
        return;
      }
      case Divergence::Kind::kEarlier: {
        Finding& finding = add(Weight::kDiffers, "kept_in_python", divergence.location, what);
        finding.remedy =
            "keep the queue in one tensor, and the place in it in an integer tensor that decides when to fill it: "
            "docs/concepts/state.md#queues has an example";
        return;
      }
      case Divergence::Kind::kValue:
        break;
    }
    Finding& finding = add(Weight::kDiffers, "changed", divergence.location, what);
    finding.remedy = "a node has to compute the same thing in every call; what differs has to be an input or state";
  }

  /// The port that a leak became, or nothing: it is a constant.
  static std::string port_of(const Leak& leak) {
    if (leak.uses.empty()) return "";
    const capture::Use& use = leak.uses.begin()->first;
    capture::ValuePtr value;
    std::size_t operand = 0;
    capture::for_each_operand(*use.op, [&](const capture::ValuePtr& item) {
      if (operand++ == use.operand) value = item;
    });
    // Of a part of it: the operators that cut the part out.
    while (value && value->kind == capture::TracedKind::kResult) value = value->op->arguments[0].tensor;
    return value && value->kind == capture::TracedKind::kInput ? value->origin->port : "";
  }

  static bool changes(const Leak& leak) {
    const auto differs = [](const capture::ContentPtr& a, const capture::ContentPtr& b) {
      return a && b && a->type().sizes == b->type().sizes && a->hash() != b->hash();
    };
    const capture::ContentPtr& first = leak.read.at(0);
    const auto other = [&](const auto& item) { return differs(first, item.second); };
    return std::any_of(leak.read.begin(), leak.read.end(), other) ||
           std::any_of(leak.next.begin(), leak.next.end(), other);
  }

  void add(const Leak& leak) {
    if (leak.declared || leak.read.empty()) return;
    const bool own = leak.source.node == record_.name && leak.source.port.empty();
    const std::string port = port_of(leak);
    if (port.empty() && !changes(leak)) return;
    const std::string source =
        leak.source.port.empty() ? "node '" + leak.source.node + "'" : leak.source.node + "/" + leak.source.port;
    std::string what = own ? fmt::format("node '{}' keeps {} from one call to the next without announcing it",
                                         record_.name, leak.name.empty() ? "a tensor" : "'" + leak.name + "'")
                           : fmt::format("node '{}' reads {} without announcing it", record_.name, source);
    what += port.empty() ? ". It is exported as the constant that it was in the first call"
                         : fmt::format(". It is exported as input '{}'", port);
    const char* kind = own ? "hidden_state" : "hidden_edge";
    Finding& finding = add(port.empty() ? Weight::kExplains : Weight::kNote, kind, leak.location, std::move(what));
    const ProgramName name = name_in(finding.code, leak.name, inputs_);
    finding.remedy = !port.empty() ? "announce it to give it a name of your own"
                     : own         ? "announce it as state"
                                   : "announce it as an input";
    finding.snippet = own ? state_snippet(record_.name, name) : input_snippet(record_.name, name, "");
  }

  void add(const Note& note) {
    if (note.kind == Note::Kind::kGlue) {
      Finding& finding = add(Weight::kNote, "glue", note.location,
                             fmt::format("{} stands between {} and {}/{} but in no node: the exported pipeline has no "
                                         "edge there, and {}/{} is an input from outside",
                                         note.op, note.source, note.node, note.port, note.node, note.port));
      finding.remedy = "move the line into a node";
      finding.snippet = glue_snippet(note.node, note.port, finding.code);
    } else if (note.kind == Note::Kind::kBakedNumber) {
      const graph::SourceLocation left = capture::location(note.left_at);
      Finding& finding = add(Weight::kExplains, "baked_number", note.location,
                             fmt::format("{} uses the number {}, which was read from a tensor{}. It is the same "
                                         "number in every step of the exported model",
                                         note.op, note.number, capture::at_line(note.left_at)));
      finding.remedy = "keep it a tensor";
      finding.snippet = without_escapes(line_of(left.file, left.line));
    } else {
      Finding& finding = add(Weight::kSuspect, "escape", note.location,
                             fmt::format("a value of node '{}' leaves the graph through {}; what the program does with "
                                         "it is not exported",
                                         note.node, note.op));
      finding.remedy = "keep it a tensor: torch.where for a branch, tensor arithmetic for a number";
    }
  }

  void add_random_operators() {
    graph::for_each_graph(node_.graph, [this](const graph::Graph& graph) {
      for (const auto& op : graph.nodes()) {
        if (op->is_random() && graph::graphs_of(*op).empty()) add_random_operator(*op);
      }
    });
  }

  void add_random_operator(const graph::Node& op) {
    Finding& finding = add(Weight::kNote, "random", 0,
                           fmt::format("{} draws random numbers: what node '{}' computes from them is not compared",
                                       op.qualified_name(), record_.name));
    locate(finding, op.location());
    const bool dropout = op.op().find("dropout") != std::string::npos;
    finding.remedy = dropout ? "if it is meant for training only, call eval() on the module before it is exported"
                             : "to have the model checked, draw the numbers outside and announce them as an input";
    const Assignment line = assignment_in(finding.code);
    if (!dropout && !line.target.empty() && line.target != "return") {
      finding.snippet = fmt::format("{} = annotate.input_tensors(\"{}\", {{\"{}\": {}}})", line.target, record_.name,
                                    line.target, line.expression);
    }
  }

  void add(const capture::ConstantCell& cell) {
    if (!cell.is_random() || !cell.provenance || !cell.provenance->origin) return;
    const capture::Origin& from = *cell.provenance->origin;
    Finding& finding = add(Weight::kExplains, "random_constant", cell.location,
                           fmt::format("node '{}' uses a random tensor that {}{} made from nothing of the node's "
                                       "inputs. It is exported as a constant: the same numbers in every step",
                                       record_.name, from.node, capture::at_line(from.location)));
    const graph::SourceLocation drawn = capture::location(from.location);
    const Assignment line = assignment_in(line_of(drawn.file, drawn.line));
    const bool named = !line.target.empty() && line.target != "return";
    finding.remedy = "announce it as an input, so that whoever deploys the model draws it";
    finding.snippet = input_snippet(record_.name, name_in(finding.code, named ? line.target : "", inputs_), "");
  }

  const PreparedNode& node_;
  const NodeRecord& record_;
  const capture::CaptureResult& recording_;
  std::vector<Suspect>& found_;
  std::vector<std::string> inputs_;
  std::map<const Divergence*, std::size_t> first_of_;  // where in found_
};

}  // namespace

std::vector<Suspect> find_suspects(const std::vector<PreparedNode>& nodes, const capture::CaptureResult& recording) {
  const capture::Suppress quiet;
  std::vector<Suspect> found;
  for (const PreparedNode& node : nodes) NodeSuspects(node, recording, found).find();
  return found;
}

}  // namespace leapp::exporter
