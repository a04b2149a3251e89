// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "bundle/yaml/json.h"
#include "cli/commands.h"
#include "cli/console/engine_words.h"
#include "cli/console/load_flags.h"
#include "cli/console/progress.h"
#include "cli/console/table.h"
#include "inspect/onnx_facts.h"
#include "inspect/opened_bundle.h"
#include "inspect/spec_json.h"
#include "inspect/words.h"
#include "leapp/bundle/history.h"
#include "runtime/pipeline/budget.h"
#include "runtime/pipeline/engine_choice.h"
#include "runtime/pipeline/pipeline_access.h"

namespace leapp::cli {
namespace {

using bundle::PortIndex;

struct InspectOptions {
  std::string bundle;
  bool allow_outside = false;
  std::uint64_t memory_limit = runtime::default_memory_limit();
  engine::Prefer engine = engine::Prefer::kAuto;
};

/// Where a port's value comes from, or goes to.
struct Ends {
  std::vector<std::string> now;    ///< "node/port" in the same step
  std::vector<std::string> later;  ///< across steps
  bool caller = false;
};

struct Inspection {
  OpenedBundle opened;
  std::vector<Result<ModelFacts>> models;
  std::vector<std::optional<OnnxFacts>> contents;  ///< of ONNX models that can be read
  std::map<PortIndex, Ends> sources;               ///< of inputs
  std::map<PortIndex, Ends> targets;               ///< of outputs
  std::vector<engine::Report> engines;             ///< what would run it; none: nothing can
  std::string no_engine;                           ///< why not
};

void choose_engines(const InspectOptions& options, Inspection& found) {
  runtime::LoadOptions load{.allow_outside = options.allow_outside, .verify_checksums = false, .prepare = false};
  load.memory_limit = options.memory_limit;
  load.engine.prefer = options.engine;
  const auto pipeline = runtime::PipelineAccess::load(found.opened.yaml, load, runtime::choosing_engines(load.engine));
  if (pipeline.ok()) {
    found.engines = pipeline.value().engine();
  } else {
    found.no_engine = in_option_words(pipeline.status().message());
  }
}

/// Without the weights, which are in the file's memory.
std::optional<OnnxFacts> contents_of(const bundle::ModelFile& file) {
  auto read = read_onnx_facts(file.bytes);
  if (!read.ok()) return std::nullopt;
  read.value().weights.clear();
  return std::move(read).value();
}

Result<Inspection> inspect(const InspectOptions& options, const Context& context) {
  Inspection found;
  LEAPP_ASSIGN_OR_RETURN(found.opened, open_bundle(options.bundle));
  const bundle::BundleSpec& spec = found.opened.spec;
  Progress progress(context, "models read", spec.models.size());
  std::map<std::string, std::optional<OnnxFacts>> known;  // by what is in a file
  for (const bundle::Model& model : spec.models) {
    progress.at(found.models.size());
    found.models.push_back(read_model_facts(
        found.opened, model, {.allow_outside = options.allow_outside, .memory_limit = options.memory_limit}));
    Result<ModelFacts>& facts = found.models.back();
    found.contents.emplace_back();
    if (!facts.ok()) continue;
    if (model.parameters.format() == bundle::ModelFormat::kOnnx) {
      const auto [at, fresh] = known.try_emplace(facts.value().digests.sha256);
      if (fresh) at->second = contents_of(facts.value().file);
      found.contents.back() = at->second;
    }
    facts.value().file = {};  // all of them together may be more than there is memory for
  }
  for (const bundle::Edge& edge : found.opened.report.wiring.edges) {
    Ends& source = found.sources[edge.to];
    Ends& target = found.targets[edge.from];
    (edge.feedback ? source.later : source.now).push_back(output_name(spec, edge.from));
    (edge.feedback ? target.later : target.now).push_back(input_name(spec, edge.to));
  }
  for (const PortIndex at : found.opened.report.wiring.inputs) found.sources[at].caller = true;
  for (const PortIndex at : found.opened.report.wiring.outputs) found.targets[at].caller = true;
  if (found.opened.report.problems.empty()) choose_engines(options, found);
  return found;
}

const char* checksum_text(ModelFacts::Checksum checksum) {
  switch (checksum) {
    case ModelFacts::Checksum::kNone:
      return "none";
    case ModelFacts::Checksum::kOk:
      return "ok";
    case ModelFacts::Checksum::kDiffers:
      return "differs";
  }
  return "";
}

// ---- text ----

std::string made_by(const bundle::BundleSpec& spec) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : spec.system_information) {
    if (!value || *value == "None" || key == "leapp config version") continue;
    std::string name = key;
    if (name.ends_with(" version")) name.resize(name.size() - 8);
    parts.push_back(name == "os" ? *value : name + " " + *value);
  }
  return parts.empty() ? "not said" : join(parts, ", ");
}

