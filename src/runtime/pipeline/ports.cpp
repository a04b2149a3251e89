// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "leapp/runtime/pipeline.h"
#include "leapp/runtime/port.h"
#include "runtime/batch/batch.h"

namespace leapp::runtime {
namespace {

const bundle::YamlValue* find(const bundle::YamlMap& map, std::string_view key) {
  const auto at = std::find_if(map.begin(), map.end(), [&](const auto& entry) { return entry.first == key; });
  return at == map.end() ? nullptr : &at->second;
}

std::optional<double> number(const bundle::YamlValue* value) {
  if (value == nullptr) return std::nullopt;
  std::optional<double> found;
  if (const auto* whole = std::get_if<std::int64_t>(&value->data)) found = static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value->data)) found = *real;
  return found && *found > 0 && std::isfinite(*found) ? found : std::nullopt;
}

bool fit(const std::vector<bundle::AxisNames>& names, const std::vector<std::int64_t>& shape, std::size_t first) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] && static_cast<std::int64_t>(names[i]->size()) != shape[first + i]) return false;
  }
  return true;
}

// Fewer entries than axes are the last ones, or the first, as at export. What fits neither way says nothing.
void place_names(const bundle::Port& from, Port& port) {
  const std::vector<bundle::AxisNames>& names = *from.element_names;
  if (names.size() > port.shape.size()) return;
  std::size_t first = port.shape.size() - names.size();
  if (!fit(names, port.shape, first)) first = 0;
  if (!fit(names, port.shape, first)) return;
  std::copy(names.begin(), names.end(), port.element_names.begin() + static_cast<long>(first));
  if (!from.temporal_axis || from.temporal_axis->axis >= names.size()) return;
  if (!(from.temporal_axis->period_ms > 0) || !std::isfinite(from.temporal_axis->period_ms)) return;
  port.temporal_axis = bundle::TemporalAxis{first + from.temporal_axis->axis, from.temporal_axis->period_ms};
}

bundle::AxisNames names_in(const bundle::YamlMap& axis) {
  const bundle::YamlValue* value = find(axis, "names");
  const auto* list = value == nullptr ? nullptr : std::get_if<bundle::YamlList>(&value->data);
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> names;
  for (const bundle::YamlValue& entry : *list) {
    const auto* name = std::get_if<std::string>(&entry.data);
    if (name == nullptr) return std::nullopt;
    names.push_back(*name);
  }
  return names;
}

// `axes` of config version 1.4: a map or null for each axis.
void place_axes(const bundle::YamlList& axes, Port& port) {
  if (axes.size() != port.shape.size()) return;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto* axis = std::get_if<bundle::YamlMap>(&axes[i].data);
    if (axis == nullptr) continue;
    bundle::AxisNames names = names_in(*axis);
    if (names && static_cast<std::int64_t>(names->size()) == port.shape[i]) port.element_names[i] = std::move(names);
    const bundle::YamlValue* kind = find(*axis, "kind");
    const auto period = number(find(*axis, "period_ms"));
    if (kind != nullptr && *kind == bundle::YamlValue("time") && period) port.temporal_axis = {i, *period};
  }
}

Port make_port(const bundle::BundleSpec& spec, const bundle::Model& model, const bundle::Port& from, PortRole role) {
  Port port;
  port.name = model.name + "/" + from.name;
  port.node = model.name;
  port.role = role;
  port.kind = from.kind;
  port.dtype = from.dtype;
  port.shape = from.shape;
  port.element_names.resize(from.shape.size());
  port.frequency = frequency_of(spec);
  port.extra = from.extra;
  if (from.element_names) place_names(from, port);
  const bundle::YamlValue* axes = find(from.extra, "axes");
  if (const auto* list = axes == nullptr ? nullptr : std::get_if<bundle::YamlList>(&axes->data)) {
    place_axes(*list, port);
  }
  return port;
}

}  // namespace

std::string Port::element_text(std::size_t element) const {
  std::vector<std::string> places(shape.size());
  std::vector<std::string> names;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    const std::size_t at = element % extent;
    element /= extent;
    places[axis] = std::to_string(at);
    if (element_names[axis]) names.insert(names.begin(), (*element_names[axis])[at]);
  }
  return fmt::format("[{}]{}", join(places, ","), names.empty() ? "" : fmt::format(" ({})", join(names, "/")));
}

std::string describe(const std::vector<Port>& ports) {
  std::vector<std::string> texts;
  for (const Port& port : ports) texts.push_back(port.kind ? fmt::format("{} ({})", port.name, *port.kind) : port.name);
  return texts.empty() ? "none" : join(texts, ", ");
}

Result<Port> port_of_kind(const std::vector<Port>& ports, std::string_view kind) {
  std::vector<Port> found;
  std::copy_if(ports.begin(), ports.end(), std::back_inserter(found),
               [&](const Port& port) { return port.kind == kind; });
  if (found.size() == 1) return std::move(found.front());
  if (found.empty()) {
    return not_found(
        fmt::format("expected a port of the kind {}, found none; there are {}", quote(kind), describe(ports)));
  }
  return invalid_argument(fmt::format("expected one port of the kind {}, found {}: {}; ask for one of them by its name",
                                      quote(kind), found.size(), describe(found)));
}

std::optional<double> frequency_of(const bundle::BundleSpec& spec) {
  return number(find(spec.pipeline.configs, "frequency"));
}

Result<Port> port_of(const bundle::BundleSpec& spec, std::string_view name, PortRole role) {
  for (const bundle::Model& model : spec.models) {
    for (const bundle::Port& port : role == PortRole::kOutput ? model.outputs : model.inputs) {
      if (model.name + "/" + port.name == name) return make_port(spec, model, port, role);
    }
  }
  return not_found(fmt::format("there is no port {}", quote(name)));
}

std::vector<Port> Pipeline::input_ports() {
  std::vector<Port> ports;
  for (const std::string& name : inputs()) {
    ports.push_back(widened_port(port_of(spec(), name, PortRole::kInput).value(), batch()));
    ports.back().data = input(name).value().data;
  }
  return ports;
}

std::vector<Port> Pipeline::output_ports() const {
  std::vector<Port> ports;
  for (const std::string& name : outputs()) {
    ports.push_back(widened_port(port_of(spec(), name, PortRole::kOutput).value(), batch()));
    ports.back().data = output(name).value().data;
  }
  return ports;
}

std::vector<Port> Pipeline::feedback_ports() const {
  std::vector<Port> ports;
  for (const std::string& name : feedback_inputs()) {
    ports.push_back(widened_port(port_of(spec(), name, PortRole::kFeedback).value(), batch()));
  }
  return ports;
}

Result<Port> Pipeline::input_of_kind(std::string_view kind) { return port_of_kind(input_ports(), kind); }
Result<Port> Pipeline::output_of_kind(std::string_view kind) const { return port_of_kind(output_ports(), kind); }

Result<Port> Pipeline::input_port(std::string_view name) {
  for (Port& port : input_ports()) {
    if (port.name == name || port.name == std::string(name) + "_in") return std::move(port);
  }
  return input(name).status();
}

Result<Port> Pipeline::output_port(std::string_view name) const {
  for (Port& port : output_ports()) {
    if (port.name == name) return std::move(port);
  }
  return output(name).status();
}

std::optional<double> Pipeline::frequency() const { return frequency_of(spec()); }

}  // namespace leapp::runtime
