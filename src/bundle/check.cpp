// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "leapp/bundle/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "leapp/bundle/format.h"
#include "leapp/bundle/history.h"
#include "leapp/bundle/reader.h"

namespace leapp::bundle {
namespace {

constexpr std::size_t kMostMessages = 10;
constexpr std::size_t kMostProblems = 1000;  // what a person might still read

std::string name_of(const BundleSpec& spec, PortIndex at, bool output) {
  const Model& model = spec.models[at.node];
  return model.name + "/" + (output ? model.outputs : model.inputs)[at.port].name;
}

// A name that is one of a port has a bound; others come as the file has them.
std::string brief(const std::string& name) {
  constexpr std::size_t kLongest = 2 * kLongestName + 1;
  constexpr std::size_t kShown = 200;
  return name.size() <= kLongest ? name : name.substr(0, kShown) + "...";
}

/// What an output says of itself, if it does.
std::optional<bool> says_state(const Port& port) {
  for (const auto& [key, value] : port.extra) {
    const bool* said = key == kStateKey ? std::get_if<bool>(&value.data) : nullptr;
    if (said != nullptr) return *said;
  }
  return std::nullopt;
}

/// Whether an output of that name feeds the input of its own node that has its name.
bool feeds_itself(const std::string& output, const std::vector<std::string>& targets) {
  const std::string input = output.ends_with("_out") ? output.substr(0, output.size() - 4) + "_in" : output;
  return std::any_of(targets.begin(), targets.end(),
                     [&](const std::string& to) { return to == output || to == input; });
}

/// Goes through a spec once and collects what is wrong with it.
class Resolver {
 public:
  explicit Resolver(const BundleSpec& spec) : spec_(spec) {
    for (std::size_t i = 0; i < spec.models.size(); ++i) {
      nodes_.insert(spec.models[i].name);
      for (std::size_t k = 0; k < spec.models[i].inputs.size(); ++k) inputs_[name_of(spec, {i, k}, false)] = {i, k};
      for (std::size_t k = 0; k < spec.models[i].outputs.size(); ++k) outputs_[name_of(spec, {i, k}, true)] = {i, k};
    }
  }

  WiringReport run() {
    edges("data_flow", spec_.pipeline.data_flow, false);
    edges("feedback_flow", spec_.pipeline.feedback_flow, true);
    ends("inputs", spec_.pipeline.inputs, false);
    ends("outputs", spec_.pipeline.outputs, true);
    unrouted();
    unlisted();
    order();
    if (more_ > 0) report_.problems.push_back(invalid_argument(fmt::format("pipeline: {} more problems", more_)));
    return std::move(report_);
  }

 private:
  using Ports = std::unordered_map<std::string, PortIndex>;

  template <typename... Args>
  void problem(fmt::format_string<Args...> text, Args&&... args) {
    if (report_.problems.size() >= kMostProblems) {
      ++more_;
      return;
    }
    report_.problems.push_back(invalid_argument(fmt::format(text, std::forward<Args>(args)...)));
  }

  const PortIndex* find(const Ports& ports, const std::string& name, const std::string& place) {
    const auto found = ports.find(name);
    if (found != ports.end()) return &found->second;
    const std::string node = name.substr(0, name.find('/'));
    const char* what = &ports == &inputs_ ? "input" : "output";
    if (nodes_.contains(node)) {
      problem("{}: node {} has no {} {}", place, quote_brief(node), what, quote_brief(name));
    } else {
      problem("{}: there is no node {}, so no {} {}", place, quote_brief(node), what, quote_brief(name));
    }
    return nullptr;
  }

  void feed(PortIndex input, const std::string& source, const std::string& place) {
    const auto [at, first] = sources_.emplace(input, source);
    if (first) return;
    problem("{}: {} already has a source, {}", place, name_of(spec_, input, false), at->second);
  }

