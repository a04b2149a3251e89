// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "inspect/differences.h"
#include "inspect/spec_json.h"
#include "leapp/bundle/port_entry.h"

namespace leapp::inspect {
namespace {

/// Places in the order of A, then those only B has, with what either side says there.
class Sides {
 public:
  void add(const std::string& place, const std::string& text, bool in_a) {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.place == place; });
    Row& row = found == rows_.end() ? rows_.emplace_back(Row{place, "", ""}) : *found;
    (in_a ? row.a : row.b) = text;
  }

  void report(const std::string& what, std::vector<BundleDifference>& differences) const {
    for (const Row& row : rows_) {
      if (row.a != row.b) differences.push_back({what, row.place, row.a, row.b, std::nullopt});
    }
  }

 private:
  struct Row {
    std::string place;
    std::string a;
    std::string b;
  };

  std::vector<Row> rows_;
};

using Collect = std::function<void(const bundle::BundleSpec& spec, Sides& sides, bool in_a)>;

void add_edges(const bundle::EdgeMap& edges, const char* kind, Sides& sides, bool in_a) {
  for (const auto& [from, targets] : edges) {
    for (const std::string& to : targets) sides.add(from + " -> " + to, kind, in_a);
  }
}

void add_ends(const bundle::NodePorts& nodes, const char* kind, Sides& sides, bool in_a) {
  for (const auto& [node, ports] : nodes) {
    for (const std::string& port : ports) sides.add(fmt::format("{}/{} ({})", node, port, kind), "the caller's", in_a);
  }
}

template <typename Visit>
void each_port(const bundle::BundleSpec& spec, Visit visit) {
  for (const bundle::Model& model : spec.models) {
    for (const bundle::Port& port : model.inputs) visit(fmt::format("{}/{} (input)", model.name, port.name), port);
    for (const bundle::Port& port : model.outputs) visit(fmt::format("{}/{} (output)", model.name, port.name), port);
  }
}

void add_meaning(const std::string& place, const bundle::Port& port,
                 const std::function<void(std::string, std::string)>& add) {
  for (const auto& [key, value] : bundle::semantics_entry(port)) add(place + ": " + key, value_text(value));
}

std::vector<std::pair<std::string, Collect>> collectors() {
  return {
      {"node",
       [](const bundle::BundleSpec& spec, Sides& sides, bool in_a) {
         for (const bundle::Model& model : spec.models) sides.add(model.name, "there", in_a);
       }},
      {"edge",
       [](const bundle::BundleSpec& spec, Sides& sides, bool in_a) {
         add_edges(spec.pipeline.data_flow, "data flow", sides, in_a);
         add_edges(spec.pipeline.feedback_flow, "feedback", sides, in_a);
       }},
      {"interface",
       [](const bundle::BundleSpec& spec, Sides& sides, bool in_a) {
         add_ends(spec.pipeline.inputs, "input", sides, in_a);
         add_ends(spec.pipeline.outputs, "output", sides, in_a);
       }},
      {"port",
       [](const bundle::BundleSpec& spec, Sides& sides, bool in_a) {
         each_port(spec, [&](const std::string& place, const bundle::Port& port) {
           sides.add(place, type_text(port.dtype, port.shape) + (port.type == "tensor" ? "" : " " + port.type), in_a);
         });
       }},
      {"semantics",
       [](const bundle::BundleSpec& spec, Sides& sides, bool in_a) {
         each_port(spec, [&](const std::string& place, const bundle::Port& port) {
           add_meaning(place, port,
                       [&](const std::string& key, const std::string& text) { sides.add(key, text, in_a); });
         });
       }},
      {"config",
       [](const bundle::BundleSpec& spec, Sides& sides, bool in_a) {
         for (const auto& [key, value] : spec.pipeline.configs) sides.add(key, value_text(value), in_a);
       }},
  };
}

}  // namespace

std::vector<BundleDifference> diff_specs(const bundle::BundleSpec& a, const bundle::BundleSpec& b) {
  std::vector<BundleDifference> differences;
  for (const auto& [what, collect] : collectors()) {
    Sides sides;
    collect(a, sides, true);
    collect(b, sides, false);
    sides.report(what, differences);
  }
  return differences;
}

std::vector<BundleDifference> diff_systems(const bundle::BundleSpec& a, const bundle::BundleSpec& b) {
  std::vector<BundleDifference> differences;
  Sides sides;
  for (const auto& [key, value] : a.system_information) sides.add(key, value.value_or(""), true);
  for (const auto& [key, value] : b.system_information) sides.add(key, value.value_or(""), false);
  sides.report("system", differences);
  return differences;
}

}  // namespace leapp::inspect
