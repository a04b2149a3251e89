// SPDX-FileCopyrightText: The LEAPP authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "bundle/folder/folder.h"
#include "cli/commands.h"
#include "cli/console/load_flags.h"
#include "fleet/file_names.h"
#include "fleet/triton_repository.h"
#include "inspect/words.h"
#include "runtime/pipeline/budget.h"

namespace leapp::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestConfig = 64 << 20;

struct TritonOptions {
  std::string bundle;
  std::string output;
  bool allow_outside = false;
  bool no_verify = false;
  std::uint64_t memory_limit = runtime::default_memory_limit();
  TritonRequest request;
};

/// Names of models are names of strangers: a folder that holds anything but what an earlier run wrote is somebody's.
Status check_ours(const fs::path& folder) {
  std::error_code error;
  const bool there = fs::exists(fs::symlink_status(folder, error));
  if (!there || fs::is_empty(folder, error)) return {};
  const auto config = bundle::read_file(folder / "config.pbtxt", kLargestConfig);
  const std::string_view words = kTritonFirstWords;
  const bool ours = config.ok() && config.value().size() >= words.size() &&
                    std::memcmp(config.value().data(), words.data(), words.size()) == 0;
  if (ours) return {};
  return invalid_argument(
      fmt::format("{} is there already, and not written by leapp export-triton (its config.pbtxt would begin with "
                  "{}): --name gives the model another name",
                  quote(folder.string()), quote(words)));
}

/// The files of a model beside the folder that they will be in.
Result<bundle::StagedFolder> stage(const fs::path& folder, const TritonRepository& made, const TritonConfig& model) {
  LEAPP_ASSIGN_OR_RETURN(bundle::StagedFolder staged, bundle::StagedFolder::create(folder));
  const std::string prefix = model.name + "/";
  for (const auto& [file, content] : made.files) {
    if (file.starts_with(prefix)) LEAPP_RETURN_IF_ERROR(staged.write(file.substr(prefix.size()), content));
  }
  // An ensemble has no files of its own, but Triton wants a version.
  if (model.backend.empty()) LEAPP_RETURN_IF_ERROR(staged.write("1/README", std::string_view("An ensemble.\n")));
  return staged;
}

/// Each model's folder is replaced whole, once all are written; other models of the repository stay.
Status write_models(const fs::path& repository, const TritonRepository& made) {
  std::error_code error;
  fs::create_directories(repository, error);
  if (error) return io_error(fmt::format("{}: {}", repository.string(), error.message()));
  std::vector<bundle::StagedFolder> all;
  for (const TritonConfig& model : made.models) {
    LEAPP_RETURN_IF_ERROR(check_ours(repository / model.name));
    LEAPP_ASSIGN_OR_RETURN(bundle::StagedFolder staged, stage(repository / model.name, made, model));
    all.push_back(std::move(staged));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const fs::path folder = repository / made.models[i].name;
    std::vector<std::string> before;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (at->is_regular_file(error)) before.push_back(at->path().lexically_relative(folder).generic_string());
    }
    LEAPP_RETURN_IF_ERROR(all[i].commit(before));
  }
  return {};
}

Json model_json(const TritonConfig& model) {
  const auto names = [](const std::vector<TritonTensor>& tensors) {
    std::vector<std::string> list;
    for (const TritonTensor& tensor : tensors) list.push_back(tensor.name);
    return list;
  };
  std::vector<std::string> states;
  for (const TritonState& state : model.states) states.push_back(state.input);
  return {{"name", model.name},
          {"backend", model.backend.empty() ? "ensemble" : model.backend},
          {"inputs", names(model.inputs)},
          {"outputs", names(model.outputs)},
          {"states", states}};
}

void print(const TritonOptions& options, const TritonRepository& made, Context& context) {
  if (context.json) {
    Json models = Json::array();
    for (const TritonConfig& model : made.models) models.push_back(model_json(model));
    context.print_json({{"repository", options.output}, {"models", models}, {"note", made.note}});
    return;
  }
  for (const TritonConfig& model : made.models) {
    const std::string state =
        model.states.empty() ? "" : fmt::format(", {} kept by the server", plural(model.states.size(), "state"));
    context.print(fmt::format("{} ({}): {}, {}{}\n", one_line(model.name),
                              model.backend.empty() ? "ensemble" : model.backend, plural(model.inputs.size(), "input"),
                              plural(model.outputs.size(), "output"), state));
  }
  if (!made.note.empty()) context.print(fmt::format("an ensemble, for {}\n", one_line(made.note)));
  context.print(fmt::format("written to {}; serve it with tritonserver --model-repository={}\n",
                            one_line(options.output), one_line(options.output)));
}

Result<ExitCode> export_triton(TritonOptions options, Context& context) {
  LEAPP_ASSIGN_OR_RETURN(const OpenedBundle opened, open_bundle(options.bundle));
  if (options.request.name.empty()) options.request.name = file_name(opened.name);
  if (options.request.name != file_name(options.request.name)) {
    return invalid_argument(fmt::format("--name: expected a name without slashes, for a folder, found {}",
                                        quote_brief(options.request.name)));
  }
  const bundle::FileOptions files{.allow_outside = options.allow_outside,
                                  .verify_checksums = !options.no_verify,
                                  .memory_limit = options.memory_limit};
  const auto made = make_triton_repository(opened, options.request, files);
  if (!made.ok()) {
    return Status(made.status().code(), fmt::format("{}: {}", opened.yaml.string(), made.status().message()));
  }
  LEAPP_RETURN_IF_ERROR(write_models(options.output, made.value()));
  print(options, made.value(), context);
  return ExitCode::kFine;
}

}  // namespace

void add_export_triton(CLI::App& app, Context& context) {
  const auto options = std::make_shared<TritonOptions>();
  CLI::App& command = add_command(app, context,
                                  {.name = "export-triton",
                                   .summary = "Write a model repository for Triton Inference Server",
                                   .examples = "  leapp export-triton walk --output models\n"
                                               "  leapp export-triton walk --output models --backend python"},
                                  [options, &context] { return export_triton(*options, context); });
  command.add_option("bundle", options->bundle, "The bundle's YAML file or its folder")->required();
  command.add_option("-o,--output", options->output, "The model repository; its other models are kept")->required();
  command.add_option("--name", options->request.name, "Model name (the bundle's name)");
  static const std::map<std::string, TritonBackend> kBackends{{"auto", TritonBackend::kAuto},
                                                              {"python", TritonBackend::kPython}};
  command.add_option("--backend", options->request.backend, "auto: ONNX or an ensemble; python: LEAPP's runtime")
      ->transform(CLI::CheckedTransformer(kBackends).description(""));
  command.add_option("--instances", options->request.instances, "Maximum number of concurrent sequences (4)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--idle", options->request.idle_seconds, "Seconds until an idle sequence ends (60)")
      ->check(CLI::PositiveNumber);
  command.add_flag("--allow-outside", options->allow_outside, "Allow models outside the bundle's folder");
  command.add_flag("--no-verify", options->no_verify, "Skip checksum verification");
  add_memory_limit(command, options->memory_limit);
}

}  // namespace leapp::cli
