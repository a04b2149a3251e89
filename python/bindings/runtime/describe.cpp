// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <optional>
#include <string>
#include <variant>

#include "leapp/bundle/port_entry.h"

namespace nb = nanobind;

namespace leapp::python {
namespace {

nb::str text(std::string_view value) { return nb::str(value.data(), value.size()); }

struct Converter {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(bool value) const { return nb::bool_(value); }
  nb::object operator()(std::int64_t value) const { return nb::int_(value); }
  nb::object operator()(double value) const { return nb::float_(value); }
  nb::object operator()(const std::string& value) const { return text(value); }
  nb::object operator()(const bundle::YamlList& values) const {
    nb::list list;
    for (const bundle::YamlValue& value : values) list.append(to_python(value));
    return list;
  }
  nb::object operator()(const bundle::YamlMap& values) const {
    nb::dict dict;
    for (const auto& [key, value] : values) dict[text(key)] = to_python(value);
    return dict;
  }
};

nb::object text_or_none(const std::optional<std::string>& value) {
  return value ? nb::object(text(*value)) : nb::none();
}

nb::dict describe(const bundle::ModelParameters& parameters) {
  nb::dict dict;
  dict["backend"] = text_or_none(parameters.backend);
  dict["model_path"] = text_or_none(parameters.model_path);
  dict["md5sum"] = text_or_none(parameters.md5sum);
  dict["sha256sum"] = text_or_none(parameters.sha256sum);
  if (parameters.opset_version) dict["opset_version"] = *parameters.opset_version;
  for (const auto& [key, value] : parameters.extra) dict[text(key)] = to_python(value);
  return dict;
}

nb::dict describe(const bundle::EdgeMap& lists) {
  nb::dict dict;
  for (const auto& [key, names] : lists) {
    nb::list list;
    for (const std::string& name : names) list.append(text(name));
    dict[text(key)] = list;
  }
  return dict;
}

nb::dict describe(const bundle::Pipeline& pipeline) {
  nb::dict dict;
  if (!pipeline.configs.empty()) dict["configs"] = Converter{}(pipeline.configs);
  dict["data_flow"] = describe(pipeline.data_flow);
  dict["feedback_flow"] = describe(pipeline.feedback_flow);
  if (pipeline.initial_values) dict["initial_values"] = text(*pipeline.initial_values);
  dict["inputs"] = describe(pipeline.inputs);
  dict["outputs"] = describe(pipeline.outputs);
  return dict;
}

}  // namespace

nb::object to_python(const bundle::YamlValue& value) { return std::visit(Converter{}, value.data); }

nb::list describe(const std::vector<bundle::Port>& ports) {
  nb::list list;
  for (const bundle::Port& port : ports) list.append(Converter{}(bundle::port_entry(port)));
  return list;
}

nb::dict describe(const bundle::BundleSpec& spec) {
  nb::dict models;
  for (const bundle::Model& model : spec.models) {
    nb::dict entry;
    entry["inputs"] = describe(model.inputs);
    entry["outputs"] = describe(model.outputs);
    entry["parameters"] = describe(model.parameters);
    models[text(model.name)] = entry;
  }
  nb::dict system;
  for (const auto& [key, value] : spec.system_information) system[text(key)] = text_or_none(value);
  nb::dict dict;
  dict["models"] = models;
  dict["pipeline"] = describe(spec.pipeline);
  dict["system information"] = system;
  return dict;
}

}  // namespace leapp::python
