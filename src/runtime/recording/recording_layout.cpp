// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/recording/recording_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"

namespace leapp::runtime {
namespace {

std::string json_text(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') made += '\\';
    if (byte < 0x20) {
      made += fmt::format("\\u{:04x}", byte);
    } else {
      made += c;
    }
  }
  return made + "\"";
}

std::string names_text(const std::vector<bundle::AxisNames>& axes) {
  std::vector<std::string> texts;
  for (const bundle::AxisNames& axis : axes) {
    std::vector<std::string> names;
    for (const std::string& name : axis.value_or(std::vector<std::string>())) names.push_back(json_text(name));
    texts.push_back(axis ? fmt::format("[{}]", join(names, ",")) : "null");
  }
  return fmt::format("[{}]", join(texts, ","));
}

// Elements become fields where one axis has all of them, with names.
std::vector<std::string> fields_of(const Port& port) {
  for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
    const bundle::AxisNames& names = port.element_names[axis];
    if (!names || names->size() != port.size() || names->size() > PortCodec::kMostFields) continue;
    return field_names(*names);
  }
  return {};
}

/// Numbers channels and schemas, and knows which names are taken.
class Builder {
 public:
  explicit Builder(RecordingLayout& layout) : layout_(layout) {}

  Status add_port(const Port& port, const char* role, std::vector<RecordedPort>& to) {
    std::vector<std::string> fields = fields_of(port);
    auto values = PortCodec::make(port.dtype, port.size());
    if (!values.ok()) return {values.status().code(), fmt::format("{}: {}", port.name, values.status().message())};
    RecordedPort recorded{port, fields.empty() ? std::move(values).value() : PortCodec::make(port.dtype, fields)};
    const std::string topic = fmt::format("/{}/{}", folder_of(role), port.name);
    const std::string message = unique(identifier(topic.substr(1)));
    const std::uint16_t schema = add_schema(message, recorded.codec.descriptor(message));
    recorded.channel = add_channel(topic, schema, metadata_of(recorded, role));
    to.push_back(std::move(recorded));
    return {};
  }

  void add_start(RecordedPort& state) {
    const std::uint16_t schema = layout_.channels[state.channel - 1U].schema;
    state.start_channel = add_channel("/start/" + state.port.name, schema, metadata_of(state, "start"));
  }

  std::uint16_t add(const char* role, const char* message, std::string descriptor) {
    return add_channel(fmt::format("/{}", role), add_schema(message, std::move(descriptor)), {{kChannelRole, role}});
  }

 private:
  static const char* folder_of(std::string_view role) {
    return role == "input" ? "inputs" : role == "output" ? "outputs" : "state";
  }

  static mcap::TextMap metadata_of(const RecordedPort& recorded, const char* role) {
    const Port& port = recorded.port;
    mcap::TextMap metadata{{kChannelRole, role},
                           {kChannelPort, port.name},
                           {kChannelDType, std::string(dtype_name(port.dtype))},
                           {kChannelShape, shape_text(port.shape)},
                           {kChannelLayout, recorded.codec.has_fields() ? "fields" : "values"},
                           {"element_names", names_text(port.element_names)}};
    if (port.kind) metadata.emplace_back("kind", *port.kind);
    if (port.temporal_axis) {
      metadata.emplace_back("temporal_axis", std::to_string(port.temporal_axis->axis));
      metadata.emplace_back("temporal_period_ms", fmt::format("{}", port.temporal_axis->period_ms));
    }
    return metadata;
  }

  std::string unique(std::string name) {
    while (!taken_.insert(name).second) name += '_';
    return name;
  }

  std::uint16_t add_schema(const std::string& message, std::string descriptor) {
    const auto id = static_cast<std::uint16_t>(layout_.schemas.size() + 1);
    layout_.schemas.push_back({id, "leapp." + message, kMessageEncoding, std::move(descriptor)});
    return id;
  }

  std::uint16_t add_channel(std::string topic, std::uint16_t schema, mcap::TextMap metadata) {
    const auto id = static_cast<std::uint16_t>(layout_.channels.size() + 1);
    layout_.channels.push_back({id, schema, std::move(topic), kMessageEncoding, std::move(metadata)});
    return id;
  }

  RecordingLayout& layout_;
  std::set<std::string> taken_{"Step", "GuardMemory"};
};

std::string limits_text(const Limits& limits) {
  std::string text;
  const auto add = [&](const char* key, const std::optional<double>& value) {
    if (value) text += fmt::format(", \"{}\": {}", key, *value);
  };
  add("lower", limits.lower);
  add("upper", limits.upper);
  add("per_step", limits.per_step);
  add("per_second", limits.per_second);
  return text;
}

}  // namespace

Result<RecordingLayout> RecordingLayout::make(const std::vector<Port>& inputs, const std::vector<Port>& outputs,
                                              const std::vector<Port>& states) {
  constexpr std::size_t kMost = 60'000;
  if (inputs.size() + outputs.size() + 2 * states.size() > kMost) {
    return invalid_argument(fmt::format("expected at most {} ports to record, found {}", kMost,
                                        inputs.size() + outputs.size() + states.size()));
  }
  RecordingLayout layout;
  Builder builder(layout);
  for (const Port& port : inputs) LEAPP_RETURN_IF_ERROR(builder.add_port(port, "input", layout.inputs));
  for (const Port& port : outputs) LEAPP_RETURN_IF_ERROR(builder.add_port(port, "output", layout.outputs));
  for (const Port& port : states) LEAPP_RETURN_IF_ERROR(builder.add_port(port, "state", layout.states));
  for (RecordedPort& state : layout.states) builder.add_start(state);
  layout.memory_channel = builder.add("guards", "GuardMemory", memory_descriptor());
  layout.step_channel = builder.add("step", "Step", step_descriptor());
  return layout;
}

std::string engines_text(const Pipeline& pipeline) {
  std::vector<std::string> texts;
  // Without the file that it was loaded from, which is this machine's matter.
  for (const engine::Report& report : pipeline.engine()) {
    texts.push_back(report.engine.substr(0, report.engine.find(" (")));
  }
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return join(texts, ", ");
}

std::string guards_text(const GuardRules& rules) {
  constexpr std::array<const char*, 4> kActions{"pass", "clamp", "hold", "fail"};
  constexpr std::array<const char*, 3> kSides{"input", "output", "feedback"};
  std::vector<std::string> ports;
  for (const PortGuard& rule : rules) {
    const auto action = [&](GuardAction one) { return kActions[static_cast<std::size_t>(one)]; };
    std::string text =
        fmt::format("{}: {{\"non_finite\": \"{}\", \"bounds\": \"{}\", \"rate\": \"{}\"", json_text(rule.port),
                    action(rule.non_finite), action(rule.bounds), action(rule.rate));
    if (rule.role) text += fmt::format(", \"side\": \"{}\"", kSides[static_cast<std::size_t>(*rule.role)]);
    text += limits_text(rule.all);
    std::vector<std::string> elements;
    for (const auto& [name, limits] : rule.elements) {
      const std::string inside = limits_text(limits);
      elements.push_back(fmt::format("{}: {{{}}}", json_text(name), inside.empty() ? "" : inside.substr(2)));
    }
    if (!elements.empty()) text += fmt::format(", \"elements\": {{{}}}", join(elements, ", "));
    ports.push_back(text + "}");
  }
  return fmt::format("{{\"guards\": {{{}}}}}", join(ports, ", "));
}

}  // namespace leapp::runtime