  void edges(const char* key, const EdgeMap& map, bool feedback) {
    for (const auto& [from, targets] : map) {
      const std::string place = fmt::format("pipeline.{}[{}]", key, brief(from));
      const PortIndex* output = find(outputs_, from, place);
      if (output != nullptr) used_.emplace(*output, true);
      for (const std::string& to : targets) {
        const PortIndex* input = find(inputs_, to, place);
        if (input == nullptr) continue;
        feed(*input, fmt::format("{} in {}", from, key), place);
        if (output != nullptr) edge({*output, *input, feedback}, place);
      }
    }
  }

  void edge(const Edge& edge, const std::string& place) {
    const Port& from = spec_.models[edge.from.node].outputs[edge.from.port];
    const Port& to = spec_.models[edge.to.node].inputs[edge.to.port];
    if (from.dtype != to.dtype || from.shape != to.shape) {
      problem("{}: {} is {}, {} is {}", place, name_of(spec_, edge.to, false), type_text(to.dtype, to.shape),
              name_of(spec_, edge.from, true), type_text(from.dtype, from.shape));
    }
    report_.wiring.edges.push_back(edge);
  }

  void ends(const char* key, const NodePorts& nodes, bool output) {
    for (const auto& [node, ports] : nodes) {
      const std::string place = fmt::format("pipeline.{}[{}]", key, brief(node));
      for (const std::string& port : ports) {
        const PortIndex* at = find(output ? outputs_ : inputs_, node + "/" + port, place);
        if (at == nullptr) continue;
        if (!output) {
          feed(*at, "the caller", place);
          report_.wiring.inputs.push_back(*at);
        } else if (published_.emplace(*at, true).second) {
          used_.emplace(*at, true);
          report_.wiring.outputs.push_back(*at);
        } else {
          problem("{}: {} occurs twice", place, node + "/" + port);
        }
      }
    }
  }

  void unrouted() {
    for (std::size_t i = 0; i < spec_.models.size(); ++i) {
      for (std::size_t k = 0; k < spec_.models[i].inputs.size(); ++k) {
        if (sources_.contains({i, k})) continue;
        problem("models.{}: nothing feeds the input {}: it is in no flow and not in pipeline.inputs",
                spec_.models[i].name, name_of(spec_, {i, k}, false));
      }
      for (std::size_t k = 0; k < spec_.models[i].outputs.size(); ++k) {
        if (used_.contains({i, k})) continue;
        problem("models.{}: the output {} goes nowhere: it is in no flow and not in pipeline.outputs",
                spec_.models[i].name, name_of(spec_, {i, k}, true));
      }
    }
  }

  // What the program announced and no node reads in the same step is for the caller too.
  void unlisted() {
    std::map<PortIndex, bool> read;  // whether in the same step
    for (const Edge& edge : report_.wiring.edges) {
      bool& now = read[edge.from];
      now = now || !edge.feedback;
    }
    const std::set<PortIndex> state = fed_back_to_themselves();
    const auto is_state = [&](PortIndex at) {
      return says_state(spec_.models[at.node].outputs[at.port]).value_or(state.contains(at));
    };
    std::vector<PortIndex>& outputs = report_.wiring.outputs;
    for (const auto& [output, now] : read) {
      if (!now && !published_.contains(output) && !is_state(output)) outputs.push_back(output);
    }
    if (!outputs.empty()) return;
    // A pipeline that gave nothing would be of no use: an output has the name of the input that it feeds.
    for (const auto& [output, now] : read) {
      if (!now) outputs.push_back(output);
    }
  }

  [[nodiscard]] std::set<PortIndex> fed_back_to_themselves() const {
    std::set<PortIndex> found;
    for (const auto& [from, targets] : spec_.pipeline.feedback_flow) {
      const auto output = outputs_.find(from);
      if (output != outputs_.end() && feeds_itself(from, targets)) found.insert(output->second);
    }
    return found;
  }

