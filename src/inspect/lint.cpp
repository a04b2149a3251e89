// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "inspect/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "base/text.h"
#include "inspect/spec_json.h"
#include "inspect/words.h"

namespace leapp::inspect {
namespace {

using bundle::PortIndex;

/// The kinds of python/leapp/kinds.py, and others that consumers know. Any other text is a kind, too.
constexpr std::array kKnownKinds = std::to_array<std::string_view>({"command/body/pose",
                                                                    "command/body/rotation",
                                                                    "command/body/target_position",
                                                                    "command/body/target_rotation",
                                                                    "command/body/velocity",
                                                                    "command/body/velocity_height",
                                                                    "command/joint/position",
                                                                    "command/joint/torques",
                                                                    "command/joint/velocity",
                                                                    "frame/acceleration",
                                                                    "frame/angular_acceleration",
                                                                    "frame/angular_velocity",
                                                                    "frame/linear_acceleration",
                                                                    "frame/linear_velocity",
                                                                    "frame/orientation",
                                                                    "frame/pose",
                                                                    "frame/position",
                                                                    "frame/twist",
                                                                    "frame/wrench",
                                                                    "image",
                                                                    "joint/effort",
                                                                    "joint/position",
                                                                    "joint/velocity",
                                                                    "kd",
                                                                    "kp",
                                                                    "state/body/acceleration",
                                                                    "state/body/angular_acceleration",
                                                                    "state/body/angular_velocity",
                                                                    "state/body/linear_acceleration",
                                                                    "state/body/linear_velocity",
                                                                    "state/body/pose",
                                                                    "state/body/position",
                                                                    "state/body/rotation",
                                                                    "state/body/velocity",
                                                                    "state/camera/image",
                                                                    "state/joint/effort",
                                                                    "state/joint/position",
                                                                    "state/joint/velocity",
                                                                    "state/vector3d",
                                                                    "state/wrench",
                                                                    "target/body/angular_acceleration",
                                                                    "target/body/linear_acceleration",
                                                                    "target/body/linear_velocity",
                                                                    "target/body/orientation",
                                                                    "target/body/position",
                                                                    "target/joint/effort",
                                                                    "target/joint/position",
                                                                    "target/joint/torques",
                                                                    "target/joint/velocity",
                                                                    "target/tendon/position",
                                                                    "vector3d"});
constexpr std::size_t kMostTypos = 2;

/// A port of either direction.
struct End {
  PortIndex at;
  bool output = false;

  auto operator<=>(const End&) const = default;
};

class Linter {
 public:
  explicit Linter(const OpenedBundle& opened) : spec_(opened.spec), wiring_(opened.report.wiring) {
    for (const PortIndex at : wiring_.inputs) visible_.insert({at, false});
    for (const PortIndex at : wiring_.outputs) visible_.insert({at, true});
  }

  std::vector<CheckFinding> run() {
    clashes();
    for (const bundle::Edge& edge : wiring_.edges) element_names(edge);
    kinds_twice(false);
    kinds_twice(true);
    mistyped_kinds();
    repeated_names();
    written_gains();
    frequency();
    missing_kinds();
    other_dtypes();
    return std::move(findings_);
  }

 private:
  void add(Severity severity, std::string place, std::string message, std::string remedy) {
    findings_.push_back({severity, std::move(place), std::move(message), std::move(remedy)});
  }

  [[nodiscard]] const bundle::Port& port(const End& end) const {
    const bundle::Model& model = spec_.models[end.at.node];
    return (end.output ? model.outputs : model.inputs)[end.at.port];
  }
  [[nodiscard]] std::string name(const End& end) const {
    return end.output ? output_name(spec_, end.at) : input_name(spec_, end.at);
  }

  template <typename Visit>
  void each_end(Visit visit) const {
    for (std::size_t node = 0; node < spec_.models.size(); ++node) {
      for (std::size_t i = 0; i < spec_.models[node].inputs.size(); ++i) visit(End{{node, i}, false});
      for (std::size_t i = 0; i < spec_.models[node].outputs.size(); ++i) visit(End{{node, i}, true});
    }
  }