std::string head_text(const Inspection& found, const Context& context) {
  const OpenedBundle& opened = found.opened;
  const bundle::BundleSpec& spec = opened.spec;
  std::size_t feedback = 0;
  for (const bundle::Edge& edge : opened.report.wiring.edges) feedback += edge.feedback ? 1 : 0;
  std::string text = context.styled(one_line(opened.name), Style::kBold);
  text += fmt::format(": {}, {}, {}\n", plural(spec.models.size(), "node"),
                      plural(opened.report.wiring.edges.size() - feedback, "edge"), plural(feedback, "feedback edge"));
  std::vector<std::pair<std::string, std::string>> rows{
      {"file", opened.yaml.string()},
      {"config version", system_value(spec, "leapp config version").value_or("not said")},
      {"made by", made_by(spec)}};
  for (const auto& [key, value] : spec.pipeline.configs) rows.emplace_back(key, value_text(value));
  if (spec.pipeline.initial_values) rows.emplace_back("initial values", *spec.pipeline.initial_values);
  return text + key_values(rows);
}

std::string nodes_text(const Inspection& found, const Context& context) {
  Table table({{"node"},
               {"backend"},
               {"file"},
               {"size", true},
               {"parameters", true},
               {"operators", true},
               {"opset", true},
               {"checksum"}});
  Table digests({{"node"}, {"sha256"}});
  for (std::size_t i = 0; i < found.models.size(); ++i) {
    const bundle::Model& model = found.opened.spec.models[i];
    const bundle::ModelParameters& parameters = model.parameters;
    const Result<ModelFacts>& facts = found.models[i];
    const bool good = facts.ok() && facts.value().checksum != ModelFacts::Checksum::kDiffers;
    table.add({model.name, parameters.backend.value_or("none"), parameters.model_path.value_or("none"),
               facts.ok() ? size_text(facts.value().size) : "",
               found.contents[i] ? count_text(found.contents[i]->parameters) : "",
               found.contents[i] ? count_text(operator_count(*found.contents[i])) : "",
               parameters.opset_version ? std::to_string(*parameters.opset_version) : "",
               facts.ok()               ? checksum_text(facts.value().checksum)
               : !parameters.model_path ? ""
                                        : "unreadable"},
              good ? Style::kPlain : Style::kRed);
    if (facts.ok()) digests.add({model.name, facts.value().digests.sha256});
  }
  return table.text(context) + (digests.empty() ? "" : "\n" + digests.text(context));
}

std::string ends_text(const std::map<PortIndex, Ends>& ends, PortIndex at, bool output) {
  const auto found = ends.find(at);
  if (found == ends.end()) return "nothing";
  std::vector<std::string> parts;
  if (found->second.caller) parts.emplace_back("the caller");
  for (const std::string& name : found->second.now) parts.push_back(name);
  for (const std::string& name : found->second.later)
    parts.push_back(name + (output ? " (next step)" : " (last step)"));
  return (output ? "to " : "from ") + join(parts, ", ");
}

std::string elements_text(const bundle::Port& port) {
  std::vector<std::string> axes;
  if (!port.element_names) return "";
  for (std::size_t i = 0; i < port.element_names->size(); ++i) {
    const bundle::AxisNames& names = (*port.element_names)[i];
    if (port.temporal_axis && port.temporal_axis->axis == i) {
      axes.push_back(fmt::format("every {} ms", port.temporal_axis->period_ms));
    } else {
      axes.push_back(names ? fmt::format("[{}]", join(*names, ", ")) : "-");
    }
  }
  return join(axes, " x ");
}

std::string ports_text(const Inspection& found, const Context& context) {
  Table table({{"port"}, {"type"}, {"connected"}, {"kind"}, {"elements"}});
  const bundle::BundleSpec& spec = found.opened.spec;
  for (std::size_t node = 0; node < spec.models.size(); ++node) {
    const bundle::Model& model = spec.models[node];
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      const bundle::Port& port = model.inputs[i];
      table.add({"in  " + model.name + "/" + port.name, type_text(port.dtype, port.shape),
                 ends_text(found.sources, {node, i}, false), port.kind.value_or(""), elements_text(port)});
    }
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      const bundle::Port& port = model.outputs[i];
      table.add({"out " + model.name + "/" + port.name, type_text(port.dtype, port.shape),
                 ends_text(found.targets, {node, i}, true), port.kind.value_or(""), elements_text(port)});
    }
  }
  return table.text(context);
}

// What a reset to the first frame fills.
std::string histories_text(const Inspection& found, const Context& context) {
  if (!found.opened.report.problems.empty()) return "";
  const auto histories = bundle::histories_of(found.opened.spec, found.opened.report.wiring);
  if (!histories.ok() || histories.value().empty()) return "";
  Table table({{"history"}, {"holds"}});
  for (const bundle::History& history : histories.value()) {
    table.add({history.name, bundle::history_text(history.parts)});
  }
  return "\n" + table.text(context);
}

std::vector<std::string> problems_of(const Inspection& found) {
  std::vector<std::string> problems;
  for (const Status& problem : found.opened.report.problems) problems.push_back(problem.message());
  for (std::size_t i = 0; i < found.models.size(); ++i) {
    if (!found.models[i].ok()) problems.push_back(found.models[i].status().message());
  }
  return problems;
}