  void order() {
    std::vector<std::vector<std::size_t>> consumers(spec_.models.size());
    std::vector<std::size_t> waits(spec_.models.size(), 0);
    for (const Edge& edge : report_.wiring.edges) {
      if (edge.feedback) continue;
      consumers[edge.from.node].push_back(edge.to.node);
      ++waits[edge.to.node];
    }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i] == 0) ready.push(i);
    }
    while (!ready.empty()) {
      const std::size_t node = ready.top();
      ready.pop();
      report_.wiring.order.push_back(node);
      for (const std::size_t consumer : consumers[node]) {
        if (--waits[consumer] == 0) ready.push(consumer);
      }
    }
    if (report_.wiring.order.size() < waits.size()) name_cycle(waits);
  }

  // Each node that still waits has a producer that still waits: walking back must come round.
  void name_cycle(const std::vector<std::size_t>& waits) {
    std::vector<std::size_t> producer(waits.size(), waits.size());
    for (const Edge& edge : report_.wiring.edges) {
      if (!edge.feedback && waits[edge.from.node] > 0 && waits[edge.to.node] > 0)
        producer[edge.to.node] = edge.from.node;
    }
    auto at = static_cast<std::size_t>(
        std::find_if(waits.begin(), waits.end(), [](std::size_t count) { return count > 0; }) - waits.begin());
    for (std::size_t i = 0; i < waits.size(); ++i) at = producer[at];
    std::vector<std::string> names{spec_.models[at].name};
    for (std::size_t next = producer[at]; next != at; next = producer[next]) names.push_back(spec_.models[next].name);
    names.push_back(names.front());
    std::reverse(names.begin(), names.end());
    problem("pipeline.data_flow: a cycle: {}; the edge that closes it belongs in feedback_flow", join(names, " -> "));
  }

  const BundleSpec& spec_;
  Ports inputs_;
  Ports outputs_;
  std::unordered_set<std::string> nodes_;
  std::map<PortIndex, std::string> sources_;
  std::map<PortIndex, bool> used_;
  std::map<PortIndex, bool> published_;
  WiringReport report_;
  std::size_t more_ = 0;  ///< problems beyond those that are kept
};

}  // namespace

bool is_state_output(const BundleSpec& spec, PortIndex output) {
  const Model& model = spec.models[output.node];
  const Port& port = model.outputs[output.port];
  if (const auto said = says_state(port)) return *said;
  const std::string name = model.name + "/" + port.name;
  return std::any_of(spec.pipeline.feedback_flow.begin(), spec.pipeline.feedback_flow.end(),
                     [&](const auto& row) { return row.first == name && feeds_itself(name, row.second); });
}

WiringReport resolve_wiring(const BundleSpec& spec) {
  WiringReport report = Resolver(spec).run();
  if (report.problems.empty()) report.problems = find_history_problems(spec, report.wiring);
  return report;
}

Result<Wiring> check_wiring(const BundleSpec& spec) {
  WiringReport report = resolve_wiring(spec);
  LEAPP_RETURN_IF_ERROR(join_problems(report.problems));
  return std::move(report.wiring);
}

std::vector<Status> find_model_problems(const BundleSpec& spec) {
  std::vector<Status> problems;
  for (const Model& model : spec.models) {
    const ModelParameters& parameters = model.parameters;
    if (!parameters.model_path || !parameters.backend) {
      problems.push_back(
          invalid_argument(fmt::format("models.{}: the node has no model (its {} is null), so the pipeline cannot run",
                                       model.name, parameters.model_path ? "backend" : "model_path")));
    } else if (!parameters.format()) {
      problems.push_back(invalid_argument(fmt::format("models.{}.parameters.backend: expected {}, found {}", model.name,
                                                      format_names(), quote(*parameters.backend))));
    }
  }
  return problems;
}

Status join_problems(const std::vector<Status>& problems) {
  if (problems.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < problems.size() && i < kMostMessages; ++i) {
    text += (i == 0 ? "" : "\n") + problems[i].message();
  }
  if (problems.size() > kMostMessages) text += fmt::format("\nand {} more", problems.size() - kMostMessages);
  return {problems.front().code(), std::move(text)};
}

}  // namespace leapp::bundle
