// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "bundle/folder.h"
#include "bundle/owned_files.h"
#include "bundle/writer.h"
#include "emit/torchscript/emitter.h"
#include "exporter/describe.h"
#include "exporter/prepare.h"
#include "exporter/validate.h"

namespace leapp::exporter {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Status check_options(const CompileOptions& options) {
  for (const auto& [name, value] : {std::pair{"rtol", options.rtol}, std::pair{"atol", options.atol}}) {
    if (!(value >= 0) || std::isinf(value)) {
      return invalid_argument(fmt::format("compile_graph: {} must be a number >= 0, found {}", name, value));
    }
  }
  return {};
}

const PreparedNode& named(const std::vector<PreparedNode>& nodes, const std::string& name) {
  return *std::find_if(nodes.begin(), nodes.end(), [&](const PreparedNode& node) { return node.record->name == name; });
}

/// Emits and writes the models and fills in their parameters.
Status write_models(const std::vector<PreparedNode>& nodes, bundle::BundleSpec& spec, bundle::StagedFolder& folder,
                    Logger& log) {
  for (std::size_t i = 0; i < spec.models.size(); ++i) {
    bundle::Model& model = spec.models[i];
    const PreparedNode& node = named(nodes, model.name);
    if (!node.record->options.export_with) continue;
    const auto start = Clock::now();
    LEAPP_ASSIGN_OR_RETURN(const std::string bytes, emit::emit_torchscript(node.graph));
    LEAPP_ASSIGN_OR_RETURN(const Digests digests, digest_bytes(std::as_bytes(std::span(bytes))));
    model.parameters.backend = "jit";
    model.parameters.model_path = model.name + ".pt";
    model.parameters.md5sum = digests.md5;
    model.parameters.sha256sum = digests.sha256;
    LEAPP_RETURN_IF_ERROR(folder.write(*model.parameters.model_path, bytes));
    log.info(fmt::format("[{}/{}] {} -> jit, {} operators, {:.1f} kB, {:.0f} ms", i + 1, spec.models.size(), model.name,
                         node.graph.nodes().size(), static_cast<double>(bytes.size()) / 1e3,
                         milliseconds_since(start)));
  }
  return {};
}

std::vector<NodeResult> validate(const std::vector<PreparedNode>& nodes, const bundle::BundleSpec& spec,
                                 const capture::Session& session, const CompileOptions& options, Logger& log) {
  std::vector<NodeResult> results;
  for (const bundle::Model& model : spec.models) {
    const PreparedNode& node = named(nodes, model.name);
    const int outputs = static_cast<int>(model.outputs.size());
    if (!model.parameters.model_path) {
      results.push_back({model.name, "skipped", 0, outputs, "the node has no model"});
    } else if (!options.validate) {
      results.push_back({model.name, "skipped", 0, outputs, "validate=False"});
    } else {
      const auto file = std::filesystem::path(session.folder()) / *model.parameters.model_path;
      results.push_back(validate_torchscript(node, file, {options.rtol, options.atol}));
    }
    const NodeResult& result = results.back();
    const std::string text = fmt::format("{}: {}, {} samples{}", result.node, result.status, result.samples,
                                         result.message.empty() ? "" : " (" + result.message + ")");
    result.ok() ? log.info(text) : log.error(text);
  }
  return results;
}

Status verdict(const std::vector<NodeResult>& results, Logger& log) {
  const auto count = [&](const char* status) {
    return std::count_if(results.begin(), results.end(), [&](const NodeResult& r) { return r.status == status; });
  };
  const auto failed = count("failed");
  const auto errored = count("errored");
  log.info(fmt::format("Validation: {} passed, {} failed, {} errored",
                       results.size() - static_cast<std::size_t>(failed + errored), failed, errored));
  if (failed + errored == 0) return {};
  std::string text = "validation failed:";
  for (const NodeResult& result : results) {
    if (!result.ok()) text += fmt::format("\n  {} {}: {}", result.node, result.status, result.message);
  }
  return {StatusCode::kFailedPrecondition, text + "\n  log: " + log.path().string()};
}

Result<CompileReport> compile_checked(capture::Session& session, const CompileOptions& options) {
  Logger& log = session.log();
  CompileReport report;
  report.folder = session.folder();
  if (session.nodes().empty()) {
    log.error("compile_graph: no node was captured; annotate at least one with input_tensors and output_tensors");
    return report;
  }
  std::vector<PreparedNode> nodes;
  for (const auto& node : session.nodes()) {
    LEAPP_ASSIGN_OR_RETURN(PreparedNode prepared, prepare(*node, log));
    nodes.push_back(std::move(prepared));
  }
  bundle::BundleSpec spec = describe(nodes, session);
  LEAPP_ASSIGN_OR_RETURN(bundle::StagedFolder folder, bundle::StagedFolder::create(session.folder()));
  LEAPP_RETURN_IF_ERROR(write_models(nodes, spec, folder, log));
  if (spec.pipeline.initial_values) {
    LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> values, initial_values(nodes));
    LEAPP_RETURN_IF_ERROR(folder.write(*spec.pipeline.initial_values, values));
  }
  LEAPP_RETURN_IF_ERROR(folder.write(session.name() + ".yaml", bundle::yaml_text(spec)));
  LEAPP_RETURN_IF_ERROR(folder.commit(bundle::files_of_bundle(session.folder(), session.name())));
  LEAPP_RETURN_IF_ERROR(log.reopen(session.folder()));
  report.nodes = validate(nodes, spec, session, options, log);
  if (options.visualize) log.info("visualize: this version draws no picture yet");
  log_statistics(spec, log);
  const Status outcome = verdict(report.nodes, log);
  if (options.strict) report.validation = outcome;
  log.info(fmt::format("Bundle: {}", (std::filesystem::path(session.folder()) / (session.name() + ".yaml")).string()));
  return report;
}

}  // namespace

Result<CompileReport> compile(capture::Session& session, const CompileOptions& options) {
  LEAPP_RETURN_IF_ERROR(check_options(options));
  std::optional<Logger::ConsoleScope> console;
  if (options.verbose) console.emplace(session.log(), *options.verbose);
  auto report = compile_checked(session, options);
  if (!report.ok()) session.log().error(report.status().message());
  return report;
}

}  // namespace leapp::exporter
