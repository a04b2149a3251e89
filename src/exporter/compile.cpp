// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include "exporter/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/digester.h"
#include "base/text.h"
#include "bundle/folder/folder.h"
#include "bundle/folder/owned_files.h"
#include "bundle/writer.h"
#include "capture/session/front_end.h"
#include "emit/onnx/emitter.h"
#include "emit/torchscript/emitter.h"
#include "exporter/backend.h"
#include "exporter/describe.h"
#include "exporter/given_models.h"
#include "exporter/histories.h"
#include "exporter/onnx_metadata.h"
#include "exporter/picture.h"
#include "exporter/prepare.h"
#include "exporter/pytorch_exporters.h"
#include "exporter/validate/validate.h"
#include "graph/conditional.h"
#include "leapp/bundle/reader.h"

namespace leapp::exporter {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Status check_options(const CompileOptions& options) {
  for (const auto& [name, value] : {std::pair{"rtol", options.rtol}, std::pair{"atol", options.atol}}) {
    if (value && (!(*value >= 0) || std::isinf(*value))) {
      return invalid_argument(fmt::format("compile_graph: {} must be a number >= 0, found {}", name, *value));
    }
  }
  const GraphConfigs& configs = options.graph_configs;
  if (configs.frequency && (!(*configs.frequency > 0) || std::isinf(*configs.frequency))) {
    return invalid_argument(
        fmt::format("compile_graph: graph_configs: frequency must be > 0 Hz, found {}", *configs.frequency));
  }
  for (const auto& [key, value] : configs.extra) {
    if (key == "frequency") {
      return invalid_argument("compile_graph: graph_configs: extra has 'frequency', which is a field of its own");
    }
  }
  return {};
}

/// What the user gave decides alone; nothing: by dtype and size.
std::optional<Tolerance> tolerance_of(const CompileOptions& options) {
  if (!options.rtol && !options.atol) return std::nullopt;
  const Tolerance usual;
  return Tolerance{options.rtol.value_or(usual.rtol), options.atol.value_or(usual.atol)};
}

bundle::YamlMap configs_of(const GraphConfigs& configs) {
  bundle::YamlMap map;
  if (configs.frequency) map.emplace_back("frequency", *configs.frequency);
  map.insert(map.end(), configs.extra.begin(), configs.extra.end());
  return map;
}

using Writer = bundle::StagedFolder::Writer;

/// A model that is ready to be written. It is never in memory as a whole: weights go to the file from where they are.
struct Emitted {
  std::function<Status(const Writer&)> write;
  onnx::Pieces external_data = {};  ///< of the file beside it; empty: there is none
  std::optional<std::int64_t> opset_version;
};

Status write_pieces(const onnx::Pieces& pieces, const Writer& write) {
  for (const onnx::Bytes& piece : pieces.pieces()) LEAPP_RETURN_IF_ERROR(write(piece.view));
  return {};
}

/// What is in memory already.
Emitted emitted_text(std::string text) {
  const auto owner = std::make_shared<std::string>(std::move(text));
  return {.write = [owner](const Writer& write) { return write(std::as_bytes(std::span(*owner))); }};
}

/// A model for a node, and what it needs to know of the bundle.
struct EmitRequest {
  const PreparedNode& node;
  const bundle::Model& ports;
  const bundle::YamlMap& configs;
};

Result<Emitted> emit_native_onnx(const EmitRequest& request) {
  const PreparedNode& node = request.node;
  emit::OnnxOptions options{.opset_version = static_cast<int>(node.backend.opset_version)};
  if (node.backend.ir_version) options.ir_version = static_cast<int>(*node.backend.ir_version);
  options.seed = node.backend.seed;
  options.metadata = onnx_metadata(request.ports, request.configs);
  options.external_data_name = node.record->name + node.backend.suffix() + ".data";
  options.max_inline_bytes = static_cast<std::uint64_t>(node.backend.external_data_above);
  LEAPP_ASSIGN_OR_RETURN(emit::OnnxModel emitted, emit::emit_onnx(node.graph, options));
  const auto model = std::make_shared<onnx::Pieces>(std::move(emitted.model));
  return Emitted{[model](const Writer& write) { return write_pieces(*model, write); }, std::move(emitted.external_data),
                 node.backend.opset_version};
}

Result<Emitted> emit_with_pytorch(const EmitRequest& request, const std::string& backend, Logger& log) {
  const bool onnx = request.node.backend.format == bundle::ModelFormat::kOnnx;
  PytorchRequest pytorch{.node = &request.node, .backend = backend};
  if (onnx) pytorch.metadata = onnx_metadata(request.ports, request.configs);
  LEAPP_ASSIGN_OR_RETURN(std::string bytes, export_with_pytorch(std::move(pytorch), log));
  Emitted model = emitted_text(std::move(bytes));
  if (onnx) model.opset_version = request.node.backend.opset_version;
  return model;
}

/// Ours; PyTorch's exporter for a node with an operator that ours lacks. What ours knows and refuses, ONNX or ONNX
/// Runtime cannot do.
Result<Emitted> emit_some_onnx(const EmitRequest& request, Logger& log) {
  auto ours = emit_native_onnx(request);
  if (ours.ok() || ours.status().code() != StatusCode::kUnimplemented) return ours;
  bool lacking = false;
  graph::for_each_graph(request.node.graph, [&](const graph::Graph& graph) {
    for (const auto& node : graph.nodes()) lacking = lacking || !emit::is_supported(node->op(), node->overload());
  });
  if (!lacking || !has_pytorch_exporters()) return ours;
  log.info(fmt::format("node '{}': {}; trying 'onnx-dynamo'", request.node.record->name, ours.status().message()));
  auto theirs = emit_with_pytorch(request, "onnx-dynamo", log);
  if (theirs.ok()) return theirs;
  return unimplemented(
      fmt::format("{}, and PyTorch's exporter fails too: {}", ours.status().message(), theirs.status().message()));
}

Result<Emitted> emit_model(const EmitRequest& request, Logger& log) {
  const Backend& backend = request.node.backend;
  switch (backend.kind) {
    case BackendKind::kTorchScript:
      return Emitted{.write = [&graph = request.node.graph, lines = backend.source_lines](const Writer& write) {
        return emit::emit_torchscript(graph, {.source_lines = lines}, write);
      }};
    case BackendKind::kOnnx:
      return emit_some_onnx(request, log);
    case BackendKind::kPytorch:
      return emit_with_pytorch(request, backend.name, log);
    case BackendKind::kNone:
    case BackendKind::kGiven:
      break;
  }
  return internal_error(fmt::format("node '{}' has no model to emit", request.node.record->name));
}

/// Somebody waits while gigabytes are written: a line for each.
class WrittenBytes {
 public:
  WrittenBytes(std::string name, Logger& log) : name_(std::move(name)), log_(log) {}
  [[nodiscard]] std::uint64_t size() const { return size_; }
  void add(std::uint64_t bytes) {
    const std::uint64_t before = size_ >> 30U;
    size_ += bytes;
    if (size_ >> 30U != before) log_.say(fmt::format("{}: {} GiB written", name_, size_ >> 30U));
  }

