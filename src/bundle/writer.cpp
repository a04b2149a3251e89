// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "bundle/writer.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "bundle/port_reader.h"
#include "bundle/yaml/yaml_scalar.h"
#include "leapp/bundle/port_entry.h"

namespace leapp::bundle {
namespace {

// Readers take an implicit key of at most 1024 characters; longer ones need the `? key` form.
constexpr std::size_t kLongestKey = 1000;

bool holds_map(const YamlList& list) {
  return std::any_of(list.begin(), list.end(), [](const YamlValue& item) {
    if (const auto* map = std::get_if<YamlMap>(&item.data)) return !map->empty();
    const auto* inner = std::get_if<YamlList>(&item.data);
    return inner != nullptr && holds_map(*inner);
  });
}

// Text of what fits on one line: everything but maps with content.
std::string flow_text(const YamlValue& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return yaml_float(number); }
    std::string operator()(const std::string& text) const { return yaml_string(text); }
    std::string operator()(const YamlMap&) const { return "{}"; }
    std::string operator()(const YamlList& list) const {
      std::vector<std::string> items;
      for (const YamlValue& item : list) items.push_back(flow_text(item));
      return "[" + join(items, ", ") + "]";
    }
  };
  return std::visit(Visitor{}, value.data);
}

std::string flow_text(const std::vector<std::string>& strings) {
  return flow_text(YamlValue(YamlList(strings.begin(), strings.end())));
}

YamlValue null_or(const std::optional<std::string>& text) { return text ? YamlValue(*text) : YamlValue(); }

/// Block style, in the layout PyYAML gives it: two more spaces per map, none per list.
class Printer {
 public:
  /// Starts an entry whose value is a block on the following lines.
  void open(std::string_view key) {
    write_key(key);
    text_ += '\n';
    indent_ += 2;
  }
  void close() { indent_ -= 2; }

  void line(std::string_view key, std::string_view flow) {
    write_key(key);
    text_ += ' ';
    text_ += flow;
    text_ += '\n';
  }

  void entry(std::string_view key, const YamlValue& value) {
    const auto* map = std::get_if<YamlMap>(&value.data);
    const auto* list = std::get_if<YamlList>(&value.data);
    if (map != nullptr && !map->empty()) {
      open(key);
      entries(*map);
      close();
    } else if (list != nullptr && holds_map(*list)) {
      write_key(key);
      text_ += '\n';
      items(*list);
    } else {
      line(key, flow_text(value));
    }
  }

  void entries(const YamlMap& map) {
    for (const auto& [key, value] : map) entry(key, value);
  }

  /// What is printed next is one item of a list: its first line starts with "- ".
  void open_item() {
    dash_ = true;
    indent_ += 2;
  }
  void close_item() { indent_ -= 2; }

  void items(const YamlList& list) {
    for (const YamlValue& value : list) {
      open_item();
      const auto* map = std::get_if<YamlMap>(&value.data);
      const auto* inner = std::get_if<YamlList>(&value.data);
      if (map != nullptr && !map->empty()) {
        entries(*map);
      } else if (inner != nullptr && holds_map(*inner)) {
        start_line();
        text_.pop_back();
        text_ += '\n';
        items(*inner);
      } else {
        start_line();
        text_ += flow_text(value) + '\n';
      }
      close_item();
    }
  }

  void blank_line() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  void start_line() {
    text_.append(indent_ - (dash_ ? 2 : 0), ' ');
    if (dash_) text_ += "- ";
    dash_ = false;
  }

  void write_key(std::string_view key) {
    start_line();
    const std::string scalar = yaml_string(key);
    if (scalar.size() <= kLongestKey) {
      text_ += scalar + ':';
    } else {
      text_ += "? " + scalar + '\n';
      start_line();
      text_ += ':';
    }
  }

  std::string text_;
  std::size_t indent_ = 0;
  bool dash_ = false;
};

void print_port(Printer& out, const Port& port) {
  out.open_item();
  out.entries(port_entry(port));
  out.close_item();
}

void print_ports(Printer& out, std::string_view key, const std::vector<Port>& ports) {
  if (ports.empty()) return out.line(key, "[]");
  out.open(key);
  out.close();
  for (const Port& port : ports) print_port(out, port);
}

void print_parameters(Printer& out, const ModelParameters& parameters) {
  out.open("parameters");
  out.entry("backend", null_or(parameters.backend));
  out.entry("model_path", null_or(parameters.model_path));
  out.entry("md5sum", null_or(parameters.md5sum));
  out.entry("sha256sum", null_or(parameters.sha256sum));
  if (parameters.opset_version) out.entry("opset_version", *parameters.opset_version);
  out.entries(parameters.extra);
  out.close();
}

void print_models(Printer& out, const std::vector<Model>& models) {
  if (models.empty()) return out.line("models", "{}");
  out.open("models");
  for (const Model& model : models) {
    out.open(model.name);
    print_ports(out, "inputs", model.inputs);
    print_ports(out, "outputs", model.outputs);
    print_parameters(out, model.parameters);
    out.close();
  }
  out.close();
}

void print_lists(Printer& out, std::string_view key, const EdgeMap& lists) {
  if (lists.empty()) return out.line(key, "{}");
  out.open(key);
  for (const auto& [from, to] : lists) out.line(from, flow_text(to));
  out.close();
}

void print_pipeline(Printer& out, const Pipeline& pipeline) {
  out.open("pipeline");
  if (!pipeline.configs.empty()) out.entry("configs", pipeline.configs);
  print_lists(out, "data_flow", pipeline.data_flow);
  print_lists(out, "feedback_flow", pipeline.feedback_flow);
  if (pipeline.initial_values) out.entry("initial_values", *pipeline.initial_values);
  print_lists(out, "inputs", pipeline.inputs);
  print_lists(out, "outputs", pipeline.outputs);
  out.close();
}

void print_system(Printer& out, const SystemInformation& system) {
  YamlMap map;
  for (const auto& [key, value] : system) map.emplace_back(key, null_or(value));
  out.entry("system information", map);
}

}  // namespace

std::string yaml_text(const BundleSpec& spec) {
  Printer out;
  print_models(out, spec.models);
  out.blank_line();
  print_pipeline(out, spec.pipeline);
  out.blank_line();
  print_system(out, spec.system_information);
  return out.take();
}

}  // namespace leapp::bundle
