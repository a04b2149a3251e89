// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/port_fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace leapp::bundle {
namespace {

constexpr std::string_view kTemporalAxis = "__temporal_axis__";
constexpr auto kOfEveryPort = std::to_array<std::string_view>({"name", "dtype", "shape", "type"});

/// A key of a port's entry that says what the port means.
struct Field {
  std::string_view key;
  std::optional<YamlValue> (*write)(const Semantics& from);  ///< nothing: the key is left out
  Status (*read)(const YamlCursor& at, Semantics& to);       ///< REQUIRES: not null
};

// A name may have been written as a number.
Result<std::vector<std::string>> read_axis(const YamlCursor& at) {
  std::vector<std::string> names;
  if (!at.is_list()) return at.expected("a list of names, null or __temporal_axis__");
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at.at(i).node().kind != YamlNode::Kind::kScalar) return at.at(i).expected("a name");
    names.push_back(at.at(i).node().text);
  }
  return names;
}

bool is_flat(const YamlCursor& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const YamlCursor item = names.at(i);
    if (item.node().kind != YamlNode::Kind::kScalar || item.is_null() || item.node().text == kTemporalAxis)
      return false;
  }
  return names.size() > 0;
}

Status read_element_names(const YamlCursor& at, Semantics& to) {
  if (at.is_null()) return {};
  to.element_names.emplace();
  if (!at.is_list()) {
    LEAPP_ASSIGN_OR_RETURN(std::string name, at.text());
    to.element_names->push_back(std::vector{std::move(name)});
    return {};
  }
  if (is_flat(at)) {
    LEAPP_ASSIGN_OR_RETURN(std::vector<std::string> names, read_axis(at));
    to.element_names->push_back(std::move(names));
    return {};
  }
  for (std::size_t i = 0; i < at.size(); ++i) {
    const YamlCursor axis = at.at(i);
    to.element_names->push_back(std::nullopt);
    if (axis.is_null()) continue;
    if (axis.node().kind == YamlNode::Kind::kScalar && axis.node().text == kTemporalAxis) {
      if (to.temporal_axis) return axis.error("a second temporal axis");
      to.temporal_axis = TemporalAxis{i, 0};
      continue;
    }
    LEAPP_ASSIGN_OR_RETURN(to.element_names->back(), read_axis(axis));
  }
  return {};
}

std::optional<YamlValue> element_names_entry(const Semantics& from) {
  if (!from.element_names && !from.temporal_axis) return std::nullopt;
  YamlList axes;
  for (const AxisNames& names : from.element_names.value_or(std::vector<AxisNames>{})) {
    axes.push_back(names ? YamlValue(YamlList(names->begin(), names->end())) : YamlValue());
  }
  if (from.temporal_axis) {
    axes.resize(std::max(axes.size(), from.temporal_axis->axis + 1));
    axes[from.temporal_axis->axis] = YamlValue(std::string(kTemporalAxis));
  }
  return axes;
}

Status read_kind(const YamlCursor& at, Semantics& to) {
  LEAPP_ASSIGN_OR_RETURN(to.kind, at.text());
  return {};
}

std::optional<YamlValue> kind_entry(const Semantics& from) {
  return from.kind ? std::optional<YamlValue>(*from.kind) : std::nullopt;
}

Status read_period(const YamlCursor& at, Semantics& to) {
  if (!to.temporal_axis) return at.error("no axis in element_names is __temporal_axis__");
  LEAPP_ASSIGN_OR_RETURN(to.temporal_axis->period_ms, at.number());
  return {};
}

std::optional<YamlValue> period_entry(const Semantics& from) {
  return from.temporal_axis ? std::optional<YamlValue>(from.temporal_axis->period_ms) : std::nullopt;
}

/// In the order in which they are written and read.
constexpr auto kFields = std::to_array<Field>({
    {"kind", kind_entry, read_kind},
    {"element_names", element_names_entry, read_element_names},
    {"temporal_period_ms", period_entry, read_period},
});

bool is_port_key(std::string_view key) {
  return std::find(kOfEveryPort.begin(), kOfEveryPort.end(), key) != kOfEveryPort.end() ||
         std::any_of(kFields.begin(), kFields.end(), [&](const Field& field) { return field.key == key; });
}

}  // namespace

Status read_semantics(const YamlCursor& entry, Semantics& semantics) {
  for (const Field& field : kFields) {
    const auto value = entry.find(field.key);
    if (value && !value->is_null()) LEAPP_RETURN_IF_ERROR(field.read(*value, semantics));
  }
  for (std::size_t i = 0; i < entry.size(); ++i) {
    if (!is_port_key(entry.key(i))) semantics.extra.emplace_back(entry.key(i), to_value(entry.at(i).node()));
  }
  return {};
}

Result<Semantics> parse_semantics(const YamlMap& entry) {
  const YamlNode node = to_node(entry);
  Semantics semantics;
  LEAPP_RETURN_IF_ERROR(read_semantics(YamlCursor(node, ""), semantics));
  return semantics;
}

YamlMap semantics_entry(const Semantics& semantics) {
  YamlMap entry;
  for (const Field& field : kFields) {
    if (auto value = field.write(semantics)) entry.emplace_back(field.key, std::move(*value));
  }
  entry.insert(entry.end(), semantics.extra.begin(), semantics.extra.end());
  return entry;
}

YamlMap port_entry(const Port& port) {
  YamlMap entry = {{"name", port.name},
                   {"dtype", std::string(dtype_name(port.dtype))},
                   {"shape", YamlList(port.shape.begin(), port.shape.end())},
                   {"type", port.type}};
  YamlMap meaning = semantics_entry(port);
  std::move(meaning.begin(), meaning.end(), std::back_inserter(entry));
  return entry;
}

std::vector<std::string_view> port_keys() {
  std::vector<std::string_view> keys(kOfEveryPort.begin(), kOfEveryPort.end());
  for (const Field& field : kFields) keys.push_back(field.key);
  return keys;
}

}  // namespace leapp::bundle
