// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/history/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/history/dependence.h"
#include "graph/history/ring.h"

namespace leapp::graph {
namespace {

using From = StageInput::From;

class Finder {
 public:
  explicit Finder(const Stages& stages) : stages_(stages), origins_(stages) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      for (std::size_t k = 0; k < stages[i].outputs.size(); ++k) note_published({i, k});
    }
  }

  std::vector<FoundHistory> run() {
    std::vector<FoundHistory> found;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      for (std::size_t k = 0; k < stages_[i].inputs.size(); ++k) {
        if (auto history = look_at({i, k})) found.push_back(std::move(*history));
      }
    }
    follow_delays(found);
    drop_circles(found);
    return found;
  }

 private:
  [[nodiscard]] const StageInput& input(StagePort at) const { return stages_[at.stage].inputs[at.port]; }

  void note_published(StagePort output) {
    const Stage& stage = stages_[output.stage];
    if (!stage.published[output.port] || element_count(stage.outputs[output.port].shape) > Origins::kMost) return;
    for (const PipelineElement& element : origins_.of(output)) {
      if (!element.constant && !origins_.input_of(element)) published_.insert(element.value);
    }
  }

  std::optional<FoundHistory> look_at(StagePort state) {
    const StageInput& port = input(state);
    if (port.from != From::kLastStep || (port.declared && port.declared->empty())) return std::nullopt;
    FoundHistory found{.state = state, .parts = {}, .why = {}, .refused = false};
    if (element_count(port.type.shape) <= Origins::kMost) find_parts(found);
    if (port.declared && !agrees(found)) declare(found);
    if (found.parts.empty() && found.why.empty()) return std::nullopt;
    return found;
  }

  void find_parts(FoundHistory& found) {
    const StageInput& port = input(found.state);
    const PipelineElements& next = origins_.of(port.source);
    if (is_delay(found, next)) return;
    if (const auto ring = find_ring(stages_, origins_, found.state)) {
      found.parts.push_back(*ring);
      return;
    }
    std::vector<std::int64_t> places;
    for (const PipelineElement& element : next) {
      const auto at = origins_.input_of(element);
      places.push_back(at == found.state ? element.index : kNew);
    }
    for (const FrameLayout& layout : find_frames(port.type.shape, places)) {
      if (auto part = part_of(found, layout, next)) found.parts.push_back(std::move(*part));
    }
  }

  // The whole of another state: one place of a list or deque.
  bool is_delay(FoundHistory& found, const PipelineElements& next) {
    if (next.empty()) return false;
    const auto first = origins_.input_of(next.front());
    if (!first || *first == found.state || input(*first).from != From::kLastStep) return false;
    if (!is_whole(next, *first) || input(*first).type != input(found.state).type) return false;
    delays_[found.state] = *first;
    found.parts.push_back({.layout = {}, .from = FoundPart::From::kState, .source = *first, .made = {}});
    return true;
  }

  [[nodiscard]] bool is_whole(const PipelineElements& elements, StagePort of) const {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (origins_.input_of(elements[i]) != of || elements[i].index != static_cast<std::int64_t>(i)) return false;
    }
    return std::ssize(elements) == element_count(input(of).type.shape);
  }

  std::optional<FoundPart> part_of(FoundHistory& found, const FrameLayout& layout, const PipelineElements& next) {
    const StageInput& port = input(found.state);
    PipelineElements frame;
    for (const std::int64_t place : newest_frame(port.type.shape, layout)) {
      frame.push_back(next[static_cast<std::size_t>(place)]);
    }
    const Dependence all = dependence_of(frame);
    const auto given = [&](StagePort at) { return input(at).from == From::kCaller; };
    if (all.inputs.contains(found.state) || std::none_of(all.inputs.begin(), all.inputs.end(), given)) {
      return std::nullopt;
    }
    if (!port.declared && !is_observed(found, layout, frame, all)) return std::nullopt;
    FoundPart part{.layout = layout, .from = FoundPart::From::kNext, .source = {}, .made = {}};
    part.made.assign(all.inputs.begin(), all.inputs.end());
    const auto first = origins_.input_of(frame.front());
    if (first && given(*first) && is_whole(frame, *first) && input(*first).type.dtype == port.type.dtype) {
      part.from = FoundPart::From::kInput;
      part.source = *first;
      part.made.clear();
    }
    return part;
  }

  Dependence dependence_of(const PipelineElements& frame) {
    Dependence all;
    std::set<std::pair<std::size_t, const Value*>> seen;
    for (const PipelineElement& element : frame) {
      const bool known = element.value != nullptr && !seen.insert({element.stage, element.value}).second;
      if (known) continue;
      const Dependence one = origins_.dependence(element);
      all.inputs.insert(one.inputs.begin(), one.inputs.end());
      all.weighted = all.weighted || one.weighted;
    }
    return all;
  }

  /// Whether what is new can be taken for observations. Says why not where the state is shifted.
  bool is_observed(FoundHistory& found, const FrameLayout& layout, const PipelineElements& frame,
                   const Dependence& all) const {
    const bool given_out = std::any_of(frame.begin(), frame.end(), [&](const PipelineElement& element) {
      return !element.constant && published_.contains(element.value);
    });
    if (!all.weighted && !given_out) return true;
    if (layout.frames > 1) {
      found.why = given_out ? "what is put into it is also an output, so it may be a history of actions"
                            : "what is put into it was computed with weights, so it may not be an observation";
    }
    return false;
  }

  /// Whether what was found has to do with the input that the program named.
  [[nodiscard]] bool agrees(const FoundHistory& found) const {
    if (found.parts.empty()) return false;
    const auto named = [&](StagePort at) {
      return at.stage == found.state.stage && input(at).name == *input(found.state).declared;
    };
    const auto made_of = [&](const FoundPart& part) {
      if (part.from == FoundPart::From::kState) return true;
      return named(part.source) || std::any_of(part.made.begin(), part.made.end(), named) || feeds(found, part);
    };
    return std::all_of(found.parts.begin(), found.parts.end(), made_of);
  }

  /// Whether the named input is another stage's output that depends on what the part depends on.
  [[nodiscard]] bool feeds(const FoundHistory& found, const FoundPart& part) const {
    for (const StageInput& port : stages_[found.state.stage].inputs) {
      if (port.name == *input(found.state).declared && port.from == From::kSameStep) return !part.made.empty();
    }
    return false;
  }

  /// As the program says: copies of the input that it names.
  void declare(FoundHistory& found) {
    const std::string& name = *input(found.state).declared;
    found.parts.clear();
    const auto& inputs = stages_[found.state.stage].inputs;
    const auto named = std::find_if(inputs.begin(), inputs.end(), [&](const StageInput& p) { return p.name == name; });
    if (named == inputs.end()) return refuse(found, "there is no such input that reaches an output");
    if (named->from != From::kCaller) {
      return refuse(found, named->from == From::kLastStep
                               ? "that is state itself"
                               : "another node gives it in the same step, and the state's update does not shift it and "
                                 "put that value in the place that is free");
    }
    const auto layouts = frames_like(input(found.state).type, named->type);
    if (layouts.size() != 1) {
      return refuse(found, layouts.empty() ? "no axis of the state has frames of that shape"
                                           : "more than one axis of the state could have frames of that shape");
    }
    found.why.clear();
    const StagePort at{found.state.stage, static_cast<std::size_t>(named - inputs.begin())};
    found.parts.push_back({.layout = layouts[0], .from = FoundPart::From::kInput, .source = at, .made = {}});
  }

  void refuse(FoundHistory& found, const char* why) const {
    found.refused = true;
    found.why = why;
  }

  // A delay of a delay is one of the first in the row; what delays no history is none.
  void follow_delays(std::vector<FoundHistory>& found) {
    const auto find = [&](StagePort state) {
      return std::find_if(found.begin(), found.end(), [&](const FoundHistory& one) { return one.state == state; });
    };
    for (FoundHistory& one : found) {
      if (one.parts.size() != 1 || one.parts[0].from != FoundPart::From::kState) continue;
      StagePort first = one.parts[0].source;
      std::set<StagePort> seen{one.state};
      while (delays_.contains(first) && seen.insert(first).second) first = delays_.at(first);
      const auto source = find(first);
      const bool whole = source != found.end() && !delays_.contains(first) && source->parts.size() == 1 &&
                         !source->parts[0].layout.axis;
      if (!whole) {
        one.parts.clear();
      } else if (source->parts[0].from == FoundPart::From::kInput) {
        one.parts = source->parts;
      } else {
        one.parts[0].source = first;
      }
    }
    std::erase_if(found, [](const FoundHistory& one) { return one.parts.empty() && one.why.empty(); });
  }

  // Histories that depend on each other have no first frame.
  void drop_circles(std::vector<FoundHistory>& found) {
    std::map<StagePort, std::set<StagePort>> needs;
    for (const FoundHistory& one : found) {
      for (const FoundPart& part : one.parts) {
        needs[one.state].insert(part.made.begin(), part.made.end());
        if (part.from == FoundPart::From::kState) needs[one.state].insert(part.source);
      }
    }
    bool changed = true;
    while (changed) {  // takes away what needs nothing that is left
      changed = false;
      for (auto at = needs.begin(); at != needs.end();) {
        const auto waits = [&](StagePort other) { return needs.contains(other); };
        const bool free = std::none_of(at->second.begin(), at->second.end(), waits);
        at = free ? needs.erase(at) : std::next(at);
        changed = changed || free;
      }
    }
    for (FoundHistory& one : found) {
      if (!needs.contains(one.state)) continue;
      one.parts.clear();
      one.why = "what is put into it depends on a history that depends on it";
      one.refused = input(one.state).declared.has_value();
    }
  }

  const Stages& stages_;
  PipelineOrigins origins_;
  std::set<const Value*> published_;  ///< computed values that the caller gets
  std::map<StagePort, StagePort> delays_;
};

}  // namespace

std::vector<FoundHistory> find_histories(const Stages& stages) { return Finder(stages).run(); }

}  // namespace leapp::graph
