// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/console/browser.h"
#include "cli/console/load_flags.h"
#include "cli/console/progress.h"
#include "cli/io/output_file.h"
#include "cli/onnx_picture.h"
#include "draw/bundle_picture.h"
#include "draw/draw.h"
#include "inspect/opened_bundle.h"
#include "inspect/words.h"
#include "runtime/pipeline/budget.h"

namespace leapp::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestBench = 8 << 20;  // what bench prints of as many nodes as there may be

// Of one page. Nodes may share a file, so that small ones make large pages.
constexpr std::size_t kMostRows = 400'000;

struct ViewOptions {
  std::string bundle;
  std::string output;
  std::string png;
  std::string bench;
  bool no_open = false;
  bool allow_outside = false;
  std::uint64_t memory_limit = runtime::default_memory_limit();
};

void add_error(draw::PictureNode& node, std::string text) {
  node.findings.push_back({Severity::kError, std::move(text), {}, {}});
}

/// What the model's file tells.
void add_model(const OpenedBundle& opened, const bundle::Model& model, const ViewOptions& options,
               draw::PictureNode& node) {
  if (!model.parameters.model_path) {
    node.operators_note = "The node has no model.";
    return;
  }
  const auto facts =
      read_model_facts(opened, model, {.allow_outside = options.allow_outside, .memory_limit = options.memory_limit});
  if (!facts.ok()) return add_error(node, facts.status().message());
  node.bytes = facts.value().file.bytes.size();
  if (facts.value().checksum == ModelFacts::Checksum::kDiffers) {
    add_error(node, "the file is not the one that was exported: its checksum differs");
  }
  if (model.parameters.format() != bundle::ModelFormat::kOnnx) {
    node.operators_note = fmt::format("What is inside a model of the backend {} is not shown.",
                                      quote(model.parameters.backend.value_or("null")));
    return;
  }
  if (const Status status = add_onnx(facts.value().file.bytes, node); !status.ok()) add_error(node, status.message());
  node.operators_note = "As in the ONNX model.";
}

/// The medians that `leapp bench --json` found for the nodes.
Status add_times(const std::string& file, draw::PipelinePicture& picture) {
  LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, bundle::read_file(file, kLargestBench));
  const Json json = Json::parse(bytes.begin(), bytes.end(), nullptr, false);
  const auto refuse = [&] { return data_loss(fmt::format("{} is not what leapp bench --json prints", file)); };
  if (!json.is_object() || !json.contains("nodes") || !json["nodes"].is_array()) return refuse();
  std::map<std::string, double> medians;
  for (const Json& entry : json["nodes"]) {
    if (!entry.is_object() || !entry.contains("node") || !entry["node"].is_string()) return refuse();
    if (!entry.contains("p50_us") || !entry["p50_us"].is_number()) return refuse();
    medians[entry["node"].get<std::string>()] = entry["p50_us"].get<double>();
  }
  for (draw::PictureNode& node : picture.nodes) {
    if (const auto found = medians.find(node.name); found != medians.end()) node.microseconds = found->second;
  }
  return {};
}

Status write_file(const fs::path& file, const std::string& bytes) {
  const Status written = write_output(file, std::as_bytes(std::span(bytes)));
  return written.ok() ? written : Status(written.code(), written.message() + "; --output names another file");
}

bool has_findings(const draw::PipelinePicture& picture) {
  return !picture.findings.empty() || std::any_of(picture.nodes.begin(), picture.nodes.end(),
                                                  [](const auto& node) { return !node.findings.empty(); });
}

Result<draw::PipelinePicture> picture_for(const ViewOptions& options, const OpenedBundle& opened,
                                          const Context& context) {
  draw::PipelinePicture picture = draw::picture_of(opened.spec, opened.name);
  picture.findings.clear();  // the report says the same, with its place in the file
  for (const Status& problem : opened.report.problems) {
    picture.findings.push_back({Severity::kError, problem.message(), {}, {}});
  }
  // Drawing it would say so too, but only after all models were read.
  if (picture.nodes.size() > draw::kMostBoxes) {
    return unimplemented(
        fmt::format("a picture of {} nodes could not be read: at most {} are drawn; leapp inspect shows "
                    "the bundle as text",
                    picture.nodes.size(), draw::kMostBoxes));
  }
  Progress progress(context, "reading models", picture.nodes.size());
  std::size_t rows = 0;
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    progress.at(i);
    draw::PictureNode& node = picture.nodes[i];
    if (rows <= kMostRows) add_model(opened, opened.spec.models[i], options, node);
    rows += node.operators.size() + node.constants.size();
    if (rows <= kMostRows) continue;
    node.operators.clear();
    node.constants.clear();
    node.operators_known = false;
    node.operators_note =
        fmt::format("Not shown: all nodes together have more than {} operators and constants.", count_text(kMostRows));
  }
  if (!options.bench.empty()) LEAPP_RETURN_IF_ERROR(add_times(options.bench, picture));
  return picture;
}

Result<ExitCode> view(const ViewOptions& options, Context& context) {
  LEAPP_ASSIGN_OR_RETURN(const OpenedBundle opened, open_bundle(options.bundle));
  LEAPP_ASSIGN_OR_RETURN(const draw::PipelinePicture picture, picture_for(options, opened, context));
  // Not {name}.html: that one was made at export, and knows more.
  const fs::path page =
      options.output.empty() ? opened.folder / (opened.name + ".view.html") : fs::path(options.output);
  LEAPP_ASSIGN_OR_RETURN(const draw::Drawing drawing, draw::draw(picture, {.png = !options.png.empty(), .page = true}));
  LEAPP_RETURN_IF_ERROR(write_file(page, drawing.page));
  if (!options.png.empty()) LEAPP_RETURN_IF_ERROR(write_file(options.png, drawing.png));
  Status shown;
  if (!options.no_open) shown = open_in_browser(page);
  if (context.json) {
    context.print_json({{"page", page.string()},
                        {"png", options.png.empty() ? Json(nullptr) : Json(options.png)},
                        {"opened", !options.no_open && shown.ok()},
                        {"findings", has_findings(picture)}});
  } else {
    context.print(fmt::format("{}\n", one_line(page.string())));
    if (!options.png.empty()) context.print(fmt::format("{}\n", one_line(options.png)));
    if (!shown.ok()) context.print(fmt::format("{}\n", one_line(shown.message())));
  }
  return has_findings(picture) ? ExitCode::kFindings : ExitCode::kFine;
}

}  // namespace

void add_view(CLI::App& app, Context& context) {
  const auto options = std::make_shared<ViewOptions>();
  CLI::App& command =
      add_command(app, context,
                  {.name = "view",
                   .summary = "Draw the pipeline as an HTML page (needs Graphviz)",
                   .examples = "  leapp view walk/walk.yaml\n"
                               "  leapp view walk --no-open --output walk.html --png walk.png\n"
                               "  leapp bench walk --json > bench.json; leapp view walk --bench bench.json"},
                  [options, &context] { return view(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_option("-o,--output", options->output, "Output file (NAME.view.html in the bundle's folder)");
  command.add_option("--png", options->png, "Also write a picture for print");
  command.add_option("--bench", options->bench, "Output of leapp bench --json: shows time per node");
  command.add_flag("--no-open", options->no_open, "Write the page without opening it");
  command.add_flag("--allow-outside", options->allow_outside, "Allow models outside the bundle's folder");
  add_memory_limit(command, options->memory_limit);
}

}  // namespace leapp::cli