 private:
  std::string name_;
  Logger& log_;
  std::uint64_t size_ = 0;
};

/// The weights beside a model, from where they are, and their checksum.
Status write_external_data(const onnx::Pieces& data, bundle::StagedFolder& folder, bundle::ModelParameters& parameters,
                           Logger& log) {
  if (data.size() == 0) return {};
  const std::string name = *parameters.model_path + ".data";
  Sha256 sum;
  WrittenBytes written(name, log);
  LEAPP_RETURN_IF_ERROR(folder.write(name, [&](const Writer& write) {
    return write_pieces(data, [&](std::span<const std::byte> bytes) {
      sum.update(bytes);
      written.add(bytes.size());
      return write(bytes);
    });
  }));
  LEAPP_ASSIGN_OR_RETURN(const std::string sha256, sum.finish());
  parameters.extra = bundle::external_data_entry(name, sha256);
  return {};
}

/// A model with its checksums. Returns its size.
Result<std::uint64_t> write_model(const Emitted& emitted, bundle::StagedFolder& folder,
                                  bundle::ModelParameters& parameters, Logger& log) {
  Digester digester;
  WrittenBytes written(*parameters.model_path, log);
  LEAPP_RETURN_IF_ERROR(folder.write(*parameters.model_path, [&](const Writer& write) {
    return emitted.write([&](std::span<const std::byte> bytes) {
      digester.update(bytes);
      written.add(bytes.size());
      return write(bytes);
    });
  }));
  LEAPP_ASSIGN_OR_RETURN(const Digests digests, digester.finish());
  parameters.md5sum = digests.md5;
  parameters.sha256sum = digests.sha256;
  return written.size();
}

/// Emits and writes the models and fills in their parameters.
Status write_models(const std::vector<PreparedNode>& nodes, bundle::BundleSpec& spec, bundle::StagedFolder& folder,
                    Logger& log) {
  for (std::size_t i = 0; i < spec.models.size(); ++i) {
    bundle::Model& model = spec.models[i];
    const PreparedNode& node = named(nodes, model.name);
    if (node.backend.kind == BackendKind::kNone || node.backend.kind == BackendKind::kGiven) continue;
    const auto start = Clock::now();
    LEAPP_ASSIGN_OR_RETURN(const Emitted emitted, emit_model({node, model, spec.pipeline.configs}, log));
    model.parameters.backend = node.backend.format_name();
    model.parameters.model_path = model.name + node.backend.suffix();
    model.parameters.opset_version = emitted.opset_version;
    LEAPP_ASSIGN_OR_RETURN(const std::uint64_t size, write_model(emitted, folder, model.parameters, log));
    LEAPP_RETURN_IF_ERROR(write_external_data(emitted.external_data, folder, model.parameters, log));
    log.info(fmt::format("[{}/{}] {} -> {}, {} operators, {:.1f} kB, {:.0f} ms", i + 1, spec.models.size(), model.name,
                         node.backend.format_name(), graph::operator_count(node.graph),
                         static_cast<double>(size + emitted.external_data.size()) / 1e3, milliseconds_since(start)));
  }
  return {};
}

/// The users' own models. Returns those of the bundle's folder that are referenced, not copied.
Result<std::set<std::string>> take_given_models(const std::vector<PreparedNode>& nodes, bundle::BundleSpec& spec,
                                                bundle::StagedFolder& folder, const std::string& target) {
  std::set<std::string> taken;
  for (const bundle::Model& model : spec.models) taken.insert(model.parameters.model_path.value_or(""));
  GivenModels given(std::move(taken), target);
  for (bundle::Model& model : spec.models) {
    const PreparedNode& node = named(nodes, model.name);
    if (node.backend.kind == BackendKind::kGiven) LEAPP_RETURN_IF_ERROR(given.add(node, folder, model.parameters));
  }
  return given.referenced();
}

/// Results without validation.
std::vector<NodeResult> not_validated(const bundle::BundleSpec& spec) {
  std::vector<NodeResult> results;
  for (const bundle::Model& model : spec.models) {
    const char* why = model.parameters.model_path ? "validate=False" : "the node has no model";
    results.push_back({model.name, CheckStatus::kSkipped, 0, static_cast<int>(model.outputs.size()), why, {}});
  }
  return results;
}

Status validate(const ValidationRequest& request, const CompileOptions& options, CompileReport& report) {
  if (!options.validate) {
    report.nodes = not_validated(*request.spec);
    return {};
  }
  const Validation validation = validate_bundle(request);
  report.nodes = results_of(validation);
  if (options.strict) report.validation = verdict(validation, request.recording->log->path());
  if (request.dry_run) return {};
  if (const Status written = write_report(validation, request.recording->folder); !written.ok()) {
    request.recording->log->warning(fmt::format("the report of the validation: {}", written.message()));
  }
  return {};
}

/// Leaks that the user wants to be errors.
Status check_leaks(const capture::CaptureResult& recording) {
  std::string text;
  for (const auto& node : recording.nodes) {
    for (const std::string& refusal : node->refusals) text += (text.empty() ? "" : "\n") + refusal;
  }
  return text.empty() ? Status() : invalid_argument(text);
}

bool is_dry_run(const capture::CaptureResult& recording, const CompileOptions& options) {
  return options.dry_run || recording.options.dry_run;
}

Result<std::vector<PreparedNode>> prepare_nodes(capture::CaptureResult& recording) {
  std::set<std::string> non_traced(recording.options.non_traced.begin(), recording.options.non_traced.end());
  std::vector<PreparedNode> nodes;
  for (const auto& node : recording.nodes) {
    Backend backend;
    // What left torch has no graph to speak of: in a dry run, which makes no model, that is no matter.
    const bool placeholder = recording.options.dry_run && node->left_torch;
    if (non_traced.erase(node->name) == 0 && !placeholder) {
      LEAPP_ASSIGN_OR_RETURN(backend, parse_backend(node->name, node->options));
      for (const std::string& note : backend.notes) recording.log->info(note);
    }
    shape_state(*node);
    LEAPP_ASSIGN_OR_RETURN(PreparedNode prepared, prepare(*node, std::move(backend), *recording.log));
    nodes.push_back(std::move(prepared));
  }
  for (const std::string& name : non_traced) {
    recording.log->warning(fmt::format("start: non_traced names '{}', but no node of that name ran", name));
  }
  return nodes;
}

void warn_of_missing_models(const capture::CaptureResult& recording) {
  const std::vector<std::string>& non_traced = recording.options.non_traced;
  std::vector<std::string> names;
  for (const auto& node : recording.nodes) {
    const bundle::YamlMap& parameters = node->options.backend_params;
    const bool given =
        std::any_of(parameters.begin(), parameters.end(), [](const auto& one) { return one.first == "model_path"; });
    const bool meant = std::find(non_traced.begin(), non_traced.end(), node->name) != non_traced.end();
    if (!node->options.export_with && !given && !meant) names.push_back(node->name);
  }
  if (names.empty()) return;
  recording.log->warning(
      fmt::format("no model was written for {} '{}': pass export_with=\"onnx\" (or \"jit\") to output_tensors or "
                  "method, or name the "
                  "{} in start(non_traced=[...])",
                  names.size() == 1 ? "node" : "nodes", join(names, "', '"), names.size() == 1 ? "node" : "nodes"));
}

/// Everything but the YAML: models and initial values. Returns what the swap of the folders may remove.
Result<std::vector<std::string>> write_artifacts(const std::vector<PreparedNode>& nodes, bundle::BundleSpec& spec,
                                                 bundle::StagedFolder& folder, capture::CaptureResult& recording) {
  LEAPP_RETURN_IF_ERROR(write_models(nodes, spec, folder, *recording.log));
  LEAPP_ASSIGN_OR_RETURN(const std::set<std::string> referenced,
                         take_given_models(nodes, spec, folder, recording.folder));
  if (spec.pipeline.initial_values) {
    LEAPP_ASSIGN_OR_RETURN(const std::vector<std::byte> values, initial_values(nodes));
    LEAPP_RETURN_IF_ERROR(folder.write(*spec.pipeline.initial_values, values));
  }
  std::vector<std::string> replaced = bundle::files_of_bundle(recording.folder, recording.name);
  std::erase_if(replaced, [&](const std::string& file) { return referenced.contains(file); });
  return replaced;
}

/// Says to a user who waits for what.
bundle::FolderLock::Options waiting(capture::CaptureResult& recording) {
  bundle::FolderLock::Options options;
  options.on_wait = [&recording](const std::string& holder) {
    recording.log->warning(
        fmt::format("compile_graph: waits, because {} is writing {}", holder, quote(recording.folder)));
  };
  options.interrupted = [] { return capture::front_end()->interrupted(); };
  return options;
}

/// Returns the right to write there, for what else is written, and for validation: it reads what was written.
Result<std::shared_ptr<bundle::FolderLock>> write_bundle(const std::vector<PreparedNode>& nodes,
                                                         bundle::BundleSpec& spec, capture::CaptureResult& recording,
                                                         bool dry_run) {
  LEAPP_ASSIGN_OR_RETURN(bundle::StagedFolder folder,
                         bundle::StagedFolder::create(recording.folder, waiting(recording)));
  std::vector<std::string> replaced;
  if (dry_run) {
    spec.pipeline.initial_values.reset();  // a dry run writes no such file
  } else {
    LEAPP_ASSIGN_OR_RETURN(replaced, write_artifacts(nodes, spec, folder, recording));
  }
  set_config_version(spec);
  LEAPP_RETURN_IF_ERROR(folder.write(recording.name + ".yaml", bundle::yaml_text(spec)));
  auto right = folder.right();
  LEAPP_RETURN_IF_ERROR(folder.commit(replaced));
  // The bundle matters, its log does not.
  if (const Status opened = recording.log->reopen(recording.folder); !opened.ok()) {
    recording.log->warning(fmt::format("log.txt: {}", opened.message()));
  }
  return right;
}

/// The last line: where it is, and that the console has not shown everything.
void say_where(capture::CaptureResult& recording) {
  const auto yaml = std::filesystem::path(recording.folder) / (recording.name + ".yaml");
  const std::size_t known = recording.log->known_warnings();
  std::error_code none;
  const std::string path = std::filesystem::absolute(yaml, none).string();
  recording.log->say(known == 0
                         ? fmt::format("Bundle: {}", path)
                         : fmt::format("Bundle: {} ({} of its warnings {} shown for an earlier session and {} in "
                                       "log.txt)",
                                       path, known, known == 1 ? "was" : "were", known == 1 ? "is" : "are"));
}

Result<CompileReport> compile_checked(capture::CaptureResult& recording, const CompileOptions& options) {
  Logger& log = *recording.log;
  CompileReport report;
  report.folder = recording.folder;
  if (recording.nodes.empty() && !recording.call_passes.empty()) {
    std::vector<std::string> begun;
    for (const auto& [node, passes] : recording.call_passes) begun.push_back(node);
    return failed_precondition(
        fmt::format("compile_graph: no node was closed; '{}' was opened and never closed with output_tensors",
                    join(begun, "', '")));
  }
  if (recording.nodes.empty()) {
    log.error("compile_graph: no node was captured; annotate at least one with input_tensors and output_tensors");
    return report;
  }
  LEAPP_RETURN_IF_ERROR(check_leaks(recording));
  LEAPP_ASSIGN_OR_RETURN(const std::vector<PreparedNode> nodes, prepare_nodes(recording));
  bundle::BundleSpec spec = describe(nodes, recording);
  spec.pipeline.configs = configs_of(options.graph_configs);
  LEAPP_RETURN_IF_ERROR(add_histories(nodes, recording.resets, spec, log));
  LEAPP_ASSIGN_OR_RETURN(const auto right, write_bundle(nodes, spec, recording, is_dry_run(recording, options)));
  LEAPP_RETURN_IF_ERROR(validate({.nodes = &nodes,
                                  .spec = &spec,
                                  .recording = &recording,
                                  .tolerance = tolerance_of(options),
                                  .dry_run = is_dry_run(recording, options)},
                                 options, report));
  if (!is_dry_run(recording, options)) warn_of_missing_models(recording);
  if (options.visualize) write_pictures({&nodes, &spec, &report.nodes, recording.folder, recording.name}, log);
  log_unlisted_outputs(spec, log);
  log_statistics(spec, log);
  say_where(recording);
  return report;
}

Result<CompileReport> validate_again(capture::CaptureResult& recording, const CompileOptions& options) {
  LEAPP_RETURN_IF_ERROR(check_options(options));
  LEAPP_ASSIGN_OR_RETURN(const std::vector<PreparedNode> nodes, prepare_nodes(recording));
  const auto yaml = std::filesystem::path(recording.folder) / (recording.name + ".yaml");
  LEAPP_ASSIGN_OR_RETURN(const bundle::BundleSpec spec, bundle::read_bundle(yaml));
  CompileReport report;
  report.folder = recording.folder;
  LEAPP_RETURN_IF_ERROR(validate({.nodes = &nodes,
                                  .spec = &spec,
                                  .recording = &recording,
                                  .tolerance = tolerance_of(options),
                                  .verify_checksums = false},
                                 options, report));
  return report;
}

}  // namespace

Result<CompileReport> validate_written(capture::CaptureResult& recording, const CompileOptions& options) {
  const ConsoleAtOnce nothing_waits;
  std::optional<Logger::ConsoleScope> console;
  if (options.verbose) console.emplace(*recording.log, *options.verbose);
  return validate_again(recording, options);
}

Result<CompileReport> compile(capture::CaptureResult& recording, const CompileOptions& options) {
  LEAPP_RETURN_IF_ERROR(check_options(options));
  const ConsoleAtOnce nothing_waits;
  std::optional<Logger::ConsoleScope> console;
  if (options.verbose) console.emplace(*recording.log, *options.verbose);
  auto report = compile_checked(recording, options);
  if (!report.ok()) recording.log->error(report.status().message());
  return report;
}

}  // namespace leapp::exporter
