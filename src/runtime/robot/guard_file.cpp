// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "bundle/yaml/yaml_cursor.h"
#include "bundle/yaml/yaml_scalar.h"
#include "bundle/yaml/yaml_tree.h"
#include "leapp/bundle/check.h"
#include "leapp/bundle/reader.h"
#include "leapp/runtime/guards.h"

namespace leapp::runtime {
namespace {

using bundle::YamlCursor;
using bundle::YamlNode;

constexpr std::array<std::pair<std::string_view, GuardAction>, 4> kActions{{{"pass", GuardAction::kPass},
                                                                            {"clamp", GuardAction::kClamp},
                                                                            {"hold", GuardAction::kHold},
                                                                            {"fail", GuardAction::kFail}}};

Status read_action(const YamlCursor& map, std::string_view key, GuardAction& action) {
  const auto value = map.find(key);
  if (!value) return {};
  const bool finite = key == "non_finite";
  for (const auto& [name, meaning] : kActions) {
    if (value->node().text != name || value->is_list() || value->is_map()) continue;
    if (finite && meaning == GuardAction::kClamp) break;
    action = meaning;
    return {};
  }
  return value->expected(finite ? "pass, hold or fail" : "pass, clamp, hold or fail");
}

Status read_limit(const YamlCursor& map, std::string_view key, std::optional<double>& limit) {
  const auto value = map.find(key);
  if (!value) return {};
  LEAPP_ASSIGN_OR_RETURN(limit, value->number());
  return {};
}

Status read_limits(const YamlCursor& map, Limits& limits) {
  LEAPP_RETURN_IF_ERROR(read_limit(map, "lower", limits.lower));
  LEAPP_RETURN_IF_ERROR(read_limit(map, "upper", limits.upper));
  LEAPP_RETURN_IF_ERROR(read_limit(map, "per_step", limits.per_step));
  return read_limit(map, "per_second", limits.per_second);
}

Status read_side(const YamlCursor& map, std::optional<PortRole>& role) {
  const auto side = map.find("side");
  if (!side) return {};
  if (side->node().text == "input") return role = PortRole::kInput, Status();
  if (side->node().text == "output") return role = PortRole::kOutput, Status();
  if (side->node().text == "feedback") return role = PortRole::kFeedback, Status();
  return side->expected("input, output or feedback");
}

Result<PortGuard> read_guard(const std::string& port, const YamlCursor& at) {
  PortGuard guard;
  guard.port = port;
  LEAPP_RETURN_IF_ERROR(
      at.only({"side", "non_finite", "bounds", "rate", "lower", "upper", "per_step", "per_second", "elements"}));
  LEAPP_RETURN_IF_ERROR(read_side(at, guard.role));
  LEAPP_RETURN_IF_ERROR(read_action(at, "non_finite", guard.non_finite));
  LEAPP_RETURN_IF_ERROR(read_action(at, "bounds", guard.bounds));
  LEAPP_RETURN_IF_ERROR(read_action(at, "rate", guard.rate));
  LEAPP_RETURN_IF_ERROR(read_limits(at, guard.all));
  const auto elements = at.find("elements");
  if (!elements) return guard;
  if (!elements->is_map()) return elements->expected("a map of element names and their limits");
  for (std::size_t i = 0; i < elements->size(); ++i) {
    LEAPP_RETURN_IF_ERROR(elements->at(i).only({"lower", "upper", "per_step", "per_second"}));
    guard.elements.emplace_back(elements->key(i), Limits());
    LEAPP_RETURN_IF_ERROR(read_limits(elements->at(i), guard.elements.back().second));
  }
  return guard;
}

YamlNode scalar(std::string text, bool plain) {
  YamlNode node;
  node.plain = plain;
  node.text = std::move(text);
  return node;
}

/// The value as it would stand in a file, so that one reader does for both.
YamlNode node_of(const bundle::YamlValue& value) {
  YamlNode node;
  if (const auto* list = std::get_if<bundle::YamlList>(&value.data)) {
    node.kind = YamlNode::Kind::kList;
    for (const bundle::YamlValue& item : *list) node.items.push_back(node_of(item));
    return node;
  }
  if (const auto* map = std::get_if<bundle::YamlMap>(&value.data)) {
    node.kind = YamlNode::Kind::kMap;
    for (const auto& [key, item] : *map) {
      node.keys.push_back(key);
      node.items.push_back(node_of(item));
    }
    return node;
  }
  if (const auto* text = std::get_if<std::string>(&value.data)) return scalar(*text, false);
  if (const auto* flag = std::get_if<bool>(&value.data)) return scalar(*flag ? "true" : "false", true);
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return scalar(std::to_string(*whole), true);
  if (const auto* real = std::get_if<double>(&value.data)) return scalar(bundle::yaml_float(*real), true);
  return scalar("null", true);
}

/// The feedback inputs that an output which is state feeds; else the port itself.
std::vector<std::string> guarded_by(const bundle::BundleSpec& spec, bundle::PortIndex at, bool output) {
  const bundle::Model& model = spec.models[at.node];
  const std::string name = model.name + "/" + (output ? model.outputs : model.inputs)[at.port].name;
  if (!output || !bundle::is_state_output(spec, at)) return {name};
  for (const auto& [from, to] : spec.pipeline.feedback_flow) {
    if (from == name) return to;
  }
  return {name};
}

/// On which side a port of that name is.
PortRole role_of(const bundle::BundleSpec& spec, const std::string& name, bool output) {
  if (output) return PortRole::kOutput;
  const bool fed = std::any_of(spec.pipeline.feedback_flow.begin(), spec.pipeline.feedback_flow.end(), [&](auto& edge) {
    return std::find(edge.second.begin(), edge.second.end(), name) != edge.second.end();
  });
  return fed ? PortRole::kFeedback : PortRole::kInput;
}

Status add_guard(const bundle::BundleSpec& spec, bundle::PortIndex at, bool output, GuardRules& rules) {
  const bundle::Model& model = spec.models[at.node];
  const bundle::Port& port = (output ? model.outputs : model.inputs)[at.port];
  for (const auto& [key, value] : port.extra) {
    if (key != kGuardKey) continue;
    const YamlNode node = node_of(value);
    const YamlCursor cursor(
        node, fmt::format("models.{}.{}.{}.{}", model.name, output ? "outputs" : "inputs", port.name, kGuardKey));
    auto guard = read_guard("", cursor);
    if (!guard.ok()) {
      std::string message = guard.status().message();
      constexpr std::string_view kNoLine = "line 0: ";
      if (message.starts_with(kNoLine)) message.erase(0, kNoLine.size());
      return {guard.status().code(), message};
    }
    for (const std::string& name : guarded_by(spec, at, output)) {
      rules.push_back(guard.value());
      rules.back().port = name;
      rules.back().role = role_of(spec, name, output && !bundle::is_state_output(spec, at));
    }
  }
  return {};
}

}  // namespace

Result<GuardRules> parse_guards(std::string_view text) {
  LEAPP_ASSIGN_OR_RETURN(const YamlNode tree, bundle::parse_yaml(text));
  const YamlCursor root(tree, "");
  LEAPP_RETURN_IF_ERROR(root.only({"guards"}));
  LEAPP_ASSIGN_OR_RETURN(const YamlCursor guards, root.get("guards"));
  if (!guards.is_map()) return guards.expected("a map of ports (node/port) and their guards");
  GuardRules rules;
  for (std::size_t i = 0; i < guards.size(); ++i) {
    LEAPP_ASSIGN_OR_RETURN(PortGuard guard, read_guard(guards.key(i), guards.at(i)));
    rules.push_back(std::move(guard));
  }
  return rules;
}

Result<GuardRules> read_guards(const std::filesystem::path& file) {
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, bundle::read_file(file, bundle::kLargestYaml));
  auto rules = parse_guards({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!rules.ok()) return Status(rules.status().code(), fmt::format("{}: {}", file.string(), rules.status().message()));
  return rules;
}

Result<GuardRules> guards_of(const bundle::BundleSpec& spec) {
  GuardRules rules;
  for (std::size_t node = 0; node < spec.models.size(); ++node) {
    for (std::size_t i = 0; i < spec.models[node].inputs.size(); ++i) {
      LEAPP_RETURN_IF_ERROR(add_guard(spec, {node, i}, false, rules));
    }
    for (std::size_t i = 0; i < spec.models[node].outputs.size(); ++i) {
      LEAPP_RETURN_IF_ERROR(add_guard(spec, {node, i}, true, rules));
    }
  }
  return rules;
}

}  // namespace leapp::runtime