void print_text(const Inspection& found, Context& context) {
  context.print(head_text(found, context) + "\n" + nodes_text(found, context) + "\n" + ports_text(found, context) +
                histories_text(found, context));
  if (!found.engines.empty()) context.print("\n" + choice_text(found.engines, context));
  const std::vector<std::string> problems = problems_of(found);
  // What is told of a file is told once.
  if (problems.empty() && !found.no_engine.empty()) {
    context.print("\n" + context.styled("nothing runs it", Style::kYellow) + "\n");
    for (const std::string& line : wrap(one_line(found.no_engine), kLineWidth - 2)) context.print("  " + line + "\n");
  }
  if (problems.empty()) return;
  context.print("\n" + context.styled("problems", Style::kRed) + " (leapp check says more)\n");
  for (const std::string& problem : problems) {
    for (const std::string& line : wrap(one_line(problem), kLineWidth - 2)) context.print("  " + line + "\n");
  }
}

// ---- JSON ----

Json model_json(const bundle::Model& model, const Result<ModelFacts>& facts, const std::optional<OnnxFacts>& contents) {
  const auto text_or_null = [](const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); };
  Json result = {{"path", text_or_null(model.parameters.model_path)}};
  if (facts.ok()) {
    result["bytes"] = facts.value().size;
    result["md5sum"] = facts.value().digests.md5;
    result["sha256sum"] = facts.value().digests.sha256;
    result["checksum"] = checksum_text(facts.value().checksum);
  } else {
    result["problem"] = facts.status().message();
  }
  if (contents) {
    result["parameters"] = contents->parameters;
    result["operators"] = contents->operators;
  }
  if (model.parameters.opset_version) result["opset_version"] = *model.parameters.opset_version;
  return result;
}

Json ports_json(const std::vector<bundle::Port>& ports, const std::map<PortIndex, Ends>& ends, PortIndex at) {
  Json list = Json::array();
  for (at.port = 0; at.port < ports.size(); ++at.port) {
    Json port = to_json(ports[at.port]);
    const auto found = ends.find(at);
    const Ends none;
    const Ends& end = found == ends.end() ? none : found->second;
    port["connected"] = {{"caller", end.caller}, {"data_flow", end.now}, {"feedback_flow", end.later}};
    list.push_back(std::move(port));
  }
  return list;
}

Json inspection_json(const Inspection& found) {
  const bundle::BundleSpec& spec = found.opened.spec;
  Json system = Json::object();
  for (const auto& [key, value] : spec.system_information) system[key] = value ? Json(*value) : Json(nullptr);
  Json nodes = Json::array();
  for (std::size_t i = 0; i < spec.models.size(); ++i) {
    const bundle::Model& model = spec.models[i];
    nodes.push_back({{"name", model.name},
                     {"backend", model.parameters.backend ? Json(*model.parameters.backend) : Json(nullptr)},
                     {"model", model_json(model, found.models[i], found.contents[i])},
                     {"inputs", ports_json(model.inputs, found.sources, {i, 0})},
                     {"outputs", ports_json(model.outputs, found.targets, {i, 0})}});
  }
  Json edges = Json::array();
  for (const bundle::Edge& edge : found.opened.report.wiring.edges) {
    edges.push_back(
        {{"from", output_name(spec, edge.from)}, {"to", input_name(spec, edge.to)}, {"feedback", edge.feedback}});
  }
  return {{"name", found.opened.name},
          {"file", found.opened.yaml.string()},
          {"configs", bundle::to_json(spec.pipeline.configs)},
          {"system_information", system},
          {"nodes", nodes},
          {"edges", edges},
          {"engines", choice_json(found.engines)},
          {"no_engine", found.no_engine.empty() ? Json(nullptr) : Json(found.no_engine)},
          {"initial_values", spec.pipeline.initial_values ? Json(*spec.pipeline.initial_values) : Json(nullptr)},
          {"problems", problems_of(found)}};
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  const auto options = std::make_shared<InspectOptions>();
  const auto run = [options, &context]() -> Result<ExitCode> {
    LEAPP_ASSIGN_OR_RETURN(const Inspection found, inspect(*options, context));
    if (context.json) {
      context.print_json(inspection_json(found));
    } else {
      print_text(found, context);
    }
    return problems_of(found).empty() ? ExitCode::kFine : ExitCode::kFindings;
  };
  CLI::App& command = add_command(app, context,
                                  {.name = "inspect",
                                   .summary = "Show nodes, ports, wiring, files and engine",
                                   .examples = "  leapp inspect walk/walk.yaml\n"
                                               "  leapp inspect walk --json | jq '.nodes[].name'"},
                                  run);
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_flag("--allow-outside", options->allow_outside, "Allow models outside the bundle's folder");
  add_memory_limit(command, options->memory_limit);
  add_engine_option(command, options->engine);
}

}  // namespace leapp::cli