  // Ports of one name are one thing when edges between them join them all.
  [[nodiscard]] std::vector<End> apart(const std::vector<End>& ends) const {
    std::vector<std::size_t> group(ends.size());
    std::iota(group.begin(), group.end(), std::size_t{0});
    const auto find = [&](const End& end) { return std::find(ends.begin(), ends.end(), end); };
    for (const bundle::Edge& edge : wiring_.edges) {
      const auto from = find({edge.from, true});
      const auto to = find({edge.to, false});
      if (from == ends.end() || to == ends.end()) continue;
      const std::size_t old = group[static_cast<std::size_t>(to - ends.begin())];
      std::replace(group.begin(), group.end(), old, group[static_cast<std::size_t>(from - ends.begin())]);
    }
    // What the caller sees speaks for its group.
    std::map<std::size_t, End> speakers;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto [at, added] = speakers.emplace(group[i], ends[i]);
      if (!added && visible_.contains(ends[i])) at->second = ends[i];
    }
    std::vector<End> result;
    for (const auto& [unused, end] : speakers) result.push_back(end);
    return result;
  }

  void clashes() {
    std::map<std::string, std::vector<End>> names;
    each_end([&](const End& end) { names[port(end).name].push_back(end); });
    for (const auto& [shared, all] : names) {
      const std::size_t node = all.front().at.node;
      const bool one_node = std::all_of(all.begin(), all.end(), [node](const End& end) { return end.at.node == node; });
      if (one_node) continue;
      const std::vector<End> ends = apart(all);
      if (ends.size() < 2) continue;
      const auto seen = std::count_if(ends.begin(), ends.end(), [&](const End& end) { return visible_.contains(end); });
      std::vector<std::string> where;
      for (const End& end : ends) where.push_back(name(end) + (end.output ? " (output)" : " (input)"));
      add(seen > 1 ? Severity::kWarning : Severity::kNote, where.front(),
          fmt::format("the name {} stands for different things: {}", quote(shared), join(where, ", ")),
          "give them different names if a consumer goes by port names alone");
    }
  }

  void element_names(const bundle::Edge& edge) {
    const bundle::Port& from = port({edge.from, true});
    const bundle::Port& to = port({edge.to, false});
    if (!from.element_names || !to.element_names || *from.element_names == *to.element_names) return;
    const std::string place = fmt::format("{} -> {}", name({edge.from, true}), name({edge.to, false}));
    add(Severity::kWarning, place, first_difference(*from.element_names, *to.element_names),
        "give both ports the same element names, in the same order");
  }

  static std::string first_difference(const std::vector<bundle::AxisNames>& from,
                                      const std::vector<bundle::AxisNames>& to) {
    for (std::size_t axis = 0; axis < std::min(from.size(), to.size()); ++axis) {
      if (from[axis] == to[axis]) continue;
      if (!from[axis] || !to[axis]) return fmt::format("axis {}: only one of the two ports names its elements", axis);
      const auto [a, b] = std::mismatch(from[axis]->begin(), from[axis]->end(), to[axis]->begin(), to[axis]->end());
      const auto text = [](const auto& at, const auto& names) { return at == names.end() ? "nothing" : quote(*at); };
      return fmt::format("axis {}, element {}: {} becomes {}", axis, a - from[axis]->begin(), text(a, *from[axis]),
                         text(b, *to[axis]));
    }
    return fmt::format("{} axes are named on one side, {} on the other", from.size(), to.size());
  }

  void kinds_twice(bool output) {
    std::map<std::string, std::vector<std::string>> kinds;
    for (const End& end : visible_) {
      if (end.output == output && port(end).kind) kinds[*port(end).kind].push_back(name(end));
    }
    for (const auto& [kind, names] : kinds) {
      if (names.size() < 2) continue;
      add(Severity::kWarning, names.front(),
          fmt::format("the kind {} is used {} times among the {}: {}", quote(kind), names.size(),
                      output ? "outputs" : "inputs", join(names, ", ")),
          "give each a kind of its own, or make them one port");
    }
  }

