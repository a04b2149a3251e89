// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

namespace nb = nanobind;

namespace leapp::python {
namespace {

// Stands in element_names for an axis of moments (docs/bundle_format.md).
constexpr const char* kTemporalAxis = "__temporal_axis__";

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

nb::list element_names(const bundle::Port& port) {
  nb::list axes;
  const std::size_t named = port.element_names ? port.element_names->size() : 0;
  const std::size_t count = std::max(named, port.temporal_axis ? port.temporal_axis->axis + 1 : 0);
  for (std::size_t axis = 0; axis < count; ++axis) {
    const bundle::AxisNames names = axis < named ? (*port.element_names)[axis] : bundle::AxisNames();
    if (port.temporal_axis && port.temporal_axis->axis == axis) {
      axes.append(nb::str(kTemporalAxis));
    } else if (!names) {
      axes.append(nb::none());
    } else {
      nb::list list;
      for (const std::string& name : *names) list.append(text(name));
      axes.append(list);
    }
  }
  return axes;
}

nb::object text_or_none(const std::optional<std::string>& value) {
  return value ? nb::object(text(*value)) : nb::none();
}

nb::dict describe(const bundle::Port& port) {
  nb::dict dict;
  dict["name"] = text(port.name);
  dict["dtype"] = text(dtype_name(port.dtype));
  nb::list shape;
  for (const std::int64_t extent : port.shape) shape.append(extent);
  dict["shape"] = shape;
  dict["type"] = text(port.type);
  if (port.kind) dict["kind"] = text(*port.kind);
  if (port.element_names || port.temporal_axis) dict["element_names"] = element_names(port);
  if (port.temporal_axis) dict["temporal_period_ms"] = port.temporal_axis->period_ms;
  for (const auto& [key, value] : port.extra) dict[text(key)] = to_python(value);
  return dict;
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
  for (const bundle::Port& port : ports) list.append(describe(port));
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