  void mistyped_kinds() {
    const std::vector<std::string> known(kKnownKinds.begin(), kKnownKinds.end());
    each_end([&](const End& end) {
      if (!port(end).kind) return;
      const std::string meant = closest(*port(end).kind, known, kMostTypos);
      if (meant.empty() || meant == *port(end).kind) return;
      add(Severity::kWarning, name(end),
          fmt::format("the kind {} is unknown; did you mean {}?", quote(*port(end).kind), quote(meant)),
          "correct it, or ignore this if it is a kind of your own");
    });
  }

  void repeated_names() {
    each_end([&](const End& end) {
      if (!port(end).element_names) return;
      for (const bundle::AxisNames& axis : *port(end).element_names) {
        if (!axis) continue;
        std::set<std::string> seen;
        for (const std::string& element : *axis) {
          if (seen.insert(element).second) continue;
          add(Severity::kWarning, name(end), fmt::format("the element name {} occurs more than once", quote(element)),
              "give every element a name of its own: NameMap binds by name");
          break;
        }
      }
    });
  }

  void missing_kinds() {
    for (const End& end : visible_) {
      if (end.output || port(end).kind) continue;
      add(Severity::kNote, name(end), "the input has no kind: nothing says what belongs in it",
          "annotate it with TensorSemantics(name, tensor, kind=...)");
    }
  }

  void other_dtypes() {
    each_end([&](const End& end) {
      if (!visible_.contains(end) || port(end).dtype == DType::kFloat32) return;
      add(Severity::kNote, name(end),
          fmt::format("expected float32, as most consumers do, found {}", dtype_name(port(end).dtype)),
          "convert it inside the node");
    });
  }

  void frequency() {
    const auto& configs = spec_.pipeline.configs;
    const auto found =
        std::find_if(configs.begin(), configs.end(), [](const auto& one) { return one.first == "frequency"; });
    const std::string remedy = "compile_graph(graph_configs=GraphConfigs(frequency=50))";
    if (found == configs.end()) {
      add(Severity::kNote, "pipeline.configs", "no frequency: nothing says how often the pipeline is to be stepped",
          remedy);
      return;
    }
    const auto* number = std::get_if<double>(&found->second.data);
    const auto* integer = std::get_if<std::int64_t>(&found->second.data);
    if ((number != nullptr && *number > 0) || (integer != nullptr && *integer > 0)) return;
    add(Severity::kWarning, "pipeline.configs.frequency",
        fmt::format("expected a number of Hz above 0, found {}", quote(value_text(found->second))), remedy);
  }

  // Gains may also be written beside a port, under the keys kp and kd.
  void written_gains() {
    each_end([&](const End& end) {
      for (const auto& [key, value] : port(end).extra) {
        if ((key != "kp" && key != "kd") || !all_zero(value)) continue;
        add(Severity::kWarning, name(end), fmt::format("all of {} is zero: the joints would not be held", key),
            "write the gains that the policy was trained with");
      }
    });
  }

  static bool all_zero(const bundle::YamlValue& value) {
    if (const auto* number = std::get_if<double>(&value.data)) return *number == 0;
    if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return *integer == 0;
    if (const auto* list = std::get_if<bundle::YamlList>(&value.data)) {
      return !list->empty() && std::all_of(list->begin(), list->end(), all_zero);
    }
    if (const auto* map = std::get_if<bundle::YamlMap>(&value.data)) {
      return !map->empty() &&
             std::all_of(map->begin(), map->end(), [](const auto& one) { return all_zero(one.second); });
    }
    return false;
  }

  const bundle::BundleSpec& spec_;
  const bundle::Wiring& wiring_;
  std::set<End> visible_;
  std::vector<CheckFinding> findings_;
};

}  // namespace

std::vector<CheckFinding> lint(const OpenedBundle& opened) { return Linter(opened).run(); }

bool is_gain(const bundle::Port& port) {
  const auto gain = [](const std::string& text) { return text == "kp" || text == "kd"; };
  return gain(port.name) || (port.kind && gain(*port.kind));
}

}  // namespace leapp::inspect
